//! The walk over the workspace: every name looked at once, only what changed read.
//!
//! One job per directory, forked and joined, so that a directory's tree is made right after its contents. A directory in
//! which nothing changed is told by its number in the cache and nothing else.

mod dir;
mod getdents;
mod leaf;
mod listing;
mod notes;
mod rebuild;

pub(crate) use leaf::store_leaf;
pub(crate) use notes::{Notes, notes};

use crate::cache::{self, Cache, Node};
use crate::cancel::Cancel;
use crate::options::Options;
use crate::root::Root;
use crate::rules::Rules;
use crate::sink::ObjectSink;
use crate::skipped::SkipReason;
use crate::{Error, Oid};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Directories deeper than this are reported and not entered: trees are read and edited by recursion.
const MAX_DEPTH: usize = 512;

/// A directory that is never entered, known by its place and not only by its name.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    name: Vec<u8>,
    dev: u64,
    ino: u64,
}

impl Closed {
    /// The directory at a path; `None` where there is none.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::fs::MetadataExt as _;
        let path = path.canonicalize().ok()?;
        let meta = path.metadata().ok()?;
        Some(Closed { name: path.file_name()?.as_bytes().to_vec(), dev: meta.dev(), ino: meta.ino() })
    }
}

/// Everything that a walk needs.
pub(crate) struct Walk<'a> {
    pub(crate) root: &'a Root,
    pub(crate) cache: Option<&'a Cache>,
    pub(crate) sink: &'a ObjectSink<'a>,
    pub(crate) options: &'a Options,
    pub(crate) cancel: &'a Cancel,
    pub(crate) closed: &'a [Closed],
    /// When the walk began, by the system's clock.
    pub(crate) start_ns: i64,
    /// With one, all is done by the caller's own.
    threads: usize,
    files: AtomicU64,
    bytes: AtomicU64,
}

/// What a walk found.
pub(crate) struct Walked {
    pub(crate) root: Node,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        root: &'a Root,
        cache: Option<&'a Cache>,
        sink: &'a ObjectSink<'a>,
        options: &'a Options,
        cancel: &'a Cancel,
        closed: &'a [Closed],
    ) -> Self {
        Walk {
            root,
            cache,
            sink,
            options,
            cancel,
            closed,
            start_ns: crate::clock::now_ns(),
            threads: if cache.is_none_or(Cache::is_large) { options.thread_count() } else { 1 },
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Walks the workspace. With more than one thread they are started here and have ended when it returns.
    pub(crate) fn run(&self, rules: &Arc<Rules>) -> Result<Walked, Error> {
        let found = if self.threads > 1 {
            let threads =
                |source: rayon::ThreadPoolBuildError| Error::Threads { source: std::io::Error::other(source) };
            rayon::ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .stack_size(16 << 20)
                .thread_name(|n| format!("checkpoint-{n}"))
                .build_scoped(rayon::ThreadBuilder::run, |pool| pool.install(|| self.top(rules)))
                .map_err(threads)?
        } else {
            self.top(rules)
        };
        let (files, bytes) = (self.files.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        Ok(Walked { root: found?, files, bytes })
    }

    fn top(&self, rules: &Arc<Rules>) -> Result<Node, Error> {
        let unreadable = |source| Error::Read { path: self.root.path().to_owned(), source };
        match self.dir(b"", 0, self.cache.map(Cache::root), rules)? {
            dir::Found::Node(node) => Ok(node),
            dir::Found::Gone => Err(unreadable(std::io::ErrorKind::NotFound.into())),
            dir::Found::Skip(SkipReason::Unreadable) => Err(unreadable(std::io::ErrorKind::PermissionDenied.into())),
            dir::Found::Skip(_) => Err(unreadable(std::io::ErrorKind::Unsupported.into())),
        }
    }

    fn map<T: Send, R: Send>(
        &self,
        jobs: Vec<T>,
        run: impl Fn(T) -> Result<R, Error> + Sync + Send,
    ) -> Result<Vec<R>, Error> {
        if self.threads > 1 && jobs.len() > 1 {
            jobs.into_par_iter().map(run).collect()
        } else {
            jobs.into_iter().map(run).collect()
        }
    }

    fn count(&self, files: u64, bytes: u64) -> Result<(), Error> {
        let files = self.files.fetch_add(files, Ordering::Relaxed) + files;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let (max_files, max_bytes) = (self.options.max_files, self.options.max_total_bytes);
        if files > max_files || bytes > max_bytes {
            let path = self.root.path().to_owned();
            return Err(Error::TooBroad { path, files, bytes, max_files, max_bytes });
        }
        Ok(())
    }

    fn flags_of(&self, node: &Node) -> u8 {
        match (node, self.cache) {
            (Node::New(dir), _) => dir.flags,
            (Node::Same(n), Some(cache)) => cache.dir(*n).flags,
            (Node::Same(_), None) => unreachable!("without a cache nothing is the same"),
        }
    }

    /// The tree of a node; `None` where nothing in it is stored.
    pub(crate) fn tree_of(&self, node: &Node) -> Option<Oid> {
        match (node, self.cache) {
            (Node::New(dir), _) => dir.tree,
            (Node::Same(n), Some(cache)) => cache.dir(*n).tree,
            (Node::Same(_), None) => unreachable!("without a cache nothing is the same"),
        }
    }
}

/// The flags of a directory that follow from one of its entries' children.
fn inherited(child: u8) -> u8 {
    child & (cache::DIR_NOTES | cache::DIR_EMPTY)
}
