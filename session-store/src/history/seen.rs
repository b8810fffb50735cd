//! Appending what depends on everything before it.

use super::batch::Batch;
use super::pending::{Lock, Pending, Placed};
use super::{History, HistoryView, REOPENS};
use crate::{Result, StoreError};
use session_core::Event;

/// Makes events of a history as it stands. It may be asked again: somebody has appended meanwhile.
pub(crate) type Make<'a> = &'a mut dyn FnMut(&HistoryView) -> Result<Vec<Event>>;

impl History {
    /// Appends what `make` makes of the history, right behind what it saw; `before` and `written` as in
    /// [`History::write_after`]. The lock is held from before the look until the events are in the file, so that no append
    /// of ours comes in between. The reference takes no lock: where a line of its comes in between, what was written is
    /// blanked, and `make` is asked again.
    ///
    /// On disk when it returns: as after [`History::write_after`]. After an error of `make`, nothing.
    ///
    /// # Errors
    /// Those of `make` and of [`History::append`]; [`StoreError::KeepsChanging`] where somebody goes on and on.
    pub(crate) fn write_seen(
        &mut self,
        make: Make<'_>,
        before: impl FnOnce(bool) -> Result<Vec<Event>>,
        written: impl FnOnce(),
    ) -> Result<Pending> {
        let path = self.paths.history();
        let (mut kept, mut look) = self.lock(&path)?;
        let first = before(look.is_new)?;
        let mut all_isolated = Vec::new();
        for _ in 0..REOPENS {
            let view = HistoryView::open(&self.paths, self.options.limits)?;
            let events = match make(&view) {
                Ok(events) => events,
                Err(error) => {
                    self.unlock(kept, &path);
                    return Err(error);
                }
            };
            let mut batch = Batch::new(&events, &self.redaction, self.options.long_lines, &path)?;
            batch.begin_with(&first, &self.redaction, &path)?;
            let (offset, isolated) = self.write(&kept, look, &batch, &path)?;
            all_isolated.extend(isolated);
            if offset == view.len_bytes() {
                written();
                return self.written(kept, look, batch, (offset, all_isolated));
            }
            let placed = Placed::whole(batch.written(look.is_torn), offset);
            if !placed.blank(&kept.open, self.options.durability, Lock::Held, &path)? {
                break;
            }
            kept.left = None;
            let len = kept.named_len(&path)?.ok_or_else(|| self.deleted(&path))?;
            look = kept.look(&path, len, self.options.limits)?;
        }
        Err(StoreError::KeepsChanging { path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, SessionPaths, flock};
    use session_core::{Message, parse_time};
    use std::fs::{self, File, OpenOptions};
    use std::io::Write as _;

    fn said(text: &str) -> Event {
        Event::message(parse_time("2026-01-02T03:04:05Z").expect("a time"), Message::user(text))
    }

    fn history() -> (tempfile::TempDir, SessionPaths, History) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        let mut history = History::new(paths.clone(), "demo", Options::default());
        history.append(&[said("one")], Vec::new).map(drop).expect("nothing forbids it");
        (dir, paths, history)
    }

    fn texts(paths: &SessionPaths) -> Vec<String> {
        let view = HistoryView::open(paths, Options::default().limits).expect("it is there");
        view.load().expect("readable").messages.iter().map(|message| message.content.text().into_owned()).collect()
    }

    #[test]
    fn nobody_who_takes_the_lock_comes_between_the_look_and_the_write() {
        let (_dir, paths, mut history) = history();
        let mut was_free = None;
        let mut make = |view: &HistoryView| {
            let other = File::open(paths.history()).expect("it is there");
            was_free = Some(flock::try_exclusive(&other, &paths.history())?);
            Ok(vec![said(&format!("after {}", view.count()?.messages))])
        };
        let pending = history.write_seen(&mut make, |_| Ok(Vec::new()), || {}).expect("nothing forbids it");
        pending.settle(&paths.history()).map(drop).expect("nothing forbids it");
        assert_eq!((was_free, texts(&paths)), (Some(false), vec!["one".into(), "after 1".into()]));
        history.append(&[said("last")], Vec::new).map(drop).expect("the lock is free again");
    }

    #[test]
    fn where_somebody_without_a_lock_comes_in_between_it_is_made_again() {
        let (_dir, paths, mut history) = history();
        let mut asked = 0;
        let mut make = |view: &HistoryView| {
            asked += 1;
            let seen = view.count()?.messages;
            if asked < 3 {
                let mut line = Vec::new();
                said(&format!("late {asked}")).encode(&mut line);
                let mut file = OpenOptions::new().append(true).open(paths.history()).expect("it is there");
                file.write_all(&line).expect("there is room");
            }
            Ok(vec![said(&format!("after {seen}"))])
        };
        let pending = history.write_seen(&mut make, |_| Ok(Vec::new()), || {}).expect("nothing forbids it");
        pending.settle(&paths.history()).map(drop).expect("nothing forbids it");
        assert_eq!(texts(&paths), ["one", "late 1", "late 2", "after 3"]);
        let view = HistoryView::open(&paths, Options::default().limits).expect("it is there");
        assert!(view.load().expect("readable").defects.is_empty());
    }

    #[test]
    fn after_an_error_of_who_makes_them_nothing_is_written_and_the_lock_is_free() {
        let (_dir, paths, mut history) = history();
        let before = fs::read(paths.history()).expect("it is there");
        let refuse = |_: &HistoryView| Err(StoreError::NothingToUndo { name: "demo".into() });
        let refused = history.write_seen(&mut { refuse }, |_| Ok(Vec::new()), || {});
        assert!(matches!(refused, Err(StoreError::NothingToUndo { .. })));
        assert_eq!(fs::read(paths.history()).expect("it is there"), before);
        let other = File::open(paths.history()).expect("it is there");
        assert!(flock::try_exclusive(&other, &paths.history()).expect("it has locks"));
    }

    #[test]
    fn who_never_stops_is_told() {
        let (_dir, paths, mut history) = history();
        let mut make = |_: &HistoryView| {
            let mut line = Vec::new();
            said("late").encode(&mut line);
            let mut file = OpenOptions::new().append(true).open(paths.history()).expect("it is there");
            file.write_all(&line).expect("there is room");
            Ok(vec![said("never")])
        };
        let refused = history.write_seen(&mut make, |_| Ok(Vec::new()), || {});
        assert!(matches!(refused, Err(StoreError::KeepsChanging { .. })));
        assert!(!texts(&paths).contains(&"never".to_owned()));
    }
}
