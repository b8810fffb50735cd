//! Verbs that only look.

use super::{Garden, fingerprint};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

/// Two turns, and a restore of the first.
fn three_turns() -> Garden {
    let garden = Garden::new();
    garden.write("a", "one\n");
    garden.write("d/b", "same\n");
    garden.ok(&["create", "oaks", "--label", "first"]);
    garden.write("a", "two\n");
    garden.write("c", "new\n");
    garden.ok(&["create", "oaks", "--label", "second\tturn"]);
    garden.ok(&["restore", "oaks", "1", "-y"]);
    garden
}

#[test]
fn the_list_has_turns_and_safety_snapshots_in_their_order() {
    let garden = three_turns();
    let list = garden.ok(&["list", "oaks"]);
    let fields = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = list.lines().map(fields).collect();
    let column = |n: usize| rows.iter().map(|row| row[n].as_str()).collect::<Vec<_>>();
    assert_eq!(column(0), ["1", "2", "safety:1", "3"]);
    assert_eq!(column(2), ["turn", "turn", "safety", "restore"]);
    assert_eq!(column(3), ["first", "second\\tturn", "before restoring turn-1", "restored turn-1"]);
    assert_eq!(column(4), ["2", "2", "0", "2"]);
    assert!(column(1).iter().all(|time| time.ends_with('Z')), "{list}");
    let document = garden.json(&["list", "oaks"]);
    assert_eq!(document["schema"], "session/checkpoint-list.v1");
    let rows = document["checkpoints"].as_array().expect("a list");
    assert_eq!((rows.len(), &rows[3]["restored_from"], &rows[3]["safety"]), (4, &"1".into(), &1.into()));
    assert_eq!((&document["interrupted"], &document["externals"]), (&serde_json::Value::Null, &serde_json::json!([])));
    assert!(rows[0]["time"].as_str().is_some_and(|time| time.ends_with('Z')));
}

