//! Stopping background processes: asked, waited for, killed, and whoever is left is named.

use crate::dossier::StopRequest;
use crate::members::{Bond, Kin, Member, Snapshot};
use crate::signal::{self, Sent, Signal, Unreached};
use crate::{Identity, Lifetime, ProcError, ProcessId, Registry, State, Status};
use chrono::Utc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

/// How long killed processes are waited for.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// New members are looked for this often.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// A claim becomes a process within this time, or is stuck.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// So many processes are waited for by descriptors.
const MAX_HELD: usize = 64;

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The signal that asks: `TERM`, unless something else is wanted.
    pub signal: Signal,
    /// How long to wait before the processes that are left are killed.
    pub grace: Duration,
}

impl Default for Stop {
    /// `TERM`, and five seconds.
    fn default() -> Stop {
        Stop { signal: Signal::TERM, grace: Duration::from_secs(5) }
    }
}

/// Which processes to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All of the session, also those whose record was lost.
    All,
    /// Those that are meant to end with the turn.
    Ephemeral,
    /// Of these, those whose turn is over: what a turn that crashed has left.
    LeftOver,
}

/// What became of a background process that was to be stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Which one.
    pub id: ProcessId,
    /// The process afterwards. `None`: it has no record.
    pub status: Option<Status>,
    /// The processes that were asked to end, or killed.
    pub signalled: Vec<Member>,
    /// Those that still run.
    pub survivors: Vec<Survivor>,
}

/// A process that could not be stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Which one.
    pub member: Member,
    /// Why.
    pub why: Unreached,
}

impl Registry {
    /// The processes that belong to a background process and run, also when its leader has ended. Writes nothing.
    ///
    /// # Errors
    /// As [`Registry::look`].
    pub fn members(&self, id: &ProcessId) -> Result<Vec<Member>, ProcError> {
        let entry = self.settled(id)?.1;
        if entry.is_at_home() { Ok(Snapshot::take()?.members(&entry.kin())) } else { Ok(Vec::new()) }
    }

    /// Stops a process with everything that belongs to it: the signal, the grace, `KILL`. One that has ended is no
    /// error; what it left running is stopped.
    ///
    /// Every target is checked right before each signal. The calling process, its group and its session are never
    /// signalled.
    ///
    /// On disk when it returns: the record in its final state, *killed* if the process was running.
    ///
    /// # Errors
    /// [`ProcError::Misplaced`]; otherwise as [`Registry::status`]. A process that could not be stopped is in the answer.
    #[doc(alias = "Kill")]
    pub fn stop(&self, id: &ProcessId, stop: &Stop) -> Result<Stopped, ProcError> {
        let target = self.target(id, stop)?;
        let mut stopped = self.stop_targets(vec![target], stop)?;
        Ok(stopped.pop().expect("one target gives one answer"))
    }

