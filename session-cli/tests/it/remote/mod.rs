//! Copies in an object store, by the program itself, on a small S3 server.

mod kills;

use crate::support::{Ran, SESSION, Scratch, eventually, json};
use session_testing::s3::S3;
use std::process::{Command, Stdio};

/// The program on a machine: a store of its own, one server.
fn command(scratch: &Scratch, server: &S3, machine: &str, words: &[&str]) -> Command {
    let mut command = scratch.command(SESSION);
    command.env("KVIT_CODER_SESSIONS_DIR", scratch.store().join(machine)).env("SESSION_MACHINE", machine);
    command.env("SESSION_REMOTE", "s3://bucket/team").env("AWS_ENDPOINT_URL", server.endpoint());
    command.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "here").env("AWS_ACCESS_KEY_ID", "oak-key-id");
    command.env("AWS_SECRET_ACCESS_KEY", "oak-secret").args(words).stdin(Stdio::null());
    command
}

fn run(scratch: &Scratch, server: &S3, machine: &str, words: &[&str]) -> Ran {
    Ran::of(&command(scratch, server, machine, words).output().expect("the program was built"))
}

fn ok(scratch: &Scratch, server: &S3, machine: &str, words: &[&str]) -> String {
    let ran = run(scratch, server, machine, words);
    assert_eq!(ran.code, 0, "{machine} {words:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

const SAY: &str =
    r#"echo "{\"role\":\"user\",\"content\":\"$SESSION_MACHINE\"}" | "$SESSION" append "$KVIT_SESSION" > /dev/null"#;

#[test]
fn a_turn_keeps_other_machines_out_and_leaves_them_what_it_did() {
    let (scratch, server) = (Scratch::new(), S3::start());
    let holding = scratch.work().join("holding");
    for machine in ["oak", "elm"] {
        ok(&scratch, &server, machine, &["new", "demo"]);
    }
    let script = format!("{SAY}; touch holding; while test -e holding; do sleep 0.02; done");
    let words = ["turn", "demo", "--remote", "--", "sh", "-c", &script];
    let mut turn = command(&scratch, &server, "oak", &words).spawn().expect("the program was built");
    eventually("the turn runs", || holding.exists());
    let refused = run(&scratch, &server, "elm", &["turn", "demo", "--remote", "--", "true"]);
    assert_eq!(refused.code, 5, "{}", refused.stderr);
    assert!(refused.stderr.contains("leased to oak"), "{}", refused.stderr);
    assert_eq!(run(&scratch, &server, "elm", &["push", "demo"]).code, 5);
    std::fs::remove_file(&holding).expect("it is there");
    assert!(turn.wait().expect("it ends").success());

    ok(&scratch, &server, "elm", &["turn", "demo", "--remote", "--", "sh", "-c", SAY]);
    ok(&scratch, &server, "oak", &["pull", "demo"]);
    let said = ok(&scratch, &server, "oak", &["load", "demo"]);
    assert!(said.contains("\"oak\"") && said.contains("\"elm\""), "{said}");
    let shown = json(&ok(&scratch, &server, "elm", &["remote", "show", "demo", "--json"]));
    assert_eq!((&shown["fence"], shown["leased_to"].is_null()), (&2.into(), true), "{shown}");
}

#[test]
fn a_turn_that_was_killed_keeps_its_lease_and_its_events() {
    let (scratch, server) = (Scratch::new(), S3::start());
    ok(&scratch, &server, "oak", &["new", "demo"]);
    let script = format!("{SAY}; touch holding; sleep 60");
    let words = ["turn", "demo", "--remote", "--", "sh", "-c", &script];
    let mut turn = command(&scratch, &server, "oak", &words).spawn().expect("the program was built");
    eventually("the turn runs", || scratch.work().join("holding").exists());
    turn.kill().expect("it runs");
    turn.wait().expect("it ends");
    let refused = run(&scratch, &server, "oak", &["push", "demo"]);
    assert_eq!(refused.code, 5, "nobody knows that it is dead: {}", refused.stderr);
    assert!(ok(&scratch, &server, "oak", &["load", "demo"]).contains("oak"), "what it said is here");
}

#[test]
fn credentials_are_in_no_object_and_in_no_error() {
    let (scratch, server) = (Scratch::new(), S3::start());
    ok(&scratch, &server, "oak", &["new", "demo"]);
    ok(&scratch, &server, "oak", &["notice", "demo", "rain"]);
    ok(&scratch, &server, "oak", &["push", "demo"]);
    let holds = |text: &str| text.contains("oak-secret") || text.contains("oak-key-id");
    for bytes in server.objects().values() {
        assert!(!holds(&String::from_utf8_lossy(bytes)));
    }
    server.dies_at(0, session_testing::s3::Trouble::Status(403));
    let refused = run(&scratch, &server, "oak", &["remote", "list"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("403") && !holds(&refused.stderr), "{}", refused.stderr);
    assert!(!refused.stderr.contains("AWSAccessKeyId"), "{}", refused.stderr);
}

#[test]
fn several_are_sent_by_a_filter_and_one_that_fails_keeps_no_other_back() {
    let (scratch, server) = (Scratch::new(), S3::start());
    for name in ["ash", "birch", "cedar"] {
        for machine in ["oak", "elm"] {
            ok(&scratch, &server, machine, &["new", name]);
            ok(&scratch, &server, machine, &["notice", name, machine]);
        }
    }
    ok(&scratch, &server, "elm", &["push", "birch"]);
    let ran = run(&scratch, &server, "oak", &["push", "--all", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let document = json(&ran.stdout);
    assert_eq!(document["copies"].as_array().map(Vec::len), Some(2), "{document}");
    assert_eq!(document["diagnostics"][0]["session"], "birch", "{document}");
    let listed = ok(&scratch, &server, "elm", &["remote", "list", "--names-only"]);
    assert_eq!(
        listed.lines().filter_map(|line| line.split('\t').next()).collect::<Vec<_>>(),
        ["ash", "birch", "cedar"]
    );
}

#[test]
fn a_leased_copy_is_removed_by_force_only() {
    let (scratch, server) = (Scratch::new(), S3::start());
    ok(&scratch, &server, "oak", &["new", "demo"]);
    let words = ["turn", "demo", "--remote", "--", "sh", "-c", &format!("{SAY}; touch holding; sleep 60")];
    let mut turn = command(&scratch, &server, "oak", &words).spawn().expect("the program was built");
    eventually("the turn runs", || scratch.work().join("holding").exists());
    turn.kill().expect("it runs");
    turn.wait().expect("it ends");
    let leased = ok(&scratch, &server, "elm", &["remote", "list", "--leased", "--by", "oak"]);
    assert!(leased.starts_with("demo\t"), "{leased}");
    assert_eq!(ok(&scratch, &server, "elm", &["remote", "list", "--by", "elm"]), "");
    for words in [&["remote", "rm", "demo", "-y"][..], &["remote", "rm", "demo", "-n"]] {
        let refused = run(&scratch, &server, "elm", words);
        assert_eq!(refused.code, 5, "{}", refused.stderr);
        assert!(refused.stderr.contains("leased to oak") && refused.stderr.contains("--force"), "{}", refused.stderr);
    }
    ok(&scratch, &server, "elm", &["remote", "rm", "demo", "-y", "--force"]);
    assert_eq!(ok(&scratch, &server, "elm", &["remote", "list", "--names-only"]), "");
}
