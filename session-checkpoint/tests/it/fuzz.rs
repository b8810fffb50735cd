//! Random work, and a plain copy as the oracle: every turn equals the copy made beside it, and so does every restore.
//!
//! A sample runs always; `SESSION_LONG_TESTS=1` runs ten thousand sequences. `SESSION_FUZZ_SEED` and
//! `SESSION_FUZZ_COUNT` choose others.

use crate::support::{Lab, Node, State, git_command, scratch, state};
use session_checkpoint::{Cancel, Checkpoints, ConflictPolicy, Durability, Options, Secrets};
use std::fs;
use std::path::{Path, PathBuf};

/// A small generator: the same seed gives the same sequence everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn path(&mut self) -> String {
        let depth = self.roll(3);
        let mut path = String::new();
        for _ in 0..depth {
            path += &format!("d{}/", self.roll(3));
        }
        path + &format!("{}{}", ["f", "d", "x.log"][usize::try_from(self.roll(3)).expect("small")], self.roll(3))
    }
}

/// Removes whatever stands in the way of a path, and the path itself.
fn clear(root: &Path, rel: &str) {
    let mut at = root.to_owned();
    let parts: Vec<&str> = rel.split('/').collect();
    for (n, part) in parts.iter().enumerate() {
        at.push(part);
        let Ok(meta) = fs::symlink_metadata(&at) else { break };
        let last = n + 1 == parts.len();
        if meta.is_dir() && last {
            fs::remove_dir_all(&at).expect("scratch");
        } else if !meta.is_dir() {
            fs::remove_file(&at).expect("scratch");
        }
    }
    fs::create_dir_all(at.parent().expect("a parent"))
        .or_else(|_| fs::create_dir_all(root.join(rel).parent().expect("a parent")))
        .expect("scratch");
    fs::create_dir_all(root.join(rel).parent().expect("a parent")).expect("scratch");
}

fn files(root: &Path) -> Vec<PathBuf> {
    state(root).into_iter().filter(|(_, node)| matches!(node, Node::File { .. })).map(|(path, _)| path).collect()
}

/// One file that there is, if there is one.
fn some_file(root: &Path, dice: &mut Dice) -> Option<PathBuf> {
    let all = files(root);
    let count = u64::try_from(all.len()).expect("few");
    (count > 0).then(|| root.join(&all[usize::try_from(dice.roll(count)).expect("few")]))
}

/// One of a few.
fn one_of<T: Copy, const N: usize>(dice: &mut Dice, all: [T; N]) -> T {
    all[usize::try_from(dice.roll(N as u64)).expect("few")]
}

/// One of the directories that files are put into, if it is there.
fn some_dir(root: &Path, dice: &mut Dice) -> Option<PathBuf> {
    let dir = root.join(format!("d{}", dice.roll(3)));
    fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_dir()).then_some(dir)
}

fn one_edit(lab: &Lab, dice: &mut Dice) {
    let root = &lab.workspace;
    let path = dice.path();
    match dice.roll(12) {
        0..=2 => {
            clear(root, &path);
            fs::write(root.join(&path), format!("{}", dice.roll(6))).expect("scratch");
        }
        3..=4 => edit_a_file(root, dice),
        5 => {
            clear(root, &path);
            let target = one_of(dice, ["nowhere", "d0", "..", "/etc/passwd", "f0"]);
            std::os::unix::fs::symlink(target, root.join(&path)).expect("scratch");
        }
        6 => clear(root, &path),
        7 => {
            clear(root, &path);
            fs::create_dir_all(root.join(&path)).expect("scratch");
        }
        8 => move_a_file(root, dice),
        9 => {
            if let Some(dir) = some_dir(root, dice) {
                fs::remove_dir_all(dir).expect("scratch");
            }
        }
        10 => {
            let rules = one_of(dice, ["*.log*\n", "d1/\n", "", "/f0\n!f0\n", "f*\n!f1\n"]);
            let file = format!("{}.gitignore", one_of(dice, ["", "d0/", "d2/"]));
            clear(root, &file);
            if dice.roll(3) != 0 {
                fs::write(root.join(file), rules).expect("scratch");
            }
        }
        _ => {
            if let Some(dir) = some_dir(root, dice) {
                fs::create_dir_all(dir.join(".git/objects")).expect("scratch");
            }
        }
    }
}

