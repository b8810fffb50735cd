//! Going through one history block by block.

use super::anchor::{Candidates, REACH};
use super::{Coverage, Excerpt, Hit, Pattern, Scope, Search, Seen};
use crate::scan::{Line, Lines};
use crate::{Defect, Fault, Item, Limits, Outcome, RawLine, Record, decode};
use memchr::{memchr, memrchr};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

/// What is looked through at once, at most.
const BLOCK: usize = 1 << 20;
/// The buffer for lines that are read again.
const BUFFER: usize = 256 << 10;

type Told<'s> = &'s mut dyn FnMut(Seen) -> ControlFlow<()>;

pub(super) fn walk<P: Pattern>(
    search: &mut Search<P>,
    mut history: impl Read + Seek,
    seen: Told<'_>,
) -> io::Result<Coverage> {
    let len = history.seek(SeekFrom::End(0))?;
    // One byte more, so that the end is met by the first read.
    let most = usize::try_from(len.saturating_add(1)).unwrap_or(BLOCK).min(BLOCK);
    let mut block = std::mem::take(&mut search.block);
    if block.len() < most {
        block.resize(most, 0);
    }
    let judge = Judge { pattern: &search.pattern, scope: &search.scope, limits: search.limits };
    let mut walk = Walk { judge, history, seen, reached: Reached::default(), coverage: Coverage::default() };
    let walked = walk.blocks(&mut block);
    let mut coverage = walk.coverage;
    search.block = block;
    coverage.stopped = walked?.is_break();
    Ok(coverage)
}

struct Walk<'s, R, P> {
    judge: Judge<'s, P>,
    history: R,
    seen: Told<'s>,
    reached: Reached,
    coverage: Coverage,
}

/// How far events are counted: only as far as somebody asks for their numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    offset: u64,
    lines: u64,
    events: u64,
}

