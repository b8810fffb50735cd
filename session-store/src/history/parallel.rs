//! Reading a large history by several threads.

use super::read::{BUFFER, HistoryReader, HistoryView};
use crate::Result;
use memchr::memchr;
use session_core::{HistoryPart, Limits};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// About how many bytes are one part. A history of less than two is read by one thread: below that, starting another
/// costs more than it saves.
const PART_BYTES: u64 = 4 << 20;
/// More threads wait for the memory, and not for each other.
const MOST_THREADS: usize = 8;

/// How a part is read.
pub(super) type ReadPart<T> = fn(BufReader<HistoryReader<'_>>, Limits) -> io::Result<HistoryPart<T>>;

impl HistoryView {
    /// The whole history, each part of it read by `read`. The threads that helped have ended when it returns.
    pub(super) fn in_parts<T: Send>(&self, read: ReadPart<T>) -> Result<HistoryPart<T>> {
        self.told(self.range_in_parts(0..self.len_bytes(), read))
    }

    /// The count of the lines in a range that begins and ends where lines do, or ends with the history.
    pub(crate) fn count_range(&self, range: Range<u64>) -> io::Result<HistoryPart<()>> {
        self.range_in_parts(range, |part, limits| HistoryPart::count(part, limits))
    }

    fn range_in_parts<T: Send>(&self, range: Range<u64>, read: ReadPart<T>) -> io::Result<HistoryPart<T>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        self.by_threads(range, threads, PART_BYTES, read)
    }

    fn by_threads<T: Send>(
        &self,
        Range { start, end }: Range<u64>,
        threads: usize,
        part_bytes: u64,
        read: ReadPart<T>,
    ) -> io::Result<HistoryPart<T>> {
        if threads < 2 || end.saturating_sub(start) < 2 * part_bytes {
            return read(self.buffered(start, end), self.limits());
        }
        let cuts = Mutex::new(Cuts { view: self, part_bytes, at: start, end, number: 0 });
        let next = || cuts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let (sender, parts) = mpsc::channel();
        thread::scope(|scope| {
            let mut started = 0;
            for _ in 0..threads {
                let (next, sender) = (&next, sender.clone());
                let work = move || {
                    while let Some((number, from, upto)) = next() {
                        let part = upto.and_then(|upto| read(self.buffered(from, upto), self.limits()));
                        // Nobody waits for it any more once another part has failed.
                        if sender.send((number, part)).is_err() {
                            break;
                        }
                    }
                };
                started += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
            }
            drop(sender);
            // Where the system gives no thread, this one does it all.
            if started == 0 { read(self.buffered(start, end), self.limits()) } else { join(parts) }
        })
    }

    fn buffered(&self, from: u64, upto: u64) -> BufReader<HistoryReader<'_>> {
        BufReader::with_capacity(BUFFER, self.reader_of(from, upto))
    }
}

/// Where a range of the history is cut: behind the first newline that completes so many bytes.
struct Cuts<'a> {
    view: &'a HistoryView,
    part_bytes: u64,
    at: u64,
    end: u64,
    number: usize,
}

impl Iterator for Cuts<'_> {
    /// The part's number, where it begins, and where it ends.
    type Item = (usize, u64, io::Result<u64>);

    fn next(&mut self) -> Option<Self::Item> {
        let (number, from, end) = (self.number, self.at, self.end);
        if from >= end {
            return None;
        }
        let upto = self.behind_newline((from + self.part_bytes - 1).min(end)).map(|upto| upto.min(end));
        (self.number, self.at) = (number + 1, *upto.as_ref().unwrap_or(&end));
        Some((number, from, upto))
    }
}

impl Cuts<'_> {
    fn behind_newline(&self, mut at: u64) -> io::Result<u64> {
        let mut bytes = BufReader::with_capacity(BUFFER, self.view.reader());
        bytes.seek(SeekFrom::Start(at))?;
        loop {
            let block = bytes.fill_buf()?;
            let len = block.len();
            match memchr(b'\n', block) {
                Some(newline) => return Ok(at + newline as u64 + 1),
                None if len == 0 => return Ok(self.view.len_bytes()),
                None => bytes.consume(len),
            }
            at += len as u64;
        }
    }
}

/// Joins the parts in their order, each as soon as those before it are there.
fn join<T>(parts: mpsc::Receiver<(usize, io::Result<HistoryPart<T>>)>) -> io::Result<HistoryPart<T>> {
    let mut whole: Option<HistoryPart<T>> = None;
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    for (number, part) in parts {
        waiting.insert(number, part?);
        while let Some(part) = waiting.remove(&next) {
            next += 1;
            whole = Some(match whole {
                None => part,
                Some(whole) => whole.then(part),
            });
        }
    }
    Ok(whole.expect("a history that is cut has a first part"))
}

#[cfg(test)]
mod tests {
    use super::{HistoryPart, HistoryView, ReadPart};
    use nix::errno::Errno;
    use session_core::{Conversation, Counter, Limits};
    use session_testing::{Call, Histories, Shape, refusing};
    use std::fs;

    #[test]
    fn by_any_number_of_threads_and_cut_anywhere_a_history_gives_the_same() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("history.jsonl");
        let mut history = Histories::of_bytes(9, Shape::Small, 60_000);
        // A line that fills several parts, one that is no event, and a last one without its newline.
        let long = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(9_000));
        history.splice(0..0, long.bytes());
        history.extend(b"not an event\n{\"kind\":\"rollback\",\"dropped\":2}\n{\"role\":\"user\"");
        fs::write(&path, &history).expect("the scratch directory can be written");
        let view = HistoryView::at(&path, Limits::default()).expect("it can be read").expect("it is there");
        let wanted = Conversation::read(&history[..], Limits::default()).expect("memory");
        let count = session_core::count(&history[..], Limits::default()).expect("memory");
        let len = view.len_bytes();
        let half = history.len() / 2;
        let middle = (half + memchr::memchr(b'\n', &history[half..]).expect("there are lines") + 1) as u64;
        assert!(wanted.uncertain && wanted.skipped == 2 && wanted.messages.len() > 100);
        for threads in [1, 2, 3, 8] {
            for part_bytes in [1, 7, 1_000, 4_096, 29_999, 1 << 20] {
                let part = view
                    .by_threads(0..len, threads, part_bytes, |part, limits| HistoryPart::load(part, limits))
                    .expect("it can be read");
                assert_eq!(Conversation::from(part), wanted, "{threads} threads, {part_bytes} bytes");
                // A count that goes on where another ended.
                let mut counter = Counter::default();
                for range in [0..middle, middle..len] {
                    let part =
                        view.by_threads(range, threads, part_bytes, |part, limits| HistoryPart::count(part, limits));
                    counter.add(part.expect("it can be read"));
                }
                assert_eq!(counter.count, count, "{threads} threads, {part_bytes} bytes");
            }
        }
    }

    #[test]
    fn where_no_thread_can_be_started_the_one_that_reads_does_it_all() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let path = scratch.path().join("history.jsonl");
        let history = "{\"role\":\"user\",\"content\":\"plant\"}\n".repeat(1_000);
        fs::write(&path, &history).expect("the scratch directory can be written");
        let view = HistoryView::at(&path, Limits::default()).expect("it can be read").expect("it is there");
        let load: ReadPart<_> = |part, limits| HistoryPart::load(part, limits);
        let read = || view.by_threads(0..view.len_bytes(), 4, 1_000, load);
        let alone = refusing(Call::Clone, Errno::EAGAIN, read).expect("it can be read");
        assert_eq!(Conversation::from(alone).messages.len(), 1_000);
    }
}
