//! Writing packs, from many threads at once.
//!
//! An object is compressed by its thread, gets its place under a short lock, and is written there by `pwrite`. The
//! pack has a temporary name until it is whole and indexed; nothing reads it before.

use super::deflate::{Compression, deflate};
use super::entry::push_header;
use super::index::{IndexEntry, encode};
use crate::error::reading;
use crate::oid::Kind;
use crate::{Error, Oid};
use rand::RngExt as _;
use session_disk::{DiskError, Durability};
use sha1::{Digest as _, Sha1};
use std::cell::RefCell;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const HEADER_LEN: u64 = 12;

struct OpenPack {
    path: PathBuf,
    file: File,
    entries: Mutex<Vec<IndexEntry>>,
}

struct Current {
    pack: Option<Arc<OpenPack>>,
    len: u64,
    full: Vec<(Arc<OpenPack>, u64)>,
}

/// A pack that is on the disk under its final name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finished {
    /// `pack-<checksum>`, without an ending.
    pub(crate) name: String,
}

/// Packs in the making. Dropping it without [`finish`](PackWriter::finish) removes what was written.
pub(crate) struct PackWriter {
    dir: PathBuf,
    limit: u64,
    durability: Durability,
    current: Mutex<Current>,
    written: AtomicU64,
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Buffers beyond this are given back: one large file must not stay in memory in every thread.
const KEEP_BUFFER: usize = 1 << 20;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PackWriter {
    pub(crate) fn new(dir: &Path, limit: u64, durability: Durability) -> Self {
        let current = Current { pack: None, len: 0, full: Vec::new() };
        PackWriter { dir: dir.to_owned(), limit, durability, current: Mutex::new(current), written: AtomicU64::new(0) }
    }

    /// Bytes of objects written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Adds an object. The caller sees to it that no object is added twice.
    pub(crate) fn add(&self, kind: Kind, oid: Oid, content: &[u8], compression: Compression) -> Result<(), Error> {
        BUFFER.with_borrow_mut(|buffer| {
            buffer.clear();
            push_header(buffer, kind, content.len() as u64);
            deflate(compression, content, buffer);
            let result = self.add_raw(oid, buffer);
            if buffer.capacity() > KEEP_BUFFER {
                *buffer = Vec::new();
            }
            result
        })
    }

    /// Adds an object whose header and compressed bytes stand in another pack.
    pub(crate) fn add_raw(&self, oid: Oid, raw: &[u8]) -> Result<(), Error> {
        let (pack, offset) = self.place(raw.len() as u64)?;
        session_disk::write_at(&pack.file, &pack.path, offset, raw)?;
        self.written.fetch_add(raw.len() as u64, Ordering::Relaxed);
        locked(&pack.entries).push(IndexEntry { oid, crc: crc32fast::hash(raw), offset });
        Ok(())
    }

    fn place(&self, len: u64) -> Result<(Arc<OpenPack>, u64), Error> {
        let mut current = locked(&self.current);
        if current.len > self.limit
            && let Some(full) = current.pack.take()
        {
            let len = current.len;
            current.full.push((full, len));
        }
        let pack = match &current.pack {
            Some(pack) => Arc::clone(pack),
            None => {
                let random: u64 = rand::rng().random();
                let path = self.dir.join(format!("tmp_pack_{random:016x}"));
                let file = session_disk::create_new(&path)?;
                let pack = Arc::new(OpenPack { path, file, entries: Mutex::new(Vec::new()) });
                current.len = HEADER_LEN;
                current.pack = Some(Arc::clone(&pack));
                pack
            }
        };
        let offset = current.len;
        current.len += len;
        Ok((pack, offset))
    }

    /// Completes the packs: header, checksum, sync, index, sync, final names, sync of the directory. On disk when it
    /// returns: every pack with its index under its final name; after an error none that was not whole.
    pub(crate) fn finish(self) -> Result<Vec<Finished>, Error> {
        let mut packs = {
            let mut current = locked(&self.current);
            let len = current.len;
            let mut packs = std::mem::take(&mut current.full);
            if let Some(pack) = &current.pack {
                packs.push((Arc::clone(pack), len));
            }
            // The guard against left-overs needs to find them until they have their names.
            current.full = packs.clone();
            current.pack = None;
            packs
        };
        let mut finished = Vec::new();
        for (pack, len) in &mut packs {
            finished.push(self.complete(pack, *len)?);
        }
        if !finished.is_empty() {
            self.durability.sync_dir(&self.dir)?;
        }
        locked(&self.current).full.clear();
        Ok(finished)
    }

    fn complete(&self, pack: &OpenPack, len: u64) -> Result<Finished, Error> {
        let mut entries = locked(&pack.entries);
        let count = u32::try_from(entries.len()).expect("a pack is split long before 2^32 objects");
        let mut header = *b"PACK\0\0\0\x02\0\0\0\0";
        header[8..].copy_from_slice(&count.to_be_bytes());
        session_disk::write_at(&pack.file, &pack.path, 0, &header)?;
        let checksum = sha1_of_file(&pack.path)?;
        session_disk::write_at(&pack.file, &pack.path, len, &checksum)?;
        self.durability.sync_data(&pack.file, &pack.path)?;
        let name = format!("pack-{}", Oid::from_bytes(checksum));
        let index = pack.path.with_extension("idx");
        let made = self.write_index(&index, &encode(&mut entries, checksum));
        let named = made.and_then(|()| {
            session_disk::rename(&pack.path, &self.dir.join(format!("{name}.pack")))?;
            session_disk::rename(&index, &self.dir.join(format!("{name}.idx")))
        });
        if let Err(error) = named {
            // The first error is the one to tell; what stays behind has a temporary name and is swept.
            drop(session_disk::remove_file(&index));
            return Err(error.into());
        }
        Ok(Finished { name })
    }

    fn write_index(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        let file = session_disk::create_new(path)?;
        session_disk::write(&file, path, bytes)?;
        self.durability.sync_data(&file, path)
    }
}

impl Drop for PackWriter {
    fn drop(&mut self) {
        let current = self.current.get_mut().unwrap_or_else(PoisonError::into_inner);
        let full = current.full.drain(..).map(|(pack, _)| pack);
        for pack in full.chain(current.pack.take()) {
            // Not found means that it has its final name; anything else is swept at the next open.
            drop(session_disk::remove_file(&pack.path));
        }
    }
}

/// The SHA-1 of a whole file, read in pieces.
fn sha1_of_file(path: &Path) -> Result<[u8; 20], Error> {
    let mut file = File::open(path).map_err(reading(path))?;
    let mut sha = Sha1::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer).map_err(reading(path))? {
            0 => return Ok(sha.finalize().into()),
            n => sha.update(&buffer[..n]),
        }
    }
}
