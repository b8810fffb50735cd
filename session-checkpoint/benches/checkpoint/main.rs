//! Checkpoints against the git program that does the same, in alternation, so that a noisy machine is noisy for both.
//!
//! Only ratios count. Sizes are chosen by name: `cargo bench -p session-checkpoint -- S M L`; the default is `S`.

#![expect(clippy::print_stdout, reason = "a bench tells people what it measured")]

mod floor;
mod peer;
mod report;
mod trees;

use report::{Goal, Sample, ratio, timed, timed_with};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Durability, Level, Options, Request, RestorePlan, Scope, TurnRef,
};
use std::fs;
use std::path::Path;
use trees::Size;

fn main() {
    let asked: Vec<Size> = std::env::args().skip(1).filter_map(|name| Size::named(&name)).collect();
    let sizes = if asked.is_empty() { vec![Size::S] } else { asked };
    for size in sizes {
        let dir = tempfile::Builder::new().prefix("ckpt-bench-").tempdir().expect("a scratch directory");
        run(size, dir.path());
    }
}

fn open(workspace: &Path, store: &Path, level: Level) -> Checkpoints {
    open_as(workspace, store, level, Durability::default())
}

fn open_as(workspace: &Path, store: &Path, level: Level, durability: Durability) -> Checkpoints {
    let options = Options { level, durability, ..Options::new(workspace, store) };
    Checkpoints::open(options).expect("a store").0
}

fn snapshot(checkpoints: &mut Checkpoints) {
    checkpoints.snapshot(&Request::next("bench"), &Cancel::new()).expect("a snapshot");
}

fn run(size: Size, dir: &Path) {
    let work = dir.join("work");
    println!("\n{size:?}: {} files", size.files());
    trees::make(&work, size);
    first(size, dir, &work);
    let repo = dir.join("peer.git");
    peer::init(&repo, &work);
    peer::turn(&repo, &work, 0);
    let mut ours = open(&work, &dir.join("store"), Level::Fast);
    let mut unsynced = open_as(&work, &dir.join("unsynced"), Level::Fast, Durability::None);
    for checkpoints in [&mut ours, &mut unsynced] {
        snapshot(checkpoints);
        settle();
        // The racy entries of the first snapshot are hashed once more here and not in what is measured.
        snapshot(checkpoints);
    }
    let idle_ms = unchanged(size, &work, &repo, &mut ours, &mut unsynced);
    memory(size, "turns without changes");
    ten_edits(size, dir, &work, &repo, (&mut ours, &mut unsynced), idle_ms);
    memory(size, "turns with ten edits");
    listing(dir, &ours);
    restores(size, &work, &repo, &mut ours);
    memory(size, "restores, mapped packs included");
}

/// The most memory since the last call.
fn memory(size: Size, what: &str) {
    let goal = size.pick(Goal::None, Goal::None, Goal::AtMost(50.0));
    report::line(&format!("peak memory, {what}, MB"), (report::peak_memory_bytes() >> 20) as f64, goal);
    report::forget_peak_memory();
}

/// Longer than the margin within which a file's stamp is not believed.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(60));
}

