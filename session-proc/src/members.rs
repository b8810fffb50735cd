//! The processes that belong to a background process: its group, and who left the group.

use crate::identity::own_pid;
use crate::mark::{self, Mark};
use crate::procfs::{self, Stat};
use crate::{Identity, ProcError, signal};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// A process that belongs to a background process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Which one.
    pub process: Identity,
    /// Its command name, as it calls itself: escape it before it reaches a terminal.
    pub command: Option<String>,
    /// By what it was found.
    pub bond: Bond,
}

/// By what a process is known to belong to a background process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bond {
    /// It is the process that the record names.
    Leader,
    /// It is in the leader's process group.
    Group,
    /// It left the group, and is in the leader's session.
    Session,
    /// It carries the environment mark of the start.
    Mark,
    /// It descends from a member, or was left to the supervisor by one that ended.
    Descent,
    /// It was found while there was still something that led to it.
    Remembered,
    /// Its group or session has the leader's number, but the leader is gone and nothing proves that the number is
    /// not somebody else's by now. It is told, and not signalled.
    Number,
}

/// What leads to the members of one background process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kin {
    pub(crate) leader: Option<Identity>,
    pub(crate) supervisor: Option<Identity>,
    pub(crate) token: Option<String>,
    pub(crate) remembered: Vec<Identity>,
}

/// Every process, as it stood at one look.
#[derive(Debug)]
pub(crate) struct Snapshot {
    boot_id: String,
    stats: HashMap<i32, Stat>,
    marks: OnceLock<HashMap<i32, Mark>>,
    callers: OnceLock<HashSet<i32>>,
}

impl Snapshot {
    pub(crate) fn take() -> Result<Snapshot, ProcError> {
        let mut stats = HashMap::new();
        for pid in procfs::pids()? {
            // A thread that ended the process between two looks left nothing to belong to anybody.
            stats.extend(procfs::stat(pid)?.map(|stat| (pid, stat)));
        }
        Ok(Snapshot { boot_id: procfs::boot_id()?, stats, marks: OnceLock::new(), callers: OnceLock::new() })
    }

    /// The members that run, in the order of their start.
    pub(crate) fn members(&self, kin: &Kin) -> Vec<Member> {
        let supervisor = kin.supervisor.as_ref().filter(|supervisor| self.has(supervisor)).map(|identity| identity.pid);
        let running = || self.stats.iter().filter(|&(&pid, stat)| !stat.is_dead() && Some(pid) != supervisor);
        let mut bonds: HashMap<i32, Bond> =
            running().filter_map(|(&pid, stat)| Some((pid, self.bond(kin, pid, stat)?))).collect();
        let mut parents: HashSet<i32> = supervisor.into_iter().collect();
        parents.extend(bonds.iter().filter(|&(_, bond)| *bond != Bond::Number).map(|(&pid, _)| pid));
        // A record that names the caller, or somebody it works with, must not hand over all of their children.
        parents.retain(|pid| !self.callers().contains(pid) && !self.is_of_callers_session(*pid));
        // Each round finds the next generation; the last one finds nobody.
        loop {
            let is_child = |pid: i32, stat: &Stat| {
                parents.contains(&stat.parent)
                    && self.stats.get(&stat.parent).is_some_and(|parent| parent.start_ticks <= stat.start_ticks)
                    && !self.is_of_another_start(kin, pid, stat.parent)
            };
            let children: Vec<i32> = running()
                .filter(|&(&pid, stat)| !parents.contains(&pid) && is_child(pid, stat))
                .map(|(&pid, _)| pid)
                .collect();
            if children.is_empty() {
                break;
            }
            parents.extend(&children);
            bonds.extend(children.into_iter().map(|pid| (pid, Bond::Descent)));
        }
        let mut members: Vec<Member> = bonds.into_iter().map(|(pid, bond)| self.member(pid, bond)).collect();
        members.sort_by_key(|member| (member.process.start_ticks, member.process.pid));
        members
    }

    /// The processes that carry a mark. Supervisors are none of what was started.
    pub(crate) fn marked(&self) -> impl Iterator<Item = (Identity, &Mark)> {
        let running = self.stats.iter().filter(|(_, stat)| !stat.is_dead());
        running
            .filter_map(|(&pid, stat)| Some((self.identity(pid, stat), self.mark(pid)?)))
            .filter(|(_, mark)| !mark.is_of_supervisor())
    }

