//! The history that is here, as it is sent.

use super::packed::{Packed, pack};
use super::segment::Segment;
use super::sha::Sha;
use super::{RemoteError, RemoteResult};
use crate::part::Part;
use crate::stamp::born;
use crate::{HistoryView, SessionPaths, StoreError};
use session_core::{Limits, Timestamp};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How much of the end of a history tells it from another one.
const END: u64 = 64 << 10;

/// A history as it stood when it was opened.
#[derive(Debug)]
pub(super) struct Local {
    view: HistoryView,
    /// What is sent: the history itself, or a redacted copy.
    sent: Option<File>,
    /// How much of it is whole lines.
    bytes: u64,
}

impl Local {
    pub(super) fn open(paths: &SessionPaths, limits: Limits) -> RemoteResult<Self> {
        let view = HistoryView::open(paths, limits)?;
        let bytes = view.whole_bytes()?;
        Ok(Local { view, sent: None, bytes })
    }

    /// The same, all of it, also a last line that is not whole: to see whether something continues it.
    pub(super) fn with_torn_end(self) -> Self {
        let bytes = self.view.len_bytes();
        Local { bytes, ..self }
    }

    /// The same history as a redactor gives it.
    pub(super) fn sent_as(self, redacted: File, bytes: u64) -> Self {
        Local { sent: Some(redacted), bytes, ..self }
    }

    pub(super) fn view(&self) -> &HistoryView {
        &self.view
    }

    pub(super) fn path(&self) -> &Path {
        self.view.path()
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Device and inode; 0 where there is no history.
    pub(super) fn identity(&self) -> (u64, u64) {
        self.view.identity().unwrap_or_default()
    }

    /// When the file was made, in nanoseconds since 1970. `None` where the file system does not say; and where a redactor
    /// stands between: what it made of the same file before may not be what it makes of it now.
    pub(super) fn made(&self) -> Option<u128> {
        let file = self.view.file().filter(|_| self.sent.is_none())?;
        born(&file.metadata().ok()?)
    }

    pub(super) fn modified(&self) -> Option<Timestamp> {
        self.view.modified()
    }

    fn part(&self, range: Range<u64>) -> Box<dyn Read + '_> {
        match self.sent.as_ref().or(self.view.file()) {
            Some(file) => Box::new(Part { file, at: range.start, upto: range.end }),
            None => Box::new(io::empty()),
        }
    }

    /// What the last bytes before a place are.
    pub(super) fn end_before(&self, upto: u64) -> io::Result<Sha> {
        Sha::of_reader(self.part(upto.saturating_sub(END)..upto))
    }

    /// Whether it holds a segment's bytes at their place.
    pub(super) fn has(&self, segment: &Segment) -> RemoteResult<bool> {
        if segment.end() > self.bytes {
            return Ok(false);
        }
        let sha = Sha::of_reader(self.part(segment.offset..segment.end()));
        Ok(sha.map_err(StoreError::read(self.path()))? == segment.sha)
    }

    /// Whether these bytes stand at a place.
    pub(super) fn has_bytes(&self, offset: u64, bytes: &[u8]) -> RemoteResult<bool> {
        let is = Sha::of_reader(self.part(offset..offset + bytes.len() as u64));
        Ok(is.map_err(StoreError::read(self.path()))? == Sha::of(bytes))
    }

    /// A part of it, ready to be sent.
    pub(super) fn pack(&self, range: &Range<u64>) -> RemoteResult<(Segment, Packed)> {
        let packed = pack(self.part(range.clone())).map_err(StoreError::read(self.path()))?;
        if packed.bytes != range.end - range.start {
            // It was cut, which nobody should do.
            return Err(RemoteError::KeepsChanging { path: PathBuf::from(self.path()) });
        }
        Ok((Segment { offset: range.start, bytes: packed.bytes, sha: packed.sha }, packed))
    }
}
