//! Reading a history as it stands at one moment.

use crate::transcript::{Transcript, Window};
use crate::{Result, SessionPaths, StoreError};
use session_core::{
    Conversation, Count, LastReport, Limits, LiveEvents, Scan, ScanBackwards, count, last_messages, last_model,
    last_report,
};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The buffer of a reader that goes through the whole file.
const BUFFER: usize = 256 << 10;

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
    transcript: Option<Transcript>,
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
        let transcript = Transcript::open(&path)?;
        Ok(HistoryView { path, transcript, limits })
    }

    /// What was opened already: a history or a flat file, or nothing, whose path would be `path`.
    pub(crate) fn of(transcript: Option<Transcript>, path: PathBuf, limits: Limits) -> Self {
        let path = transcript.as_ref().map_or(path, |transcript| transcript.path().to_owned());
        HistoryView { path, transcript, limits }
    }

    /// The file: the history, or the flat file of a session that has not been migrated.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a history at all.
    pub fn exists(&self) -> bool {
        self.transcript.is_some()
    }

    /// How many bytes are read.
    pub fn len_bytes(&self) -> u64 {
        self.transcript.as_ref().map_or(0, Transcript::len)
    }

    /// The live conversation.
    ///
    /// # Errors
    /// [`StoreError::Read`]; so in all that follows.
    #[doc(alias = "Load")]
    pub fn load(&self) -> Result<Conversation> {
        self.told(Conversation::read(BufReader::with_capacity(BUFFER, self.reader()), self.limits))
    }

    /// How many messages are live.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn count(&self) -> Result<Count> {
        self.told(count(BufReader::with_capacity(BUFFER, self.reader()), self.limits))
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
        HistoryReader(self.transcript.as_ref().map(Transcript::window))
    }

    fn told<T>(&self, read: io::Result<T>) -> Result<T> {
        read.map_err(StoreError::read(&self.path))
    }
}

/// The bytes of a [`HistoryView`]. Each one has a place of its own.
#[derive(Debug)]
pub struct HistoryReader<'a>(Option<Window<'a>>);

impl Read for HistoryReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |window| window.read(buffer))
    }
}

impl Seek for HistoryReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.as_mut().map_or(Ok(0), |window| window.seek(to))
    }
}