    /// Whether a process leads a session, as every background process does when it starts.
    pub(crate) fn leads_session(&self, pid: i32) -> bool {
        self.stats.get(&pid).is_some_and(|stat| stat.session == pid)
    }

    /// Whether this process is there, if only as a zombie, and a group bears its number.
    pub(crate) fn leads_group(&self, process: &Identity) -> bool {
        self.has(process) && self.stats.get(&process.pid).is_some_and(|stat| stat.group == process.pid)
    }

    /// What binds a process to the start by itself, without its parents.
    fn bond(&self, kin: &Kin, pid: i32, stat: &Stat) -> Option<Bond> {
        let leader = kin.leader.as_ref();
        if leader.is_some_and(|leader| leader.pid == pid && self.has(leader)) {
            return Some(Bond::Leader);
        }
        if self.is_of_another_start(kin, pid, pid) {
            return None;
        }
        let marked = self.mark(pid).is_some_and(|mark| Some(&mark.token) == kin.token.as_ref());
        // Nor does a record that names the caller, or one that it descends from, hand over those that they live among.
        let numbered = leader.filter(|leader| leader.boot_id == self.boot_id && !self.callers().contains(&leader.pid));
        let in_group = numbered.is_some_and(|leader| stat.group == leader.pid);
        let in_session = numbered.is_some_and(|leader| stat.session == leader.pid);
        // While a process has the number, the groups and sessions that bear it are its own.
        let certain = leader.is_some_and(|leader| self.has(leader)) || marked;
        let free = leader.is_some_and(|leader| !self.stats.contains_key(&leader.pid));
        let identity = self.identity(pid, stat);
        if in_group && certain {
            Some(Bond::Group)
        } else if in_session && certain {
            Some(Bond::Session)
        } else if marked {
            Some(Bond::Mark)
        } else if kin.remembered.contains(&identity) {
            Some(Bond::Remembered)
        } else if (in_group || in_session) && free {
            Some(Bond::Number)
        } else {
            None
        }
    }

    /// Whether a process is another background process's. What the reference starts has no mark of its own, and passes
    /// on the one that it was started with: there `beside` says what is no other.
    fn is_of_another_start(&self, kin: &Kin, pid: i32, beside: i32) -> bool {
        let own = || kin.token.as_deref().or_else(|| self.mark(beside)?.start());
        self.mark(pid).is_some_and(|mark| mark.is_of_another_start(own()))
    }

    fn is_of_callers_session(&self, pid: i32) -> bool {
        self.stats.get(&pid).is_some_and(|stat| signal::is_own(pid, stat.session))
    }

    /// The calling process, and those that it descends from.
    fn callers(&self) -> &HashSet<i32> {
        self.callers.get_or_init(|| {
            let mut callers = HashSet::new();
            let mut pid = own_pid();
            while let Some(stat) = self.stats.get(&pid).filter(|_| callers.insert(pid)) {
                pid = stat.parent;
            }
            callers
        })
    }

    /// Whether the caller itself carries the mark of a start or turn.
    pub(crate) fn marks_caller(&self, kin: &Kin) -> bool {
        self.mark(own_pid()).is_some_and(|mark| Some(&mark.token) == kin.token.as_ref())
    }

    fn mark(&self, pid: i32) -> Option<&Mark> {
        let marks = || self.stats.keys().filter_map(|&pid| Some((pid, mark::of(pid)?))).collect();
        self.marks.get_or_init(marks).get(&pid)
    }

    fn has(&self, process: &Identity) -> bool {
        process.boot_id == self.boot_id
            && self.stats.get(&process.pid).is_some_and(|stat| stat.start_ticks == process.start_ticks)
    }

    fn identity(&self, pid: i32, stat: &Stat) -> Identity {
        Identity { pid, start_ticks: stat.start_ticks, boot_id: self.boot_id.clone() }
    }

