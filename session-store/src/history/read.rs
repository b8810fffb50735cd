//! Reading a history as it stands at one moment.

use super::tail::last_line;
use crate::part::Part;
use crate::{Result, SessionPaths, StoreError};
use chrono::DateTime;
use session_core::{
    Conversation, Count, HistoryPart, LastReport, Limits, LiveEvents, Scan, ScanBackwards, Timeline, Timestamp,
    last_messages, last_model, last_report,
};
use session_disk::{is_absent, open_regular};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// How long a reader gives an unterminated last line to be finished.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The buffer of a reader that goes through the whole file.
pub(crate) const BUFFER: usize = 256 << 10;

/// A history as it stood when it was opened: what is appended later is not seen.
///
/// Reading takes no lock, writes nothing, and never fails because of content.
///
/// An unterminated last line may be a write in flight, so opening looks at it again after 20 ms. If the file has changed
/// its length by then, the line is left out; if not, it belongs to what is read, and is a defect.
#[derive(Debug)]
pub struct HistoryView {
    path: PathBuf,
    /// `None`: there is no history, which is an empty one.
    file: Option<File>,
    len: u64,
    limits: Limits,
}

impl HistoryView {
    /// Opens the history of the session at `paths`. One that is missing is empty.
    ///
    /// # Errors
    /// [`StoreError::Read`] where it cannot be read, or is no regular file: a directory, a link, a FIFO. None of them
    /// blocks.
    pub fn open(paths: &SessionPaths, limits: Limits) -> Result<Self> {
        let path = paths.history();
        let missing = HistoryView { path, file: None, len: 0, limits };
        Ok(HistoryView::at(&missing.path, limits)?.unwrap_or(missing))
    }

    /// Opens a history, or a flat file from before sessions were directories. `None` where there is none.
    pub(crate) fn at(path: &Path, limits: Limits) -> Result<Option<Self>> {
        let file = match open_regular(path) {
            Ok((file, _)) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(StoreError::read(path)(error)),
        };
        let len = settled_len(&file).map_err(StoreError::read(path))?;
        Ok(Some(HistoryView { path: path.to_owned(), file: Some(file), len, limits }))
    }

    /// The open file. `None`: there is no history.
    pub(crate) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// When the file was last written, in UTC. `None` where there is none, and for a time that no calendar has.
    pub(crate) fn modified(&self) -> Option<Timestamp> {
        let metadata = self.file.as_ref()?.metadata().ok()?;
        let nanos = u32::try_from(metadata.mtime_nsec()).ok()?;
        Some(DateTime::from_timestamp(metadata.mtime(), nanos)?.fixed_offset())
    }

    /// The file: the history, or the flat file of a session that has not been migrated.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a history at all.
    pub fn exists(&self) -> bool {
        self.file.is_some()
    }

    /// Which file it is, as device and inode: one that was put in its place has others. `None`: there is no history.
    pub fn identity(&self) -> Option<(u64, u64)> {
        let metadata = self.file.as_ref()?.metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    }

    /// How many of the bytes belong to lines that a newline ends.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn whole_bytes(&self) -> Result<u64> {
        self.told(self.file.as_ref().map_or(Ok(0), |file| last_line(file, self.len)))
    }

    /// How many bytes are read.
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// The live conversation. A large history is read by several threads; they have ended when this returns.
    ///
    /// # Errors
    /// [`StoreError::Read`]; so in all that follows.
    #[doc(alias = "Load")]
    pub fn load(&self) -> Result<Conversation> {
        Ok(self.in_parts(|part, limits| HistoryPart::load(part, limits))?.into())
    }

    /// How many messages are live. A large history is read by several threads; they have ended when this returns.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn count(&self) -> Result<Count> {
        Ok(self.in_parts(|part, limits| HistoryPart::count(part, limits))?.into())
    }

    /// Which events are live.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn live_events(&self) -> Result<LiveEvents> {
        self.told(LiveEvents::read(BufReader::with_capacity(BUFFER, self.reader()), self.limits))
    }

    /// The last live messages, at most `n`, without reading what is before them.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn last_messages(&self, n: usize) -> Result<Conversation> {
        self.backwards().and_then(|items| self.told(last_messages(items, n)))
    }

    /// The model of the last settings, without reading what is before them.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    #[doc(alias = "LastSettingsModel")]
    pub fn last_model(&self) -> Result<Option<String>> {
        self.backwards().and_then(|items| self.told(last_model(items)))
    }

    /// The last report, without reading what is before it.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    #[doc(alias = "LastReport")]
    pub fn last_report(&self) -> Result<Option<LastReport>> {
        self.backwards().and_then(|items| self.told(last_report(items)))
    }

    /// The turns, and what is needed to go back to a point.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn timeline(&self) -> Result<Timeline> {
        self.told(Timeline::read(BufReader::with_capacity(BUFFER, self.reader()), self.limits))
    }

    /// The events and defects, first to last.
    pub fn forwards(&self) -> Scan<BufReader<HistoryReader<'_>>> {
        Scan::with_limits(BufReader::with_capacity(BUFFER, self.reader()), self.limits)
    }

    /// The events and defects, last to first.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn backwards(&self) -> Result<ScanBackwards<HistoryReader<'_>>> {
        self.told(ScanBackwards::with_limits(self.reader(), self.limits))
    }

    /// The bytes.
    pub fn reader(&self) -> HistoryReader<'_> {
        self.reader_of(0, self.len)
    }

    /// The bytes from one place up to another.
    pub(super) fn reader_of(&self, from: u64, upto: u64) -> HistoryReader<'_> {
        HistoryReader { file: self.file.as_ref(), at: from, len: upto }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// The bytes of an event, by its place and length.
    pub(crate) fn line(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut reader = self.reader();
        let read = reader.seek(SeekFrom::Start(offset)).map(|_| reader.take(len));
        self.told(read.and_then(|mut reader| reader.read_to_end(&mut line)))?;
        Ok(line)
    }

    pub(crate) fn told<T>(&self, read: io::Result<T>) -> Result<T> {
        read.map_err(StoreError::read(&self.path))
    }
}

/// How many bytes are there for good: an unterminated last line may be somebody's write in flight, and is given a moment.
pub(crate) fn settled_len(file: &File) -> io::Result<u64> {
    let len = file.metadata()?.len();
    if last_line(file, len)? == len {
        return Ok(len);
    }
    thread::sleep(LOOK_AGAIN);
    let now = file.metadata()?.len();
    if now == len { Ok(len) } else { last_line(file, now) }
}

/// The bytes of a [`HistoryView`]. Each one has a place of its own.
#[derive(Debug)]
pub struct HistoryReader<'a> {
    file: Option<&'a File>,
    at: u64,
    len: u64,
}

impl Read for HistoryReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(file) = self.file else { return Ok(0) };
        let mut part = Part { file, at: self.at, upto: self.len };
        let read = part.read(buffer)?;
        self.at = part.at;
        Ok(read)
    }
}

impl Seek for HistoryReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
