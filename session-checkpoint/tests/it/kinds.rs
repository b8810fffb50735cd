//! Things that are no plain files: links, directories, specials, holes, other repositories.

use crate::support::{Lab, fingerprint, git_command};
use session_checkpoint::{ConflictPolicy, SkipReason, TurnRef};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

#[test]
fn ck05_links_are_stored_as_links_and_their_targets_stay() {
    let mut lab = Lab::new();
    let outside = lab.dir.path().join("outside");
    fs::write(&outside, "precious").expect("scratch");
    fs::create_dir(lab.path("dir")).expect("scratch");
    lab.write("dir/f", "x");
    for (target, name) in [("dir/f", "file"), ("dir", "to-dir"), ("nowhere", "dangling"), ("loop", "loop")] {
        lab.link(target, name);
    }
    lab.link(&outside, "absolute");
    lab.snapshot();
    let before = lab.state();
    lab.remove("file");
    lab.link("elsewhere", "file");
    lab.remove("absolute");
    lab.write("absolute", "a file now");
    lab.remove("loop");
    lab.snapshot();
    lab.restore(1);
    assert_eq!(lab.state(), before);
    assert_eq!(fs::read_to_string(outside).expect("it is there"), "precious");
    assert_eq!(lab.git(&["ls-tree", "turn-1", "absolute"]).split(' ').next(), Some("120000"));
}

#[test]
fn ck06_a_directory_that_became_a_link_to_outside_is_replaced_and_outside_is_untouched() {
    let mut lab = Lab::new();
    let victim = lab.dir.path().join("victim");
    fs::create_dir(&victim).expect("scratch");
    fs::write(victim.join("f"), "victim's").expect("scratch");
    lab.write("d/f", "ours");
    lab.write("d/deep/g", "ours too");
    lab.snapshot();
    let (before, outside) = (lab.state(), fingerprint(&victim));
    lab.remove("d");
    lab.link(&victim, "d");
    lab.snapshot();
    lab.restore(1);
    assert_eq!(lab.state(), before);
    assert_eq!(fingerprint(&victim), outside);
    lab.undo();
    assert!(fs::symlink_metadata(lab.path("d")).expect("it is there").is_symlink());
    assert_eq!(fingerprint(&victim), outside);
}

#[test]
fn c14_a_link_planted_in_a_parent_after_the_plan_is_not_written_through() {
    let mut lab = Lab::new();
    let victim = lab.dir.path().join("victim");
    fs::create_dir(&victim).expect("scratch");
    lab.write("d/f", "old");
    lab.write("keep", "x");
    lab.snapshot();
    lab.write("d/f", "new");
    lab.snapshot();
    let cancel = session_checkpoint::Cancel::new();
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &Default::default(), &cancel).expect("a plan");
    fs::rename(lab.path("d"), lab.path("moved")).expect("scratch");
    lab.link(&victim, "d");
    for policy in [ConflictPolicy::Stop, ConflictPolicy::KeepMine, ConflictPolicy::Force] {
        drop(lab.checkpoints.apply_restore(&plan, policy, &cancel));
        assert_eq!(fs::read_dir(&victim).expect("it is there").count(), 0, "{policy:?}");
    }
}

#[test]
fn ck07_files_directories_and_links_swap_places_both_ways() {
    let mut lab = Lab::new();
    lab.write("a", "file");
    lab.write("b/x", "in a directory");
    lab.write("b/y/z", "deeper");
    lab.link("a", "c");
    fs::create_dir(lab.path("e")).expect("scratch");
    lab.write("same", "same");
    lab.snapshot();
    let one = lab.state();
    for name in ["a", "b", "c", "e"] {
        lab.remove(name);
    }
    lab.write("a/x", "now a directory");
    lab.write("b", "now a file");
    lab.write("c/d/e", "now a directory");
    lab.link("same", "e");
    lab.snapshot();
    let two = lab.state();
    for _ in 0..2 {
        lab.restore(1);
        assert_eq!(lab.state(), one);
        lab.restore(2);
        assert_eq!(lab.state(), two);
    }
    lab.fsck();
}

