//! `session doctor`: exit statuses, documents, and what `--fix` leaves.

use crate::support::{Scratch, json, tree};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

fn session(scratch: &Scratch, name: &str) -> PathBuf {
    scratch.ok(&["new", name]);
    scratch.ok_with(&["append", name], "{\"role\":\"user\",\"content\":\"plant\"}\n");
    scratch.store().join(name)
}

fn damage(scratch: &Scratch, name: &str) {
    let path = scratch.store().join(name).join("history.jsonl");
    let mut history = OpenOptions::new().append(true).open(path).expect("it is ours");
    history.write_all(b"not json\n").expect("there is room");
}

#[test]
fn each_exit_status_says_what_is_left() {
    let scratch = Scratch::new();
    session(&scratch, "oaks");
    let ran = scratch.run(&["doctor"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "1 session, nothing found\n"));
    assert_eq!(scratch.run(&["doctor", "birches"]).code, 4);
    assert_eq!(scratch.run(&["doctor", "-n"]).code, 2);

    damage(&scratch, "oaks");
    let ran = scratch.run(&["doctor", "oaks"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let fields: Vec<&str> = ran.stdout.trim_end_matches('\n').split('\t').collect();
    let path = scratch.store().join("oaks/history.jsonl").display().to_string();
    assert_eq!(fields[..4], ["oaks", "bad-line", "error", "fixable"]);
    assert_eq!((fields[4], fields[5], fields.len()), (path.as_str(), "3", 8));

    let before = tree(&scratch.store());
    assert_eq!(scratch.run(&["doctor", "--fix", "-n"]).code, 1);
    assert_eq!(tree(&scratch.store()), before);
    assert_eq!(scratch.run(&["lock", "oaks", "--", "session", "doctor", "--fix"]).code, 5);
    assert_eq!(tree(&scratch.store())["oaks/history.jsonl"], before["oaks/history.jsonl"]);

    assert_eq!(scratch.run(&["doctor", "--fix"]).code, 0);
    let after = tree(&scratch.store());
    assert_eq!(scratch.run(&["doctor", "--fix"]).code, 0);
    assert_eq!(tree(&scratch.store()), after);
    assert_eq!(scratch.ok(&["load", "oaks"]).lines().count(), 1);

    fs::remove_file(scratch.store().join("oaks/history.jsonl")).expect("it is ours");
    fs::create_dir(scratch.store().join("oaks/history.jsonl")).expect("it is ours");
    let document = json(&scratch.run(&["doctor", "--json"]).stdout);
    assert_eq!((&document["complete"], &document["diagnostics"][0]["code"]), (&false.into(), &"unreadable".into()));
    assert_eq!(scratch.run(&["doctor"]).code, 3);
}

#[test]
fn the_document_says_where_what_and_what_was_done() {
    let scratch = Scratch::new();
    let dir = session(&scratch, "oaks");
    damage(&scratch, "oaks");
    fs::set_permissions(&dir, Permissions::from_mode(0o755)).expect("it is ours");
    let document = json(&scratch.run(&["doctor", "--json"]).stdout);
    assert_eq!(document["schema"], "session/doctor.v1");
    let finding = &document["findings"][0];
    let members: BTreeSet<&str> = finding.as_object().expect("an object").keys().map(String::as_str).collect();
    let wanted = ["code", "fix", "fixable", "fixed", "message", "place", "session", "severity"];
    assert_eq!(members, BTreeSet::from(wanted));
    assert_eq!((&finding["code"], &finding["place"]["line"]), (&"bad-line".into(), &3.into()));
    assert!(finding["place"]["offset"].is_u64() && finding["fixable"] == true && finding["fixed"] == false);

    let document = json(&scratch.run(&["doctor", "--fix", "--json"]).stdout);
    let fixed = document["findings"].as_array().expect("a list").iter().all(|finding| finding["fixed"] == true);
    assert!(fixed && document["complete"] == true, "{document}");
    let repair = &document["repairs"][0];
    assert_eq!((&repair["session"], &repair["busy"], &repair["error"]), (&"oaks".into(), &false.into(), &().into()));
    assert_eq!(repair["done"].as_array().map(Vec::len), Some(2));
    for kept in repair["kept"].as_array().expect("a list") {
        assert!(fs::metadata(kept.as_str().expect("a path")).is_ok_and(|kept| kept.len() > 0), "{kept}");
    }
    let mode = fs::metadata(&dir).expect("it is ours").permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

#[test]
fn nothing_in_a_store_holds_it_up_or_is_followed() {
    let scratch = Scratch::new();
    let dir = session(&scratch, "oaks");
    for fifo in ["history.fifo", "tmp/fifo", "inbox/fifo", "proc/bg9.json", "checkpoints/fifo"] {
        mkfifo(&dir.join(fifo), Mode::from_bits_truncate(0o600)).expect("it is ours");
    }
    mkfifo(&scratch.store().join("fifo.jsonl"), Mode::from_bits_truncate(0o600)).expect("it is ours");
    fs::create_dir(scratch.work().join("outside")).expect("it is ours");
    fs::set_permissions(scratch.work().join("outside"), Permissions::from_mode(0o755)).expect("it is ours");
    symlink(scratch.work().join("outside"), dir.join("tmp/link")).expect("it is ours");
    symlink("nowhere", dir.join("tmp/dangling")).expect("it is ours");
    symlink("nowhere", scratch.store().join("dangling")).expect("it is ours");
    symlink(scratch.work().join("outside"), scratch.store().join("linked")).expect("it is ours");
    for words in [&["doctor"][..], &["doctor", "--deep"], &["doctor", "--fix"]] {
        let ran = scratch.run(words);
        assert!(ran.stdout.contains("not-a-session") && [1, 3].contains(&ran.code), "{words:?}: {ran:?}");
    }
    let mode = fs::metadata(scratch.work().join("outside")).expect("it is ours").permissions().mode() & 0o777;
    assert_eq!(mode, 0o755);
}

#[test]
fn a_checkpoint_that_lost_its_contents_is_found_by_reading_them() {
    let scratch = Scratch::new();
    session(&scratch, "oaks");
    fs::write(scratch.work().join("garden.txt"), "one oak").expect("it is ours");
    scratch.ok(&["checkpoint", "create", "oaks", "--workspace", &scratch.work().display().to_string()]);
    assert_eq!(scratch.run(&["doctor", "--deep"]).code, 0);
    let packs = scratch.store().join("oaks/checkpoints/repo.git/objects/pack");
    let pack = fs::read_dir(packs).expect("there are packs").flatten().map(|entry| entry.path());
    let pack = { pack }.find(|path| path.extension().is_some_and(|ending| ending == "pack")).expect("there is one");
    let mut bytes = fs::read(&pack).expect("it is ours");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::set_permissions(&pack, Permissions::from_mode(0o600)).expect("it is ours");
    fs::write(&pack, bytes).expect("it is ours");
    let ran = scratch.run(&["doctor", "--deep"]);
    assert!(ran.code == 1 && ran.stdout.contains("checkpoint-damaged"), "{ran:?}");
}

#[test]
fn the_page_names_every_code_once() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli/doctor.md")).expect("it is there");
    let table = page.split("## Codes").nth(1).expect("there is a table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let named: Vec<(&str, &str)> =
        rows.map(|(code, rest)| (code, rest.split(" | ").next().unwrap_or_default())).collect();
    let known = session_store::FindingCode::ALL.iter().map(|code| (code.as_str(), code.severity().as_str()));
    assert_eq!(named.iter().copied().collect::<BTreeSet<_>>(), known.collect::<BTreeSet<_>>());
    assert_eq!(named.len(), session_store::FindingCode::ALL.len());
}