/// Other bytes, of the same size most of the time, or another mode.
fn edit_a_file(root: &Path, dice: &mut Dice) {
    let Some(file) = some_file(root, dice) else { return };
    if dice.roll(2) == 0 {
        fs::write(file, format!("{}", dice.roll(10))).expect("scratch");
    } else {
        crate::support::chmod(&file, one_of(dice, [0o644, 0o755, 0o600, 0o700]));
    }
}

fn move_a_file(root: &Path, dice: &mut Dice) {
    let Some(file) = some_file(root, dice) else { return };
    let to = dice.path();
    let bytes = fs::read(&file).expect("it is there");
    let mode = fs::metadata(&file).expect("it is there").permissions();
    fs::remove_file(&file).expect("scratch");
    clear(root, &to);
    fs::write(root.join(&to), bytes).expect("scratch");
    fs::set_permissions(root.join(&to), mode).expect("scratch");
}

/// What is captured of a workspace, by the oracle: everything that git would not ignore, and its directories.
fn captured(lab: &Lab, now: &State) -> State {
    if !now.keys().any(|path| path.file_name().is_some_and(|name| name == ".gitignore")) {
        return now.clone();
    }
    // A repository beside the workspace: nested ones inside must not stop git from looking into them.
    let copy = scratch();
    for (path, node) in now {
        let to = copy.path().join(path);
        match node {
            Node::Dir => fs::create_dir_all(&to).expect("scratch"),
            Node::File { .. } | Node::Link(_) | Node::Other => {
                fs::create_dir_all(to.parent().expect("a parent")).expect("scratch");
                let from = lab.workspace.join(path);
                match node {
                    Node::Link(target) => std::os::unix::fs::symlink(target, &to).expect("scratch"),
                    _ => drop(fs::copy(from, &to).expect("scratch")),
                }
            }
        }
    }
    let run = |args: &[&str]| {
        let output = git_command(lab.dir.path()).current_dir(copy.path()).args(args).output().expect("git runs");
        String::from_utf8(output.stdout).expect("the names are text")
    };
    run(&["init", "-q"]);
    let listed = run(&["ls-files", "-z", "--others", "--exclude-standard"]);
    let listed: std::collections::BTreeSet<PathBuf> =
        listed.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    let ignored = run(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
    let out_dirs: Vec<PathBuf> = ignored.split('\0').filter(|path| path.ends_with('/')).map(PathBuf::from).collect();
    now.iter()
        .filter(|(path, node)| match node {
            Node::Dir => false,
            _ => {
                let rule = path.file_name().is_some_and(|name| name == ".gitignore");
                listed.contains(*path) || (rule && !out_dirs.iter().any(|dir| path.starts_with(dir)))
            }
        })
        .map(|(path, node)| (path.clone(), node.clone()))
        .collect()
}

fn leaves(state: &State) -> State {
    state.iter().filter(|(_, node)| **node != Node::Dir).map(|(path, node)| (path.clone(), node.clone())).collect()
}

fn stored(lab: &Lab, turn: u32) -> State {
    use session_checkpoint::{Mode, TurnRef};
    let reader = lab.checkpoints.reader().expect("a store");
    let files = reader.files(TurnRef::Turn(turn)).expect("a turn");
    files
        .into_iter()
        .map(|file| {
            let bytes = reader.read(TurnRef::Turn(turn), &file.path).expect("a turn").expect("it is there").bytes;
            let node = match file.mode {
                Mode::Link => Node::Link(PathBuf::from(String::from_utf8(bytes).expect("text"))),
                mode => Node::File { bytes, exec: mode == Mode::Exec },
            };
            (file.path.as_path().to_owned(), node)
        })
        .collect()
}

fn one_sequence(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let threads = std::num::NonZeroUsize::new(if seed.is_multiple_of(2) { 1 } else { 2 });
    let set = |options: &mut Options| {
        options.secrets = Secrets::Capture;
        options.durability = Durability::None;
        options.threads = threads;
        options.max_packs = 3;
    };
    let mut lab = Lab::with(set);
    let with_rules = seed.is_multiple_of(4);
    let mut turns: Vec<(u32, State)> = Vec::new();
    for _ in 0..3 + dice.roll(5) {
        for _ in 0..1 + dice.roll(6) {
            let before = dice.0;
            one_edit(&lab, &mut dice);
            if !with_rules && files(&lab.workspace).iter().any(|path| path.ends_with(".gitignore")) {
                // Without rules everything is captured, and restores are compared whole.
                let all = files(&lab.workspace);
                all.iter().filter(|path| path.ends_with(".gitignore")).for_each(|path| {
                    fs::remove_file(lab.workspace.join(path)).expect("scratch");
                });
            }
            assert_ne!(before, 0, "a generator at zero stays there");
        }
        let turn = lab.snapshot().turn;
        let now = lab.state();
        assert_eq!(stored(&lab, turn), leaves(&captured(&lab, &now)), "seed {seed}, turn {turn}");
        turns.push((turn, now));
        match dice.roll(4) {
            0 => restore_one(&mut lab, &turns, &mut dice, with_rules, seed),
            1 => {
                let (checkpoints, _) = Checkpoints::open(lab.checkpoints.options().clone()).expect("a good store");
                lab.checkpoints = checkpoints;
            }
            2 if dice.roll(3) == 0 => {
                lab.checkpoints
                    .maintain(std::time::Duration::from_secs(60), &Cancel::new())
                    .map(drop)
                    .expect("maintenance");
            }
            _ => {}
        }
    }
    for _ in 0..3 {
        restore_one(&mut lab, &turns, &mut dice, with_rules, seed);
    }
    if seed.is_multiple_of(10) {
        lab.fsck();
    }
}

fn restore_one(lab: &mut Lab, turns: &[(u32, State)], dice: &mut Dice, with_rules: bool, seed: u64) {
    let count = u64::try_from(turns.len()).expect("few");
    let (turn, wanted) = &turns[usize::try_from(dice.roll(count)).expect("few")];
    let before = lab.state();
    let restored = lab.try_restore(session_checkpoint::TurnRef::Turn(*turn), ConflictPolicy::Force);
    let restored = restored.unwrap_or_else(|error| panic!("seed {seed}, turn {turn}: {error:?}"));
    assert!(restored.is_exact() && restored.raced.is_empty(), "seed {seed}, turn {turn}: {restored:?}");
    let after = lab.state();
    if with_rules {
        // What rules left out may stay; what the turn holds must be there.
        let held = stored(lab, *turn);
        for (path, node) in &held {
            assert_eq!(after.get(path), Some(node), "seed {seed}, turn {turn}: {}", path.display());
        }
        let rescued = !restored.rescued.is_empty();
        for (path, node) in leaves(&before) {
            let gone = !after.contains_key(&path) && !held.contains_key(&path);
            let was_then = wanted.get(&path).is_some();
            assert!(
                !gone || !was_then || rescued,
                "seed {seed}: {} was there then and was deleted: {node:?}",
                path.display()
            );
        }
    } else {
        same(lab, &after, wanted, &format!("seed {seed}, turn {turn}"));
    }
    if dice.roll(2) == 0 && restored.rescued.is_empty() {
        let undone = lab.checkpoints.undo(ConflictPolicy::Stop, &Cancel::new());
        let undone = undone.unwrap_or_else(|error| panic!("seed {seed}, undo of turn {turn}: {error:?}"));
        assert!(undone.is_exact(), "seed {seed}: {undone:?}");
        if with_rules {
            assert_eq!(leaves(&lab.state()), leaves(&before), "seed {seed}, undo of turn {turn}");
        } else {
            same(lab, &lab.state(), &before, &format!("seed {seed}, undo of turn {turn}"));
        }
    }
}

/// The same files and links, and no empty directory too many. One too few may hold another repository's `.git`, which
/// nobody deletes.
fn same(lab: &Lab, now: &State, wanted: &State, what: &str) {
    assert_eq!(leaves(now), leaves(wanted), "{what}");
    let there = |path: &PathBuf| fs::symlink_metadata(lab.workspace.join(path)).is_ok_and(|meta| meta.is_dir());
    let dirs = |state: &State| state.keys().filter(|path| state[*path] == Node::Dir).cloned().collect::<Vec<_>>();
    assert!(dirs(wanted).iter().all(there), "{what}: {wanted:?} and not {now:?}");
    assert!(dirs(now).iter().all(|dir| wanted.contains_key(dir)), "{what}: {wanted:?} and not {now:?}");
}

#[test]
fn ck35_random_work_is_captured_and_restored_as_a_plain_copy_would_be() {
    let long = session_testing::is_long();
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("SESSION_FUZZ_SEED").unwrap_or(0);
    let count: u64 = number("SESSION_FUZZ_COUNT").unwrap_or(if long { 10_000 } else { 40 });
    for seed in first..first + count {
        one_sequence(seed);
    }
}