fn git(lab: &Lab, dir: &str, args: &[&str]) {
    let output = git_command(lab.dir.path()).current_dir(lab.path(dir)).args(args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn ck08_c13_files_of_nested_repositories_are_captured_and_their_git_is_untouched() {
    let mut lab = Lab::new();
    for dir in ["vendor/lib", "dirty", "unborn"] {
        fs::create_dir_all(lab.path(dir)).expect("scratch");
        git(&lab, dir, &["init", "-q"]);
        lab.write(format!("{dir}/x"), "one");
    }
    for dir in ["vendor/lib", "dirty"] {
        git(&lab, dir, &["add", "-A"]);
        git(&lab, dir, &["commit", "-qm", "x"]);
    }
    lab.write("dirty/x", "dirty");
    git(&lab, "vendor/lib", &["worktree", "add", "-q", "../../wt"]);
    fs::create_dir(lab.path("bare")).expect("scratch");
    git(&lab, "bare", &["init", "-q", "--bare"]);
    let gits = ["vendor/lib/.git", "dirty/.git", "unborn/.git"];
    let untouched = |lab: &Lab| gits.map(|dir| fingerprint(&lab.path(dir)));
    let (before, worktree) = (untouched(&lab), fs::read(lab.path("wt/.git")).expect("a file"));
    let turn = lab.snapshot();
    let told: Vec<String> = turn.nested.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["dirty/.git", "unborn/.git", "vendor/lib/.git", "wt/.git"]);
    for path in ["vendor/lib/x", "dirty/x", "unborn/x", "wt/x", "bare/HEAD"] {
        assert!(lab.paths(1).contains(&path.to_owned()), "{path} is not captured");
    }
    assert!(!lab.paths(1).iter().any(|path| path.contains(".git")));
    for path in ["vendor/lib/x", "dirty/x", "unborn/x", "wt/x"] {
        lab.write(path, "edited");
    }
    lab.snapshot();
    lab.restore(1);
    assert_eq!((lab.read("vendor/lib/x"), lab.read("dirty/x")), ("one".to_owned(), "dirty".to_owned()));
    assert_eq!(untouched(&lab), before);
    assert_eq!(fs::read(lab.path("wt/.git")).expect("a file"), worktree);
    lab.fsck();
}

#[test]
fn ck09_c15_specials_are_told_and_never_opened() {
    let mut lab = Lab::new();
    nix::unistd::mkfifo(&lab.path("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("scratch");
    let _socket = std::os::unix::net::UnixListener::bind(lab.path("socket")).expect("scratch");
    let mut names = vec!["fifo", "socket"];
    if crate::support::is_root() {
        let kind = nix::sys::stat::SFlag::S_IFCHR;
        let made =
            nix::sys::stat::mknod(&lab.path("null"), kind, nix::sys::stat::Mode::S_IRWXU, nix::libc::makedev(1, 3));
        if made.is_ok() {
            names.insert(1, "null");
        }
    }
    lab.write("f", "x");
    // A FIFO without a writer would block whoever opens it: that the snapshot returns is the claim.
    let turn = lab.snapshot();
    let told: Vec<String> = turn.skipped.iter().map(|skipped| skipped.path.to_string()).collect();
    assert_eq!(told, names);
    assert!(turn.skipped.iter().all(|skipped| skipped.reason == SkipReason::Special) && turn.complete);
    lab.write("g", "y");
    lab.snapshot();
    lab.restore(1);
    let kind = |name: &str| fs::symlink_metadata(lab.path(name)).expect("it is there").file_type();
    assert!(kind("fifo").is_fifo() && kind("socket").is_socket());
}

#[test]
fn ck12_a_sparse_file_of_ten_gibibytes_is_skipped_without_being_read() {
    let mut lab = Lab::new();
    let file = fs::File::create(lab.path("sparse")).expect("scratch");
    file.set_len(10 << 30).expect("scratch");
    let turn = lab.snapshot();
    assert_eq!(turn.skipped[0].reason, SkipReason::TooBig);
    assert_eq!((turn.skipped[0].size, turn.bytes), (10 << 30, 0));
    assert_eq!(fs::metadata(lab.path("sparse")).expect("it is there").blocks(), 0);
}

#[test]
fn ck24_c04_empty_directories_come_and_go_with_their_turns() {
    let mut lab = Lab::new();
    fs::create_dir_all(lab.path("empty/inner")).expect("scratch");
    fs::create_dir_all(lab.path("stays")).expect("scratch");
    lab.write("a", "1");
    lab.snapshot();
    let one = lab.state();
    lab.remove("empty");
    fs::create_dir_all(lab.path("later/inner")).expect("scratch");
    lab.write("b/c/d", "2");
    lab.remove("a");
    lab.snapshot();
    let two = lab.state();
    lab.restore(1);
    assert_eq!(lab.state(), one);
    lab.restore(2);
    assert_eq!(lab.state(), two);
    lab.undo();
    assert_eq!(lab.state(), one);
}

#[test]
fn ck26_a_hard_linked_partner_keeps_what_it_had() {
    let mut lab = Lab::new();
    lab.write("f", "old");
    lab.snapshot();
    lab.write("f", "new");
    let partner = lab.dir.path().join("partner");
    fs::hard_link(lab.path("f"), &partner).expect("scratch");
    lab.snapshot();
    lab.restore(1);
    assert_eq!(
        (lab.read("f"), fs::read_to_string(partner).expect("it is there")),
        ("old".to_owned(), "new".to_owned())
    );
}

#[test]
fn ck38_the_right_to_run_as_somebody_else_does_not_pass_to_other_content() {
    let mut lab = Lab::new();
    for text in ["old", "new"] {
        lab.write("tool", text);
        lab.chmod("tool", 0o755);
        lab.write("untouched", "x");
        lab.chmod("untouched", 0o4755);
        lab.snapshot();
    }
    for mode in [0o4755, 0o2755, 0o6755, 0o1755] {
        lab.chmod("tool", mode);
        lab.restore(1);
        assert_eq!((lab.read("tool").as_str(), lab.mode("tool")), ("old", 0o755), "{mode:o}");
        lab.restore(2);
    }
    assert_eq!(lab.mode("untouched"), 0o4755);
}

#[test]
fn ck38_bits_other_than_exec_stay_on_a_file_that_survives() {
    let mut lab = Lab::new();
    for (name, mode) in [("secret", 0o600), ("readonly", 0o444), ("group", 0o664), ("tool", 0o750)] {
        lab.write(name, "old");
        lab.chmod(name, mode);
    }
    lab.snapshot();
    for name in ["secret", "readonly", "group", "tool"] {
        let mode = lab.mode(name);
        lab.chmod(name, 0o644);
        lab.write(name, "new");
        lab.chmod(name, mode);
    }
    lab.snapshot();
    lab.restore(1);
    assert_eq!(["secret", "readonly", "group", "tool"].map(|name| lab.mode(name)), [0o600, 0o444, 0o664, 0o750]);
    assert_eq!(lab.read("readonly"), "old");
}

#[test]
fn identical_files_keep_their_inode_and_time() {
    let mut lab = Lab::new();
    lab.write("same", "x");
    lab.write("d/same", "x");
    lab.write("f", "1");
    lab.snapshot();
    lab.write("f", "2");
    lab.snapshot();
    let id = |path: &Path| fs::metadata(path).map(|meta| (meta.ino(), meta.mtime(), meta.mtime_nsec())).expect("there");
    let before = ["same", "d/same"].map(|name| id(&lab.path(name)));
    let restored = lab.restored(1);
    assert_eq!(["same", "d/same"].map(|name| id(&lab.path(name))), before);
    assert_eq!((restored.restored, restored.unchanged), (1, 2));
}

#[test]
fn an_unchanged_restore_writes_nothing() {
    let mut lab = Lab::new();
    lab.write("d/f", "x");
    lab.snapshot();
    let before = fingerprint(&lab.workspace);
    let restored = lab.restored(1);
    assert_eq!((restored.restored, restored.deleted, restored.unchanged), (0, 0, 1));
    assert_eq!(fingerprint(&lab.workspace), before);
}
