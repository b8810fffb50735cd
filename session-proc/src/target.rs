//! Reaching all the processes of those that are to be stopped.

use crate::members::{Bond, Kin, Member, Snapshot};
use crate::signal::{self, Proof, Sent, Signal, Unreached};
use crate::{Identity, ProcError, ProcessId};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::HashMap;
use std::fmt;
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

/// How long killed processes are waited for.
pub(crate) const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// New members are looked for this often.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// So many processes are waited for by descriptors.
const MAX_HELD: usize = 64;

/// A process that could not be stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survivor {
    /// Which one.
    pub member: Member,
    /// Why.
    pub why: Unreached,
}

impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.member.process.pid)?;
        if let Some(command) = &self.member.command {
            write!(f, " ({})", command.escape_debug())?;
        }
        write!(f, ": {}", self.why)
    }
}

/// One background process on its way out.
pub(crate) struct Target {
    pub(crate) id: ProcessId,
    pub(crate) kin: Kin,
    pub(crate) has_record: bool,
    pub(crate) signalled: Vec<Member>,
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
        let is_foreign = !snapshot.marks_caller(&self.kin);
        for member in &members {
            let proof = if is_foreign && member.bond == Bond::Mark { Proof::Mark } else { Proof::Number };
            let sent =
                if group_sent && is_of_group(member) { Sent::Yes } else { send(&member.process, signal, proof)? };
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

    /// Who still runs, and why.
    pub(crate) fn survivors(&mut self, snapshot: &Snapshot) -> Vec<Survivor> {
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

fn send(process: &Identity, signal: Signal, proof: Proof) -> Result<Sent, ProcError> {
    let sent = signal::send(process, signal, proof)?;
    if sent == Sent::Yes && wakes(signal) {
        signal::send(process, Signal::CONT, proof)?;
    }
    Ok(sent)
}

/// Asks all that belong to the targets to end, once, and gives them time: what they start to clean up is not disturbed.
pub(crate) fn ask(targets: &mut [Target], signal: Signal, grace: Duration) -> Result<(), ProcError> {
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
pub(crate) fn kill(targets: &mut [Target]) -> Result<(), ProcError> {
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
pub(crate) fn wait_for(processes: &[Identity], at_most: Duration) -> Result<(), ProcError> {
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
