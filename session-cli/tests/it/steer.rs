//! Steering a running turn with the program itself.

use crate::support::{Ran, SESSION, Scratch};
use serde_json::Value;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A scratch store with sessions in which nothing has happened.
fn with(names: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    names.iter().for_each(|name| assert_eq!(scratch.ok(&["new", name]), format!("{name}\n")));
    scratch
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the program prints JSON")
}

/// A turn that runs a script and ends when it is dropped.
struct Turn(Child);

impl Turn {
    fn start(scratch: &Scratch, session: &str, script: &str) -> Self {
        let mut command = scratch.command(SESSION);
        command.args(["turn", session, "--", "sh", "-c", script]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program was built");
        let turn = Turn(child);
        until(|| scratch.ok(&["active"]).lines().any(|line| line.starts_with(&format!("{session}\t"))));
        turn
    }

    /// Lets the script read the end of its input, and waits for the end of the turn.
    fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("it is our child").success());
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn until(is_so: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < limit, "it does not come to that");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What an agent written in shell does before each request to the model. `sed` stands for its JSON library.
const TAKE: &str = r#"take() {
    session inbox "$KVIT_SESSION" drain > drained
    sed 's/^{"id":"\([^"]*\)","kind":"[^"]*","text":\(".*"\),"at":"[^"]*"}$/{"role":"user","content":\2,"x":{"inbox":["\1"]}}/' drained |
        session append "$KVIT_SESSION" --no-sync >/dev/null
    sed 's/^{"id":"\([^"]*\)".*/\1/' drained | xargs -r session inbox "$KVIT_SESSION" ack
}
"#;