    fn member(&self, pid: i32, bond: Bond) -> Member {
        let process = self.identity(pid, &self.stats[&pid]);
        Member { process, command: procfs::command_name(pid), bond }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessId;

    /// A process and its parent, each in a session of its own, and the token that it carries. No kernel gives such pids.
    type Told = (i32, i32, Option<&'static str>);
    const FIRST: i32 = 1 << 24;

    fn identity(n: i32) -> Identity {
        Identity { pid: FIRST + n, start_ticks: 1, boot_id: "now".to_owned() }
    }

    fn snapshot(processes: &[Told]) -> Snapshot {
        let stat = |n, parent| {
            let (pid, parent) = (FIRST + n, FIRST + parent);
            (pid, Stat { state: b'S', parent, group: pid, session: pid, threads: 1, start_ticks: 1 })
        };
        let mark = |&(n, _, token): &Told| {
            let mark = Mark { token: token?.to_owned(), id: ProcessId::numbered(1), dir: "/w/proc".into() };
            Some((FIRST + n, mark))
        };
        Snapshot {
            boot_id: "now".to_owned(),
            stats: processes.iter().map(|&(n, parent, _)| stat(n, parent)).collect(),
            marks: OnceLock::from(processes.iter().filter_map(mark).collect::<HashMap<_, _>>()),
            callers: OnceLock::from(HashSet::new()),
        }
    }

    fn found(snapshot: &Snapshot, kin: &Kin) -> Vec<(i32, Bond)> {
        snapshot.members(kin).into_iter().map(|member| (member.process.pid - FIRST, member.bond)).collect()
    }

    #[test]
    fn p01_what_was_started_as_another_background_process_belongs_to_that_one_whoever_is_given_it() {
        let snapshot = snapshot(&[
            (1, 0, Some("supervisor-oak")),
            (2, 1, Some("oak")),
            // Orphans: without a mark, and of a turn that ran in the background.
            (3, 1, None),
            (4, 1, Some("turn-7-8")),
            // Another start: its supervisor, its command, and what that has started without the mark.
            (5, 1, Some("supervisor-elm")),
            (6, 5, Some("elm")),
            (7, 6, None),
            // And one without a supervisor.
            (8, 1, Some("ash")),
            (9, 8, None),
        ]);
        let kin = |token: &str, leader, supervisor: Option<i32>| Kin {
            leader: Some(identity(leader)),
            supervisor: supervisor.map(identity),
            token: Some(token.to_owned()),
            // As they were seen before they became what they are.
            remembered: [1, 2, 3, 4, 5, 6, 8].into_iter().filter(|_| token == "oak").map(identity).collect(),
        };
        let oak = [(2, Bond::Leader), (3, Bond::Remembered), (4, Bond::Remembered)];
        assert_eq!(found(&snapshot, &kin("oak", 2, Some(1))), oak);
        let seen_first = Kin { remembered: Vec::new(), ..kin("oak", 2, Some(1)) };
        assert_eq!(found(&snapshot, &seen_first), oak.map(|(n, bond)| (n, if n == 2 { bond } else { Bond::Descent })));
        assert_eq!(found(&snapshot, &kin("elm", 6, Some(5))), [(6, Bond::Leader), (7, Bond::Descent)]);
        assert_eq!(found(&snapshot, &kin("ash", 8, None)), [(8, Bond::Leader), (9, Bond::Descent)]);
        let marked: HashSet<i32> = snapshot.marked().map(|(process, _)| process.pid - FIRST).collect();
        assert_eq!(marked, HashSet::from([2, 4, 6, 8]), "a supervisor is nobody's to stop");
    }

    #[test]
    fn what_the_reference_has_started_passes_on_the_mark_that_the_reference_was_started_with() {
        let snapshot = snapshot(&[
            (1, 0, Some("oak")),
            (2, 1, Some("oak")),
            (3, 2, Some("supervisor-elm")),
            (4, 3, Some("elm")),
            (5, 0, None),
            (6, 5, None),
            (7, 6, Some("elm")),
        ]);
        let kin = |leader| Kin { leader: Some(identity(leader)), remembered: vec![identity(2)], ..Kin::default() };
        assert_eq!(found(&snapshot, &kin(1)), [(1, Bond::Leader), (2, Bond::Remembered)]);
        assert_eq!(
            found(&snapshot, &Kin { remembered: Vec::new(), ..kin(1) }),
            [(1, Bond::Leader), (2, Bond::Descent)]
        );
        assert_eq!(
            found(&snapshot, &Kin { remembered: Vec::new(), ..kin(5) }),
            [(5, Bond::Leader), (6, Bond::Descent)]
        );
    }
}