#[test]
fn a_safety_snapshot_whose_commit_is_gone_is_listed_as_broken_and_the_others_as_they_are() {
    let garden = three_turns();
    let reference = garden.scratch.store().join("oaks/checkpoints/repo.git/refs/checkpoint/safety/1");
    std::fs::write(reference, "0123456789012345678901234567890123456789\n").expect("scratch");
    let ran = garden.run(&["list", "oaks"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let broken: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("broken")).collect();
    assert!(broken.len() == 1 && broken[0].starts_with("safety:1\t"), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 4);
    let ran = garden.run(&["restore", "oaks", "safety:1", "-y"]);
    assert!(ran.code == 3 && ran.stderr.contains("checkpoint verify"), "{ran:?}");
}

#[test]
fn show_names_what_changed_and_what_is_not_stored() {
    let garden = three_turns();
    assert_eq!(garden.ok(&["show", "oaks", "2"]), "M\ta\t\nA\tc\t\n");
    assert_eq!(garden.ok(&["show", "oaks"]), "M\ta\t\nD\tc\t\n");
    let document = garden.json(&["show", "oaks", "safety:1"]);
    assert_eq!((&document["checkpoint"]["name"], &document["changed"]), (&"safety:1".into(), &serde_json::json!([])));
    garden.write(".env", "KEY=1");
    garden.create();
    assert_eq!(garden.ok(&["show", "oaks"]), "!\t.env\tsecret\n");
}

#[test]
fn diffs_are_what_git_takes_between_turns_safeties_and_the_disk() {
    let garden = three_turns();
    let diff = garden.ok(&["diff", "oaks", "1", "2"]);
    assert!(
        diff.starts_with("diff --git a/a b/a\n") && diff.contains("\n-one\n+two\n") && diff.contains("new file"),
        "{diff}"
    );
    assert_eq!(garden.ok(&["diff", "oaks", "2", "safety:1"]), "");
    assert_eq!(garden.ok(&["diff", "oaks"]), "");
    garden.write("d/b", "changed\n");
    garden.write("a", "changed\n");
    assert_eq!(garden.ok(&["diff", "oaks", "--stat"]), "a\t1\t1\tM\nd/b\t1\t1\tM\n");
    assert_eq!(garden.ok(&["diff", "oaks", "latest", "disk", "--stat", "--", "d"]), "d/b\t1\t1\tM\n");
    let document = garden.json(&["diff", "oaks", "1", "--", "d/../d/b"]);
    assert_eq!((&document["from"], &document["to"]), (&"1".into(), &"disk".into()));
    assert_eq!(document["files"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        [garden.run(&["diff", "oaks", "disk", "1"]).code, garden.run(&["diff", "oaks", "1", "--", "/../x"]).code],
        [2, 0]
    );
    let patch = garden.scratch.command("sh").args(["-c", "session checkpoint diff oaks | git apply -R"]).output();
    let patch: Output = patch.expect("there is a shell");
    assert!(patch.status.success(), "{patch:?}");
    assert_eq!((garden.read("a"), garden.read("d/b")), ("one\n".to_owned(), "same\n".to_owned()));
}

#[test]
fn a_diff_in_a_pipe_is_byte_for_byte() {
    let garden = Garden::new();
    garden.write("a", "x\n");
    garden.create();
    garden.write("a", b"\x1b[31m\xff\r\n");
    let command = garden.scratch.command(crate::support::SESSION).args(["checkpoint", "diff", "oaks"]).output();
    let output = command.expect("the program was built");
    let wanted = b"\n-x\n+\x1b[31m\xff\r\n";
    assert!(output.stdout.windows(wanted.len()).any(|window| window == wanted), "{output:?}");
}

#[test]
fn what_is_not_there_is_no_answer_and_no_session_is_another_one() {
    let garden = Garden::new();
    for words in [&["show", "oaks"][..], &["diff", "oaks"], &["verify", "oaks"], &["prune", "oaks", "--keep", "1"]] {
        let ran = garden.run(words);
        let wanted = if words[0] == "verify" { 0 } else { 1 };
        assert_eq!(ran.code, wanted, "{words:?}: {ran:?}");
    }
    assert_eq!((garden.ok(&["list", "oaks"]), garden.run(&["list", "pines"]).code), (String::new(), 4));
    assert!(!garden.store().join("repo.git").exists(), "looking makes nothing");
    garden.create();
    assert_eq!([garden.run(&["show", "oaks", "9"]).code, garden.run(&["show", "oaks", "x"]).code], [1, 2]);
    assert_eq!(garden.run(&["diff", "oaks", "1", "safety:1"]).code, 1);
}

const LOOKS: [&[&str]; 10] = [
    &["list", "oaks"],
    &["show", "oaks", "2"],
    &["diff", "oaks", "1", "2"],
    &["diff", "oaks"],
    &["du", "oaks"],
    &["verify", "oaks", "--contents"],
    &["restore", "oaks", "2", "-n"],
    &["restore", "oaks", "1", "-n", "--only-mine"],
    &["undo", "oaks", "-n"],
    &["prune", "oaks", "--keep", "1", "-n"],
];

#[test]
fn l06_verbs_that_look_work_on_a_store_that_cannot_be_written_and_write_nothing() {
    let garden = three_turns();
    garden.write("a", "edited\n");
    let before = fingerprint(&garden.scratch.store(), true);
    for words in LOOKS {
        let ran = garden.run(words);
        assert!(ran.code == 0, "{words:?}: {ran:?}");
        assert_eq!(fingerprint(&garden.scratch.store(), true), before, "{words:?}");
    }
    let was: Vec<_> = garden.run(&["restore", "oaks", "2", "-n"]).stdout.lines().map(str::to_owned).collect();
    assert_eq!(was, ["write c", "conflict a: edited since"]);
    let read_only = |mode_dir, mode_file| {
        for path in before.keys() {
            let mode = if path.is_dir() { mode_dir } else { mode_file };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        }
    };
    read_only(0o500, 0o400);
    let codes: Vec<i32> = LOOKS.iter().map(|words| on_a_read_only_mount(&garden, words)).collect();
    read_only(0o700, 0o600);
    assert_eq!(codes, [0; LOOKS.len()]);
}

/// Root writes whatever the modes say: it gets a mount that says no.
fn on_a_read_only_mount(garden: &Garden, words: &[&str]) -> i32 {
    if !nix::unistd::geteuid().is_root() {
        return garden.run(words).code;
    }
    let script = "mount --bind \"$KVIT_CODER_SESSIONS_DIR\" \"$KVIT_CODER_SESSIONS_DIR\" && \
                  mount -o remount,bind,ro \"$KVIT_CODER_SESSIONS_DIR\" && \
                  ! touch \"$KVIT_CODER_SESSIONS_DIR/x\" 2>/dev/null && exec session checkpoint \"$@\"";
    let mut command = garden.scratch.command("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).args(words);
    let output = command.output().expect("there is unshare");
    output.status.code().unwrap_or(-1)
}