    /// Stops many at once, all within one grace.
    ///
    /// On disk when it returns: as after [`Registry::stop`], for each.
    ///
    /// # Errors
    /// As [`Registry::list`].
    #[doc(alias = "KillAll")]
    pub fn stop_all(&self, which: Which, stop: &Stop) -> Result<Vec<Stopped>, ProcError> {
        let mut targets = Vec::new();
        let is_meant = |status: &Status| match which {
            Which::All => true,
            Which::Ephemeral => status.lifetime == Some(Lifetime::Ephemeral),
            Which::LeftOver => status.lifetime == Some(Lifetime::Ephemeral) && status.is_orphan && status.has_turn,
        };
        for status in self.list()?.processes.into_iter().filter(is_meant) {
            match self.target(&status.id, stop) {
                Ok(target) => targets.push(target),
                Err(ProcError::Misplaced { .. } | ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if which == Which::All {
            let known: HashSet<_> = targets.iter().filter_map(|target| target.kin.token.clone()).collect();
            targets.extend(self.lost_targets(&known)?);
        }
        self.stop_targets(targets, stop)
    }

    /// Announces the stop, so that whoever sees the end knows what it was.
    fn target(&self, id: &ProcessId, stop: &Stop) -> Result<Target, ProcError> {
        let end = Instant::now() + START_PATIENCE;
        while self.look(id)?.state == State::Starting && Instant::now() < end {
            thread::sleep(BETWEEN_LOOKS);
        }
        let grace_ms = u64::try_from(stop.grace.as_millis()).unwrap_or(u64::MAX);
        let change = self.change(id, |entry| {
            if !entry.is_at_home() {
                return Err(ProcError::Misplaced { path: entry.paths.record() });
            }
            if entry.record.as_ref().is_some_and(|record| record.state == State::Running) {
                entry.dossier.stop = Some(StopRequest { asked: Utc::now(), grace_ms });
            }
            Ok(entry.kin())
        })?;
        Ok(Target::new(id, change.answer, true))
    }

    fn stop_targets(&self, mut targets: Vec<Target>, stop: &Stop) -> Result<Vec<Stopped>, ProcError> {
        if stop.signal != Signal::KILL {
            ask(&mut targets, stop.signal, stop.grace)?;
        }
        kill(&mut targets)?;
        let snapshot = Snapshot::take()?;
        let mut stopped = Vec::new();
        for mut target in targets {
            let survivors = target.survivors(&snapshot);
            if let Some(supervisor) = target.kin.supervisor.as_ref().filter(|_| survivors.is_empty()) {
                wait_for(std::slice::from_ref(supervisor), KILL_PATIENCE)?;
            }
            let status = if target.has_record { Some(self.status(&target.id)?) } else { None };
            stopped.push(Stopped { id: target.id, status, signalled: target.signalled, survivors });
        }
        Ok(stopped)
    }
}

/// One background process on its way out.
pub(crate) struct Target {
    id: ProcessId,
    kin: Kin,
    has_record: bool,
    signalled: Vec<Member>,
    unreached: HashMap<Identity, Unreached>,
}

impl Target {
    pub(crate) fn new(id: &ProcessId, kin: Kin, has_record: bool) -> Target {
        Target { id: id.clone(), kin, has_record, signalled: Vec::new(), unreached: HashMap::new() }
    }

    /// Sends a signal to the members. Returns those that may still end.
    fn signal(&mut self, snapshot: &Snapshot, signal: Signal) -> Result<Vec<Identity>, ProcError> {
        let leader = self.kin.leader.clone().filter(|leader| snapshot.leads_group(leader));
        let group_sent = match &leader {
            Some(leader) => send_to_group(leader, signal)?,
            None => false,
        };
        let members = self.members(snapshot);
        for member in &members {
            let sent = if group_sent && is_of_group(member) { Sent::Yes } else { send(&member.process, signal)? };
            self.note(member, sent);
        }
        Ok(self.left(&members))
    }

    /// The members that may be signalled. Those that may not are noted, and all are remembered: what leads to one may
    /// end before it does.
    fn members(&mut self, snapshot: &Snapshot) -> Vec<Member> {
        let (members, doubtful): (Vec<_>, Vec<_>) =
            snapshot.members(&self.kin).into_iter().partition(|member| member.bond != Bond::Number);
        self.unreached.extend(doubtful.into_iter().map(|member| (member.process, Unreached::Unverified)));
        for member in &members {
            if !self.kin.remembered.contains(&member.process) {
                self.kin.remembered.push(member.process.clone());
            }
        }
        members
    }

    fn left(&self, members: &[Member]) -> Vec<Identity> {
        let processes = members.iter().map(|member| member.process.clone());
        processes.filter(|process| !self.unreached.contains_key(process)).collect()
    }

    fn note(&mut self, member: &Member, sent: Sent) {
        match sent {
            Sent::Yes => {
                self.unreached.remove(&member.process);
                if !self.signalled.iter().any(|known| known.process == member.process) {
                    self.signalled.push(member.clone());
                }
            }
            Sent::Gone => {}
            Sent::No(why) => drop(self.unreached.insert(member.process.clone(), why)),
        }
    }

    fn survivors(&mut self, snapshot: &Snapshot) -> Vec<Survivor> {
        self.members(snapshot);
        let why = |process: &Identity| self.unreached.get(process).copied().unwrap_or(Unreached::StillThere);
        let members = snapshot.members(&self.kin).into_iter();
        members.map(|member| Survivor { why: why(&member.process), member }).collect()
    }
}

fn is_of_group(member: &Member) -> bool {
    matches!(member.bond, Bond::Leader | Bond::Group)
}

/// A stopped process hears nothing until it goes on.
fn wakes(signal: Signal) -> bool {
    signal != Signal::KILL
}

fn send_to_group(leader: &Identity, signal: Signal) -> Result<bool, ProcError> {
    let is_sent = signal::send_group(leader, signal)? == Sent::Yes;
    if is_sent && wakes(signal) {
        signal::send_group(leader, Signal::CONT)?;
    }
    Ok(is_sent)
}

fn send(process: &Identity, signal: Signal) -> Result<Sent, ProcError> {
    let sent = signal::send(process, signal)?;
    if sent == Sent::Yes && wakes(signal) {
        signal::send(process, Signal::CONT)?;
    }
    Ok(sent)
}

/// Asks all that belong to the targets to end, once, and gives them time: what they start to clean up is not disturbed.
fn ask(targets: &mut [Target], signal: Signal, grace: Duration) -> Result<(), ProcError> {
    let end = Instant::now().checked_add(grace);
    let mut has_asked = false;
    loop {
        let snapshot = Snapshot::take()?;
        let mut left = Vec::new();
        for target in targets.iter_mut() {
            left.extend(if has_asked {
                let members = target.members(&snapshot);
                target.left(&members)
            } else {
                target.signal(&snapshot, signal)?
            });
        }
        has_asked = true;
        if left.is_empty() || end.is_some_and(|end| Instant::now() >= end) {
            return Ok(());
        }
        wait_for(&left, BETWEEN_LOOKS)?;
    }
}

/// Kills all that belong to the targets, also those that appear meanwhile, until nobody is left.
fn kill(targets: &mut [Target]) -> Result<(), ProcError> {
    let end = Instant::now() + KILL_PATIENCE;
    loop {
        let snapshot = Snapshot::take()?;
        let mut left = Vec::new();
        for target in targets.iter_mut() {
            left.extend(target.signal(&snapshot, Signal::KILL)?);
        }
        if left.is_empty() || Instant::now() >= end {
            return Ok(());
        }
        wait_for(&left, BETWEEN_LOOKS)?;
    }
}

/// Waits until the processes have ended, at most for so long.
fn wait_for(processes: &[Identity], at_most: Duration) -> Result<(), ProcError> {
    let end = Instant::now() + at_most;
    let mut held: Vec<OwnedFd> = Vec::new();
    let mut is_anybody_left = false;
    for process in processes.iter().take(MAX_HELD) {
        if process.liveness()?.is_live() {
            held.extend(signal::watch(process)?);
            is_anybody_left = true;
        }
    }
    if held.is_empty() && is_anybody_left {
        // The kernel has no descriptors for processes.
        thread::sleep(at_most.min(BETWEEN_LOOKS));
    }
    while !held.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        let mut fds: Vec<PollFd<'_>> = held.iter().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)).collect();
        let answer = poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX));
        let ended: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(true)).collect();
        let mut ended = ended.into_iter();
        held.retain(|_| !ended.next().unwrap_or(false));
        match answer {
            Ok(0) => return Ok(()),
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(ProcError::Wait { source: errno.into() }),
        }
    }
    Ok(())
}