impl<R: Read + Seek, P: Pattern> Walk<'_, R, P> {
    fn blocks(&mut self, block: &mut [u8]) -> io::Result<ControlFlow<()>> {
        // The block begins at the start of a line.
        let (mut at, mut filled) = (0, 0);
        loop {
            self.history.seek(SeekFrom::Start(at + filled as u64))?;
            let end = self.fill(block, &mut filled)?;
            let whole = if end { filled } else { memrchr(b'\n', &block[..filled]).map_or(0, |last| last + 1) };
            let (looked, flow) = if whole == 0 && !end {
                let (len, flow) = self.long_line(at, block)?;
                filled = 0;
                (len, flow)
            } else {
                let flow = self.lines(at, &block[..whole])?;
                block.copy_within(whole..filled, 0);
                filled -= whole;
                (whole as u64, flow)
            };
            at += looked;
            self.coverage.bytes = at;
            if flow.is_break() || (self.seen)(Seen::Bytes(looked)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if end {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// Reads until the block is full; true at the end of the history.
    fn fill(&mut self, block: &mut [u8], filled: &mut usize) -> io::Result<bool> {
        while *filled < block.len() {
            match self.history.read(&mut block[*filled..]) {
                Ok(0) => return Ok(true),
                Ok(read) => *filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Searches the lines of a block.
    fn lines(&mut self, at: u64, block: &[u8]) -> io::Result<ControlFlow<()>> {
        let mut candidates = self.judge.pattern.anchor().candidates(block);
        let Some(next) = candidates.next_from(0) else { return Ok(ControlFlow::Continue(())) };
        self.count_upto(at)?;
        self.candidates(at, block, &mut candidates, next)
    }

    fn candidates(
        &mut self,
        at: u64,
        block: &[u8],
        candidates: &mut Candidates<'_>,
        mut next: usize,
    ) -> io::Result<ControlFlow<()>> {
        let from = self.reached;
        let mut lines = Lines::behind(block, self.judge.limits.max_line_bytes, from.lines, from.offset);
        while let Some(line) = lines.next()? {
            let end = usize::try_from(self.reached.offset - at).unwrap_or(usize::MAX).saturating_add(len_of(&line));
            if next >= end {
                self.reached.pass(&line);
                continue;
            }
            if self.line(&line).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            match candidates.next_from(end) {
                Some(found) => next = found,
                None => break,
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Counts the events before `upto`, the start of a line.
    fn count_upto(&mut self, upto: u64) -> io::Result<()> {
        let from = self.reached;
        if from.offset == upto {
            return Ok(());
        }
        self.history.seek(SeekFrom::Start(from.offset))?;
        let part = BufReader::with_capacity(BUFFER, (&mut self.history).take(upto - from.offset));
        let mut lines = Lines::behind(part, self.judge.limits.max_line_bytes, from.lines, from.offset);
        while let Some(line) = lines.next()? {
            self.reached.pass(&line);
        }
        Ok(())
    }

    /// Searches one line that is longer than a block, and gives its length: it is held only if something in it may match.
    fn long_line(&mut self, at: u64, block: &mut [u8]) -> io::Result<(u64, ControlFlow<()>)> {
        let (mut len, mut is_candidate, mut kept) = (0, false, 0);
        let mut filled = block.len();
        loop {
            let newline = memchr(b'\n', &block[kept..filled]).map(|newline| kept + newline);
            let part = &block[..newline.unwrap_or(filled)];
            is_candidate = is_candidate || self.judge.pattern.anchor().candidates(part).next_from(0).is_some();
            len += (newline.map_or(filled, |newline| newline + 1) - kept) as u64;
            if newline.is_some() || filled < block.len() {
                break;
            }
            if (self.seen)(Seen::Bytes(0)).is_break() {
                return Ok((len, ControlFlow::Break(())));
            }
            kept = REACH.min(filled);
            block.copy_within(filled - kept..filled, 0);
            filled = kept;
            self.history.seek(SeekFrom::Start(at + len))?;
            self.fill(block, &mut filled)?;
        }
        if !is_candidate {
            return Ok((len, ControlFlow::Continue(())));
        }
        self.count_upto(at)?;
        self.history.seek(SeekFrom::Start(at))?;
        let part = BufReader::with_capacity(BUFFER, (&mut self.history).take(len));
        let mut lines = Lines::behind(part, self.judge.limits.max_line_bytes, self.reached.lines, at);
        let Some(line) = lines.next()? else { return Ok((len, ControlFlow::Continue(()))) };
        let flow = self.judge.line(&line, &mut self.reached, &mut self.coverage, self.seen);
        Ok((len, flow))
    }

    fn line(&mut self, line: &Line<'_>) -> ControlFlow<()> {
        self.judge.line(line, &mut self.reached, &mut self.coverage, self.seen)
    }
}

/// The length of a line, newline included.
fn len_of(line: &Line<'_>) -> usize {
    match line {
        Line::Whole(line) => line.bytes.len() + usize::from(line.terminated),
        // Its newline is not told apart, and there is none in it.
        Line::TooLong { len, .. } => usize::try_from(len.saturating_add(1)).unwrap_or(usize::MAX),
    }
}

impl Reached {
    /// Passes over a line, counting its events.
    fn pass(&mut self, line: &Line<'_>) {
        if let Line::Whole(whole) = line {
            if whole.terminated && decode::is_message(whole.bytes) {
                self.events += 1;
            } else {
                decode::line(*whole, false, |item| self.events += u64::from(matches!(item, Item::Record(_))));
            }
        }
        self.step(line);
    }

    fn step(&mut self, line: &Line<'_>) {
        self.lines += 1;
        self.offset += len_of(line) as u64;
    }
}

/// Decodes lines and searches their texts.
struct Judge<'s, P> {
    pattern: &'s P,
    scope: &'s Scope,
    limits: Limits,
}

impl<P: Pattern> Judge<'_, P> {
    fn line(&self, line: &Line<'_>, reached: &mut Reached, coverage: &mut Coverage, seen: Told<'_>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        match line {
            Line::Whole(whole) => self.whole(*whole, reached, coverage, &mut |hit| {
                if flow.is_continue() {
                    flow = seen(Seen::Hit(hit));
                }
            }),
            Line::TooLong { place, len } => {
                let fault = Fault::TooLong { limit: self.limits.max_line_bytes };
                coverage.defect(Defect { place: *place, len: *len, fault, outcome: Outcome::Skipped });
            }
        }
        reached.step(line);
        flow
    }

    fn whole(&self, line: RawLine<'_>, reached: &mut Reached, coverage: &mut Coverage, hit: &mut dyn FnMut(Hit)) {
        decode::line(line, true, |item| match item {
            Item::Defect(defect) => coverage.defect(defect),
            Item::Record(record) => {
                reached.events += 1;
                self.event(&record, reached.events, hit);
            }
        });
    }

    fn event(&self, record: &Record, number: u64, hit: &mut dyn FnMut(Hit)) {
        let anchor = self.pattern.anchor();
        let may_hide = |text: &str| anchor.candidates(text.as_bytes()).next_from(0).is_some();
        self.scope.texts(&record.event, may_hide, |text| {
            let excerpt = Excerpt::of_first_match(text.text, self.pattern);
            let is_found = excerpt.is_some();
            if let Some(excerpt) = excerpt {
                hit(Hit {
                    event: number,
                    place: record.place,
                    ts: record.event.ts,
                    kind: text.kind,
                    tool: text.tool.map(str::to_owned),
                    excerpt,
                });
            }
            is_found
        });
    }
}

impl Coverage {
    fn defect(&mut self, defect: Defect) {
        if defect.is_skipped() {
            self.unread += 1;
            self.first_unread.get_or_insert(defect);
        }
    }
}