fn first(size: Size, dir: &Path, work: &Path) {
    let (mut fast, mut stored, mut git) = (Sample::default(), Sample::default(), Sample::default());
    for n in 0..size.first_rounds() {
        let repo = dir.join(format!("first-{n}.git"));
        peer::init(&repo, work);
        git.add(timed(|| peer::turn(&repo, work, 0)));
        let git_bytes = report::disk_bytes(&repo);
        let store = dir.join(format!("first-{n}-fast"));
        let mut checkpoints = open(work, &store, Level::Fast);
        fast.add(timed(|| snapshot(&mut checkpoints)));
        drop(checkpoints);
        let bytes = report::disk_bytes(&store);
        let mut checkpoints = open(work, &dir.join(format!("first-{n}-stored")), Level::Stored);
        stored.add(timed(|| snapshot(&mut checkpoints)));
        if n == 0 {
            report::line("first, size against loose git", bytes as f64 / git_bytes as f64, Goal::AtMost(0.6));
        }
        for name in ["", "-fast", "-stored"] {
            let path = dir.join(format!("first-{n}{name}{}", if name.is_empty() { ".git" } else { "" }));
            fs::remove_dir_all(path).expect("scratch");
        }
    }
    let free = if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) >= 4 { 12.0 } else { 8.0 };
    memory(size, "first snapshots");
    report::line("first, level 1, faster than git, wall", ratio(&git.wall, &fast.wall), Goal::AtLeast(free));
    report::line("first, level 1, faster than git, cpu", ratio(&git.cpu, &fast.cpu), Goal::AtLeast(4.0));
    report::line("first, stored, faster than git, wall", ratio(&git.wall, &stored.wall), Goal::AtLeast(12.0));
    let (linked, copied) = copies(size, dir, work);
    let goal = size.pick(Goal::None, Goal::None, Goal::AtMost(1.5));
    report::line("first, stored, against a copy by hard links, wall", ratio(&stored.wall, &linked.wall), goal);
    report::line("first, stored, against a whole copy, wall", ratio(&stored.wall, &copied.wall), Goal::AtMost(1.0));
}

/// What `cp` takes for the same tree, by links and by bytes.
fn copies(size: Size, dir: &Path, work: &Path) -> (Sample, Sample) {
    let (mut linked, mut copied) = (Sample::default(), Sample::default());
    let to = dir.join("copy");
    for _ in 0..size.first_rounds() {
        for (flags, sample) in [("-al", &mut linked), ("-a", &mut copied)] {
            sample.add(timed(|| peer::copy(flags, work, &to)));
            fs::remove_dir_all(&to).expect("scratch");
        }
    }
    (linked, copied)
}

/// Gives the median of our turn in milliseconds.
fn unchanged(size: Size, work: &Path, repo: &Path, ours: &mut Checkpoints, unsynced: &mut Checkpoints) -> f64 {
    let (mut mine, mut git, mut walk) = (Sample::default(), Sample::default(), Sample::default());
    let mut like_git = Sample::default();
    for n in 0..size.rounds() {
        git.add(timed(|| peer::turn(repo, work, 100 + n)));
        walk.add(timed(|| floor::walk(work)));
        mine.add(timed(|| snapshot(ours)));
        like_git.add(timed(|| snapshot(unsynced)));
    }
    let goal = Goal::AtLeast(size.pick(7.0, 3.0, 3.0));
    report::line("no change, faster than git, wall", ratio(&git.wall, &mine.wall), goal);
    report::line("no change, unsynced as git's, faster than git, wall", ratio(&git.wall, &like_git.wall), goal);
    let goal = size.pick(Goal::None, Goal::AtMost(1.2), Goal::AtMost(1.2));
    report::line("no change, against a statx walk, wall", ratio(&mine.wall, &walk.wall), goal);
    report::line("no change, against a statx walk, cpu", ratio(&mine.cpu, &walk.cpu), goal);
    let beyond_ms = (report::median(&mine.wall) - report::median(&walk.wall)) * 1e3;
    report::line("no change, beyond the walk, ms", beyond_ms, size.pick(Goal::AtMost(1.0), Goal::None, Goal::None));
    let beyond_ms = (report::median(&like_git.wall) - report::median(&walk.wall)) * 1e3;
    report::line("no change, unsynced, beyond the walk, ms", beyond_ms, Goal::None);
    report::median(&mine.wall) * 1e3
}

