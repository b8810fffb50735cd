//! Where a session comes from, and where it goes on.

use crate::candidate::{Node, candidate};
use crate::{Result, Store, meta};
use session_core::{Meta, SessionName};
use std::collections::HashSet;

/// The sessions that one comes from, and those that go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lineage {
    /// Parents and their parents, the oldest first.
    pub ancestors: Vec<Relative>,
    /// The session that was asked about.
    pub session: Relative,
    /// The sessions that go on with it, one after the other.
    pub successors: Vec<Relative>,
    /// Links that lead back to a session that came before: where a chain was given up.
    pub loops: Vec<LinkLoop>,
}

/// A session in a lineage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relative {
    /// Its name, as the link says it.
    pub name: String,
    /// Whether there is such a session.
    pub exists: bool,
    /// How it came from the one before it.
    pub origin: Origin,
    /// Its title, if it has one.
    pub title: Option<String>,
}

/// How a session came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It names no parent.
    New,
    /// It was forked: its parent goes on by itself.
    Fork,
    /// It was compacted: it goes on with its parent.
    Compaction,
}

impl Origin {
    /// A stable name, for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::New => "new",
            Origin::Fork => "fork",
            Origin::Compaction => "compaction",
        }
    }
}

/// A link that leads back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkLoop {
    /// The session that has the link.
    pub from: String,
    /// The session that it leads back to.
    pub to: String,
}

/// Which link is followed.
#[derive(Clone, Copy)]
enum Link {
    Parent,
    Successor,
}

impl Link {
    fn of(self, meta: &Meta) -> &str {
        match self {
            Link::Parent => &meta.parent,
            Link::Successor => &meta.succeeded_by,
        }
    }
}

impl Store {
    /// The chain that a session belongs to: its parents, and its successors. Nothing is opened, created or written; chains
    /// of any length are followed, and one that leads back is told.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`]; what keeps metadata from being read. Bad content is no error.
    pub fn lineage(&self, name: &SessionName) -> Result<Lineage> {
        let own = self.meta_in_chain(name.as_str())?.ok_or_else(|| self.not_found(name))?;
        let mut loops = Vec::new();
        let up = self.follow(name, &own, Link::Parent, &mut loops)?;
        let down = self.follow(name, &own, Link::Successor, &mut loops)?;
        let mut chain: Vec<(String, Option<Meta>)> = up.into_iter().rev().collect();
        let at = chain.len();
        chain.push((name.to_string(), Some(own)));
        chain.extend(down);
        let mut all: Vec<Relative> = Vec::with_capacity(chain.len());
        for (index, (name, meta)) in chain.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| chain.get(before));
            all.push(relative(name, meta.as_ref(), before));
        }
        let successors = all.split_off(at + 1);
        let session = all.pop().unwrap_or_else(|| unreachable!("it was pushed above"));
        Ok(Lineage { ancestors: all, session, successors, loops })
    }

    /// The sessions that a kind of link leads to, one after the other, each with its metadata if it exists.
    fn follow(
        &self,
        name: &SessionName,
        own: &Meta,
        link: Link,
        loops: &mut Vec<LinkLoop>,
    ) -> Result<Vec<(String, Option<Meta>)>> {
        let mut seen = HashSet::from([name.to_string()]);
        let mut found: Vec<(String, Option<Meta>)> = Vec::new();
        let mut next = link.of(own).to_owned();
        while !next.is_empty() {
            if !seen.insert(next.clone()) {
                let from = found.last().map_or_else(|| name.to_string(), |(name, _)| name.clone());
                loops.push(LinkLoop { from, to: next });
                break;
            }
            let meta = self.meta_in_chain(&next)?;
            let after = meta.as_ref().map(|meta| link.of(meta).to_owned()).unwrap_or_default();
            found.push((next, meta));
            next = after;
        }
        Ok(found)
    }

    /// The metadata of the session that a link names; `None` where there is none, and where no session can have the name.
    fn meta_in_chain(&self, name: &str) -> Result<Option<Meta>> {
        let Ok(name) = SessionName::new(name) else { return Ok(None) };
        let Some(found) = candidate(self.base_dir(), &name)? else { return Ok(None) };
        match found.paths(self.base_dir()) {
            Some(paths) => Ok(Some(meta::read(&paths, name.as_str(), self.options().limits)?.meta)),
            None if found.directory == Some(Node::Link) => Ok(None),
            // A flat file has no metadata.
            None => Ok(Some(Meta::default())),
        }
    }
}

fn relative(name: &str, meta: Option<&Meta>, before: Option<&(String, Option<Meta>)>) -> Relative {
    let parent = meta.map(|meta| meta.parent.as_str()).unwrap_or_default();
    let goes_on = before.is_some_and(|(_, before)| before.as_ref().is_some_and(|before| before.succeeded_by == name));
    let origin = match (parent.is_empty(), goes_on) {
        (_, true) => Origin::Compaction,
        (false, false) => Origin::Fork,
        (true, false) => Origin::New,
    };
    let title = meta.map(|meta| meta.title.clone()).filter(|title| !title.is_empty());
    Relative { name: name.to_owned(), exists: meta.is_some(), origin, title }
}
