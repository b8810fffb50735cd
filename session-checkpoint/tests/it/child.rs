//! Child processes: the test binary itself, asked for one act.
//!
//! The variable is read here and nowhere in the library. Without it the test that a child runs does nothing.

use crate::support::{Lab, is_root};
use session_checkpoint::{Cancel, Checkpoints, ConflictPolicy, Options, Request, Retention, Scope, TurnRef};
use session_disk::faults::{self, Fault};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::time::Duration;

const VARIABLE: &str = "SESSION_CHECKPOINT_TEST_CHILD";

/// What a child is to do, and at which of its disk operations it is to die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Snapshot,
    Restore,
    Resume,
    Undo,
    Maintain,
    Prune,
    SnapshotTwenty,
    Unprivileged,
    ForeignOwner,
    DiskFull,
    FewDescriptors,
    ManyPacks,
}

const ACTS: [(Act, &str); 12] = [
    (Act::Snapshot, "snapshot"),
    (Act::Restore, "restore"),
    (Act::Resume, "resume"),
    (Act::Undo, "undo"),
    (Act::Maintain, "maintain"),
    (Act::Prune, "prune"),
    (Act::SnapshotTwenty, "snapshot-twenty"),
    (Act::Unprivileged, "unprivileged"),
    (Act::ForeignOwner, "foreign-owner"),
    (Act::DiskFull, "disk-full"),
    (Act::FewDescriptors, "few-descriptors"),
    (Act::ManyPacks, "many-packs"),
];

fn name(act: Act) -> &'static str {
    ACTS.iter().find(|(known, _)| *known == act).map(|(_, name)| *name).expect("every act has a name")
}

/// The options that children and their parents share: one thread, so that every operation is the caller's.
pub(crate) fn options(workspace: &Path, store: &Path) -> Options {
    let mut options = Options::new(workspace, store);
    options.threads = NonZeroUsize::new(1);
    options.max_packs = 2;
    options.max_file_bytes = 1 << 20;
    options
}

fn command(act: Act, workspace: &Path, store: &Path, at: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test binary"));
    command.args(["--exact", "child::a_child_does_what_it_is_asked", "--nocapture"]);
    command.env(VARIABLE, format!("{}\n{at}\n{}\n{}", name(act), workspace.display(), store.display()));
    command
}

/// Runs a child that kills itself with SIGKILL at its `at`-th disk operation.
pub(crate) fn run(act: Act, lab: &Lab, at: u64) -> ExitStatus {
    let output = command(act, &lab.workspace, &lab.store, at).output().expect("a child runs");
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(nix::libc::SIGKILL);
    assert!(killed || output.status.success(), "{act:?} at {at}: {}", text(&output));
    output.status
}

/// Starts a child that runs to its end.
pub(crate) fn spawn(act: Act, workspace: &Path, store: &Path) -> Command {
    command(act, workspace, store, u64::MAX)
}

/// Runs a child without privileges: as nobody where we are root, as ourselves where we have none.
pub(crate) fn run_unprivileged(act: Act, workspace: &Path, store: &Path) {
    let inner = command(act, workspace, store, u64::MAX);
    let output = if is_root() {
        let mut outer = Command::new("setpriv");
        outer.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
        outer.arg(inner.get_program()).args(inner.get_args());
        for (key, value) in inner.get_envs() {
            outer.env(key, value.unwrap_or_default());
        }
        outer.output().expect("setpriv runs")
    } else {
        spawn(act, workspace, store).output().expect("a child runs")
    };
    assert!(output.status.success(), "{}", text(&output));
}

pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_child_does_what_it_is_asked() {
    let Ok(asked) = std::env::var(VARIABLE) else { return };
    let mut lines = asked.lines();
    let act = lines.next().and_then(|asked| ACTS.iter().find(|(_, name)| *name == asked)).expect("a known act").0;
    let at: u64 = lines.next().and_then(|at| at.parse().ok()).expect("a number");
    let workspace = PathBuf::from(lines.next().expect("a path"));
    let store = PathBuf::from(lines.next().expect("a path"));
    match act {
        Act::Unprivileged => return crate::unprivileged::unreadable_things(&workspace, &store),
        Act::ForeignOwner => return crate::unprivileged::foreign_owner(&workspace, &store),
        Act::DiskFull => return crate::disk_full::on_a_small_disk(&workspace),
        Act::FewDescriptors => return crate::limits::with_few_descriptors(&workspace, &store),
        Act::ManyPacks => return crate::limits::with_more_packs_than_descriptors(&workspace, &store),
        _ => {}
    }
    let fault = if at == u64::MAX { Fault::None } else { Fault::Kill { at } };
    let run = faults::with(fault, || {
        let (mut checkpoints, _) = Checkpoints::open(options(&workspace, &store)).expect("a good store");
        let cancel = Cancel::new();
        match act {
            Act::Snapshot => drop(checkpoints.snapshot(&Request::next("child"), &cancel).expect("a snapshot")),
            Act::SnapshotTwenty => {
                for n in 0..20 {
                    std::fs::write(workspace.join(format!("{}-{n}", std::process::id())), "x").expect("scratch");
                    checkpoints.snapshot(&Request::next("child"), &cancel).expect("a snapshot");
                }
            }
            Act::Restore => {
                let plan = checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &cancel).expect("a plan");
                checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).map(drop).expect("a restore");
            }
            Act::Resume => drop(checkpoints.resume_interrupted(&cancel).expect("a restore")),
            Act::Undo => drop(checkpoints.undo_interrupted(ConflictPolicy::Stop, &cancel).expect("a restore")),
            Act::Maintain => drop(checkpoints.maintain(Duration::from_secs(60), &cancel).expect("maintenance")),
            Act::Prune => {
                let retention = Retention { keep_last: Some(2), ..Retention::default() };
                checkpoints.prune(retention, &cancel).expect("a prune");
            }
            Act::Unprivileged | Act::ForeignOwner | Act::DiskFull | Act::FewDescriptors | Act::ManyPacks => {
                unreachable!("done above")
            }
        }
    });
    drop(run);
}