fn ten_edits(
    size: Size,
    dir: &Path,
    work: &Path,
    repo: &Path,
    (ours, unsynced): (&mut Checkpoints, &mut Checkpoints),
    idle_ms: f64,
) {
    let (mut mine, mut git, mut like_git) = (Sample::default(), Sample::default(), Sample::default());
    let (store, before) = (dir.join("store"), report::disk_bytes(&dir.join("store")));
    let git_before = report::disk_bytes(repo);
    for n in 0..size.rounds() {
        trees::edit(work, size, n, 10);
        git.add(timed(|| peer::turn(repo, work, 1000 + n)));
        mine.add(timed(|| snapshot(ours)));
        like_git.add(timed(|| snapshot(unsynced)));
        settle();
    }
    let goal = Goal::AtLeast(size.pick(5.0, 4.0, 3.5));
    report::line("ten edits, faster than git, wall", ratio(&git.wall, &mine.wall), goal);
    report::line("ten edits, unsynced as git's, faster than git, wall", ratio(&git.wall, &like_git.wall), goal);
    report::line("ten edits, faster than git, cpu", ratio(&git.cpu, &mine.cpu), Goal::None);
    let beyond_ms = report::median(&mine.wall) * 1e3 - idle_ms;
    report::line("ten edits, beyond no change, ms", beyond_ms, Goal::AtMost(size.pick(5.0, 5.0, 15.0)));
    let growth = (report::disk_bytes(&store) - before) as f64 / (report::disk_bytes(repo) - git_before) as f64;
    report::line("ten edits, growth against loose git", growth, Goal::AtMost(0.35));
}

fn restores(size: Size, work: &Path, repo: &Path, ours: &mut Checkpoints) {
    for (files, goal) in [(10, Goal::AtLeast(3.5)), (1200, Goal::AtLeast(2.5))] {
        if files > size.files() {
            continue;
        }
        let (mut mine, mut applied, mut git) = (Sample::default(), Sample::default(), Sample::default());
        for n in 0..size.first_rounds().max(3) {
            snapshot(ours);
            let turn = ours.reader().expect("a store").turn(TurnRef::Latest).expect("a turn").turn;
            peer::turn(repo, work, 5000 + files * 100 + n * 10);
            for by_us in [false, true] {
                trees::edit(work, size, 777 + n, files);
                snapshot(ours);
                settle();
                if by_us {
                    let (planning, plan) = timed_with(|| plan(ours, turn));
                    let applying = timed(|| apply(ours, &plan));
                    mine.add((planning.0 + applying.0, planning.1 + applying.1));
                    applied.add(applying);
                } else {
                    let tag = 5000 + files * 100 + n * 10;
                    git.add(timed(|| peer::safe_restore(repo, work, tag)));
                    snapshot(ours);
                }
            }
            peer::turn(repo, work, 5000 + files * 100 + n * 10 + 5);
        }
        let what = format!("restore of {files} files, faster than safe git");
        report::line(&what, ratio(&git.wall, &applied.wall), goal);
        report::line(&format!("{what}, with its plan"), ratio(&git.wall, &mine.wall), Goal::None);
    }
}

fn plan(ours: &mut Checkpoints, turn: u32) -> RestorePlan {
    ours.plan_restore(TurnRef::Turn(turn), &Scope::default(), &Cancel::new()).expect("a plan")
}

fn apply(ours: &mut Checkpoints, plan: &RestorePlan) {
    let restored = ours.apply_restore(plan, ConflictPolicy::Stop, &Cancel::new()).expect("a restore");
    assert!(restored.is_exact(), "{restored:?}");
}

fn listing(dir: &Path, ours: &Checkpoints) {
    let reader = ours.reader().expect("a store");
    let turns = reader.turns().expect("a list");
    let (mut mine, mut git) = (Sample::default(), Sample::default());
    let numbers: Vec<u32> = turns.iter().map(|turn| turn.turn).collect();
    for _ in 0..5 {
        mine.add(timed(|| drop(reader.turns().expect("a list"))));
        git.add(timed(|| peer::diff_each(&dir.join("store/repo.git"), &numbers)));
    }
    report::line(
        &format!("list of {} turns, faster than a git diff each", turns.len()),
        ratio(&git.wall, &mine.wall),
        Goal::AtLeast(50.0),
    );
}
