//! Which paths are inside a session, and whose each file is.

use super::*;

fn path(text: &str) -> SessionPath {
    SessionPath::new(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn s03_a_path_that_could_lead_out_of_the_session_is_none() {
    let long = "a".repeat(256);
    let deep = "a/".repeat(2_048) + "a";
    let rules = [
        ("", PathRule::Part),
        ("/etc/passwd", PathRule::Absolute),
        ("..", PathRule::Dots),
        ("../x", PathRule::Dots),
        ("tmp/../../x", PathRule::Dots),
        ("tmp/.", PathRule::Dots),
        ("tmp//x", PathRule::Part),
        ("tmp/", PathRule::Part),
        ("tmp\\x", PathRule::Separator),
        ("tmp/a\0b", PathRule::Control),
        ("tmp/a\nb", PathRule::Control),
        (&long, PathRule::Part),
        (&deep, PathRule::TooLong),
    ];
    for (text, rule) in rules {
        assert_eq!(SessionPath::new(text).map_err(|error| error.rule), Err(rule), "{text:?}");
    }
    for text in ["history.jsonl", ".meta.json", "tmp/...", "tmp/木", "checkpoints/repo.git/refs/tags/turn-1"] {
        assert_eq!(path(text).as_str(), text);
    }
}

#[test]
fn each_rule_is_told_in_its_own_words() {
    let rules = [
        (PathRule::TooLong, "it is too long"),
        (PathRule::Absolute, "it starts at the root"),
        (PathRule::Part, "a part of it is empty or too long"),
        (PathRule::Dots, "a part of it leads elsewhere"),
        (PathRule::Separator, "it has a backslash"),
        (PathRule::Control, "it has a control character"),
        (PathRule::Encoding, "it is not UTF-8"),
    ];
    for (rule, said) in rules {
        let error = SessionPathError { path: "tmp/a\\b".into(), rule };
        assert_eq!(error.to_string(), format!("\"tmp/a\\\\b\" is no path inside a session: {said}"));
    }
}

#[test]
fn a_path_is_below_the_session_and_in_the_directory_that_it_begins_with() {
    let shell = path("tmp/0001-shell.txt");
    assert_eq!((shell.as_str(), shell.to_string().as_str()), ("tmp/0001-shell.txt", "tmp/0001-shell.txt"));
    assert_eq!(std::path::Path::new("oaks").join(&shell), std::path::Path::new("oaks/tmp/0001-shell.txt"));
    for (text, dir, is_in) in [
        ("tmp/0001-shell.txt", "tmp", true),
        ("tmp/deep/x", "tmp", true),
        ("tmp/deep/x", "deep", false),
        ("tmp", "tmp", false),
        ("tmp-old/x", "tmp", false),
        ("old/tmp/x", "tmp", false),
    ] {
        assert_eq!(path(text).is_in(dir), is_in, "{text} in {dir}");
    }
}

#[test]
fn what_is_the_machines_stays_and_everything_else_goes_along() {
    let machines = [
        ".lock",
        ".meta.lock",
        ".rewind",
        ".bundle",
        ".tmp-meta.json-0123456789abcdef",
        "tmp/.tmp-x-0123456789abcdef",
        "proc/turn.pid",
        "proc/.turn",
        "proc/.turn.start",
        "checkpoints/lock",
        "checkpoints/statcache",
        "checkpoints/restore.journal",
        "checkpoints/.index/pack-1.idx",
        ".remote/state.json",
        "checkpoints/repo.git/config",
        "checkpoints/.git/config",
        "checkpoints/.git/hooks/post-checkout",
        "checkpoints/repo.git/objects/info/alternates",
        "checkpoints/repo.git/refs/heads/turns.lock",
        "checkpoints/repo.git/objects/pack/tmp_pack_1",
    ];
    for text in machines {
        assert_eq!(path(text).belongs(), Belongs::Machine, "{text}");
    }
    let sessions = [
        "history.jsonl",
        "meta.json",
        "meta.json.bad-20260102T030405Z",
        ".meta.json",
        ".repair",
        ".raw/unknown.jsonl",
        ".quarantine/history-0-5-1",
        ".backup/scrub-1/meta.json",
        "inbox/1-2",
        "inbox/.failed/1-2-3",
        "tmp/lock",
        "tmp/config",
        "proc/bg1.log",
        "proc/bg1.exit",
        "proc/.bg1.cut",
        "proc/old/bg1.json",
        "checkpoints/meta.json",
        "checkpoints/turns.jsonl",
        "checkpoints/rescued/config",
        "checkpoints/.git/index",
        "checkpoints/repo.git/HEAD",
        "checkpoints/repo.git/objects/ab/cd",
    ];
    for text in sessions {
        assert_eq!(path(text).belongs(), Belongs::Session, "{text}");
    }
    for text in ["proc/bg1.json", "proc/.bg1.id"] {
        assert_eq!(path(text).belongs(), Belongs::Process, "{text}");
    }
    assert_eq!(path("inbox/.claims/1-2.0a@7-9-b").belongs(), Belongs::Claim);
}