/// What the live messages say.
fn texts(scratch: &Scratch, session: &str) -> Vec<String> {
    let loaded = scratch.ok(&["load", session]);
    loaded.lines().map(|line| json(line)["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn id_of(ran: &str) -> &str {
    ran.split('\t').nth(1).expect("the id is the second field")
}

#[test]
fn the_one_session_with_a_live_turn_is_found_and_otherwise_the_answer_says_what_is_missing() {
    let scratch = with(&["elms", "oaks", "pines"]);
    let none = scratch.run(&["steer", "use tabs"]);
    assert!(none.code == 5 && none.stderr.contains("-s SESSION --queue"), "{none:?}");
    let idle = scratch.run(&["steer", "-s", "oaks", "use tabs"]);
    assert!(idle.code == 5 && idle.stderr.contains("--queue"), "{idle:?}");
    assert_eq!(scratch.ok(&["steer", "--list"]), "", "nothing was sent");

    let oaks = Turn::start(&scratch, "oaks", "cat");
    let sent = scratch.ok(&["steer", "use tabs"]);
    assert!(sent.starts_with("oaks\t") && sent.ends_with("\tqueued\n"), "{sent}");
    let elms = Turn::start(&scratch, "elms", "cat");
    let several = scratch.run(&["steer", "use tabs"]);
    assert!(several.code == 4 && several.stderr.contains("elms, oaks"), "{several:?}");
    assert!(scratch.ok(&["steer", "-s", "elms", "and spaces"]).starts_with("elms\t"));
    assert!(scratch.ok(&["steer", "-s", "pines", "--queue", "later"]).starts_with("pines\t"));
    let listed = scratch.ok(&["steer", "--list"]);
    let sessions: Vec<&str> = listed.lines().map(|line| line.split('\t').next().expect("a field")).collect();
    assert_eq!(sessions, ["elms", "oaks", "pines"]);
    oaks.end();
    elms.end();
}

#[test]
fn a_file_that_is_dropped_by_hand_reaches_the_conversation() {
    let scratch = with(&["oaks"]);
    let script =
        format!("{TAKE} echo hi > \"$KVIT_SESSION_DIR/inbox/x\"; echo ho > \"$KVIT_SESSION_DIR/inbox/y\"; take; take");
    let ran = scratch.run(&["turn", "oaks", "--", "sh", "-c", &script]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(texts(&scratch, "oaks"), ["hi", "ho"]);
    assert_eq!(scratch.ok(&["steer", "--list"]), "");
}

#[test]
fn i03_the_receipt_names_the_event_and_waiting_ends_with_the_acknowledgement() {
    let scratch = with(&["oaks"]);
    let turn = Turn::start(&scratch, "oaks", &format!("{TAKE} while [ ! -s drained ]; do take; done; cat"));
    let document = json(&scratch.ok(&["steer", "--wait=60s", "use tabs", "--json"]));
    let history = fs::read_to_string(scratch.store().join("oaks/history.jsonl")).expect("it is text");
    let offset = usize::try_from(document["offset"].as_u64().expect("it was delivered")).expect("it is small");
    let line = history[offset..].lines().next().expect("a line begins there");
    let recorded_as = document["recorded_as"].as_str().expect("it was delivered");
    assert!(line.contains("use tabs") && line.contains(recorded_as), "{line}");
    assert!(recorded_as.starts_with(document["id"].as_str().expect("it has an id")), "{document}");
    let told = ["schema", "session", "result", "expires"].map(|member| document[member].clone());
    assert_eq!(told, ["session/steer.v1".into(), "oaks".into(), "delivered".into(), Value::Null]);
    assert!(document["turn"].is_string() && document["pid"].is_u64(), "{document}");
    turn.end();
}

#[test]
fn i03_a_message_for_one_turn_or_for_a_time_is_refused_or_expires() {
    let scratch = with(&["oaks"]);
    let turn = Turn::start(&scratch, "oaks", "cat");
    let id = json(&scratch.ok(&["active", "--json"]))["sessions"][0]["turn"].as_str().expect("it has an id").to_owned();
    let other = scratch.run(&["steer", "--expect-turn", "t0", "use tabs"]);
    assert!(other.code == 5 && other.stderr.contains(&id), "{other:?}");
    assert_eq!(scratch.ok(&["steer", "--list"]), "", "nothing was sent");

    let timed_out = scratch.run(&["steer", "--expect-turn", &id, "--wait=30ms", "use tabs"]);
    assert!(timed_out.code == 124 && timed_out.stdout.ends_with("\tqueued\n"), "{timed_out:?}");
    let expired = scratch.run(&["steer", "--ttl", "30ms", "--wait", "too late"]);
    assert!(expired.code == 1 && expired.stdout.ends_with("\texpired\n"), "{expired:?}");
    let listed = scratch.ok(&["steer", "-s", "oaks", "--list", "--json"]);
    let messages = json(&listed)["messages"].clone();
    assert_eq!((messages.as_array().map(Vec::len), messages[0]["turn"].as_str()), (Some(1), Some(id.as_str())));
    turn.end();

    let next = format!("{TAKE} take");
    let next = scratch.run(&["turn", "oaks", "--", "sh", "-c", &next]);
    assert!(next.code == 0 && next.stderr.contains("for the turn"), "{next:?}");
    assert!(!scratch.store().join("oaks/history.jsonl").exists(), "no turn was given anything");
}

#[test]
fn a_message_is_taken_back_and_what_became_of_the_others_is_said() {
    let scratch = with(&["elms", "oaks"]);
    let queue = |text: &str| scratch.ok(&["steer", "-s", "oaks", "--queue", text]);
    let (first, second) = (queue("one"), queue("two"));
    let cancel = |words: &[&str]| scratch.run(&[&["steer", "--cancel"], words].concat());
    let word = |ran: &Ran| (ran.code, ran.stdout.trim_end().rsplit('\t').next().expect("a field").to_owned());
    assert_eq!(word(&cancel(&[id_of(&first)])), (0, "cancelled".into()));
    assert_eq!(word(&cancel(&[id_of(&first)])), (1, "gone".into()));
    assert_eq!(word(&cancel(&[id_of(&second), "-s", "elms"])), (1, "gone".into()));
    let take = format!("{TAKE} take");
    assert_eq!(scratch.run(&["turn", "oaks", "--", "sh", "-c", &take]).code, 0);
    assert_eq!(word(&cancel(&[id_of(&second), "-s", "oaks"])), (1, "delivered".into()));
    let expired = scratch.run(&["steer", "-s", "oaks", "--queue", "--ttl=1ms", "--wait", "three"]);
    assert_eq!(word(&expired), (1, "expired".into()));
    assert_eq!(word(&cancel(&[id_of(&expired.stdout), "-s", "oaks"])), (1, "expired".into()));
    for name in ["../oaks/meta.json", ".claims", "", "/etc/passwd"] {
        assert_eq!(word(&cancel(&[name, "-s", "oaks"])).0, 1, "{name:?}");
    }
    assert!(scratch.store().join("oaks/meta.json").exists());
    assert_eq!(texts(&scratch, "oaks"), ["two"]);
}

#[test]
fn what_is_no_message_is_refused_before_anything_is_sent() {
    let scratch = with(&["oaks"]);
    let steer =
        |words: &[&str], input: &str| scratch.run_with(&[&["steer", "-s", "oaks", "--queue"], words].concat(), input);
    assert_eq!(steer(&[" \n"], "").code, 2);
    assert_eq!(steer(&["-"], "").code, 2);
    assert_eq!(steer(&["-"], &"x".repeat(70_000)).code, 2);
    assert_eq!(steer(&[], "").code, 2);
    assert_eq!(steer(&["a", "--expect-turn", "t"], "").code, 2);
    assert_eq!(scratch.ok(&["steer", "--list"]), "");
    assert_eq!(steer(&["-"], "two\nlines\n").code, 0);
    assert_eq!(json(&scratch.ok(&["steer", "--list", "--json"]))["messages"][0]["text"], "two\nlines\n");
}

#[test]
fn i03_steering_a_turn_that_ends_at_the_same_moment_never_says_delivered_without_the_history() {
    let rounds = session_testing::usually(12, 300);
    let scratch = with(&["oaks"]);
    let mut queued = Vec::new();
    let mut delivered = Vec::new();
    for round in 0..rounds {
        let text = format!("message {round}");
        let turn = Turn::start(&scratch, "oaks", &format!("{TAKE} read line; take"));
        let mut command = scratch.command(SESSION);
        command.args(["steer", "-s", "oaks", "--wait=60s", &text]).stdout(Stdio::piped()).stderr(Stdio::null());
        let steer = command.spawn().expect("the program was built");
        turn.end();
        let answer = steer.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&answer.stdout).into_owned();
        match (answer.status.code(), said.trim_end().rsplit('\t').next()) {
            (Some(0), Some("delivered")) => {
                assert!(texts(&scratch, "oaks").contains(&text), "{round}: {said}");
                delivered.push(text);
            }
            (Some(1), Some("queued")) => {
                assert!(!texts(&scratch, "oaks").contains(&text), "{round}: {said}");
                assert!(scratch.ok(&["steer", "--list"]).contains(&text), "{round}: {said}");
                scratch.ok(&["steer", "-s", "oaks", "--cancel", id_of(&said)]);
                queued.push(text);
            }
            // The turn was over before the message was sent.
            (Some(5), _) => assert_eq!(scratch.ok(&["steer", "--list"]), "", "{round}"),
            other => panic!("{round}: {other:?}"),
        }
    }
    assert_eq!(texts(&scratch, "oaks"), delivered, "and nothing is there that was not said to be; queued: {queued:?}");
}
