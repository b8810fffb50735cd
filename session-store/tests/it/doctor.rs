//! The doctor: every kind of finding, where it is, and that looking changes nothing.

use crate::scratch::{Scratch, Sleeper, at_second, dead, identity_json, name, picture, user};
use session_core::Place;
use session_store::{Deletion, Finding, FindingCode, Severity, Store, StoreError};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

fn found(store: &Store) -> Vec<(FindingCode, String)> {
    let findings = store.doctor().expect("the store can be read").findings;
    findings.iter().map(|finding| (finding.code, finding.session.clone().unwrap_or_default())).collect()
}

fn of(scratch: &Scratch, session: &str) -> Vec<Finding> {
    let examined = scratch.store().doctor_sessions(&[name(session)]).expect("it exists");
    assert_eq!(examined.sessions, 1);
    examined.findings
}

fn codes(scratch: &Scratch, session: &str) -> Vec<FindingCode> {
    of(scratch, session).iter().map(|finding| finding.code).collect()
}

#[test]
fn a_store_in_order_has_no_findings() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let session = store.create(&Default::default()).expect("it can be created");
    scratch.put(session.paths().history(), user(1, "plant"));
    assert_eq!(store.doctor().expect("it can be read").findings, []);
}

#[test]
fn bad_lines_are_found_with_line_and_offset() {
    let scratch = Scratch::new();
    let first = user(1, "a");
    scratch.session(
        "demo",
        &[
            first.clone(),
            "not json\n".into(),
            "{\"kind\":\"rollback\",\"dropped\":1}\n".into(),
            user(2, "b").replace('\n', "\r\n"),
            "{\"kind\":\"message\",\"mess".into(),
        ],
    );
    let findings = of(&scratch, "demo");
    let places: Vec<_> = findings.iter().map(|finding| (finding.code, finding.place.map(|place| place.line))).collect();
    assert_eq!(
        places,
        [
            (FindingCode::BadLine, Some(Some(2))),
            (FindingCode::OddLine, Some(Some(4))),
            (FindingCode::TornTail, Some(Some(5))),
            (FindingCode::UncertainReplay, None),
        ]
    );
    assert_eq!(findings[0].place, Some(Place { line: Some(2), offset: first.len() as u64 }));
    assert_eq!((findings[0].severity, findings[0].fixable), (Severity::Error, false));
    assert_eq!(findings[0].path, scratch.path("demo/history.jsonl"));
    assert_eq!(findings[0].session.as_deref(), Some("demo"));
}

#[test]
fn h11_calls_and_results_that_do_not_match_are_found() {
    let call = |ids: &[&str]| {
        let calls: Vec<_> = ids
            .iter()
            .map(|id| {
                format!(
                    "{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"Shell\",\"arguments\":\"\"}}}}"
                )
            })
            .collect();
        format!(
            "{{\"kind\":\"message\",\"message\":{{\"role\":\"assistant\",\"tool_calls\":[{}]}}}}\n",
            calls.join(",")
        )
    };
    let result = |id: &str| {
        format!(
            "{{\"kind\":\"tool_result\",\"message\":{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"x\"}}}}\n"
        )
    };
    let rollback = |n: u32| format!("{{\"kind\":\"rollback\",\"dropped\":{n}}}\n");
    use FindingCode::{CallWithoutResult, RepeatedCallId, ResultWithoutCall};
    for (session, history, wanted) in [
        ("whole", vec![call(&["c1", "c2"]), result("c2"), result("c1"), call(&["c3"]), result("c3")], vec![]),
        ("open-end", vec![user(1, "a"), call(&["c1"])], vec![CallWithoutResult]),
        ("half", vec![call(&["c1", "c2"]), result("c2"), user(1, "a")], vec![CallWithoutResult]),
        ("early", vec![result("c1"), call(&["c1"])], vec![ResultWithoutCall, CallWithoutResult]),
        ("rolled-back", vec![call(&["c1"]), result("c1"), rollback(1)], vec![CallWithoutResult]),
        ("all-rolled-back", vec![call(&["c1"]), rollback(1)], vec![]),
        ("twice", vec![call(&["c1"]), result("c1"), result("c1")], vec![ResultWithoutCall]),
        ("repeated", vec![call(&["c1"]), result("c1"), call(&["c1"]), result("c1")], vec![RepeatedCallId]),
    ] {
        let scratch = Scratch::new();
        scratch.session(session, &history);
        assert_eq!(codes(&scratch, session), wanted, "{session}");
    }
}

#[test]
fn m09_metadata_that_names_another_session_is_found() {
    let scratch = Scratch::new();
    scratch.session("copied", &[user(1, "a")]);
    scratch.put("copied/meta.json", "{\"name\":\"original\"}");
    scratch.session("own", &[user(1, "a")]);
    scratch.put("own/meta.json", "{\"name\":\"own\"}");
    assert_eq!(found(&scratch.store()), [(FindingCode::MetaName, "copied".to_owned())]);
}

#[test]
fn s04_whoever_else_may_read_is_found_once_for_a_session() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "a")]);
    scratch.put("demo/tmp/spill", "much");
    fs::set_permissions(scratch.path("demo/tmp/spill"), Permissions::from_mode(0o640)).expect("it is ours");
    fs::set_permissions(scratch.path("demo"), Permissions::from_mode(0o755)).expect("it is ours");
    let findings = of(&scratch, "demo");
    let [finding] = &findings[..] else { panic!("one finding: {findings:?}") };
    assert_eq!((finding.code, finding.fixable), (FindingCode::LooseMode, true));
    assert!(finding.text.contains("0755") && finding.text.contains("1 more"), "{}", finding.text);
}

#[test]
fn h10_circles_of_parents_and_successors_are_found_and_end() {
    let scratch = Scratch::new();
    for (session, link) in [("a", "b"), ("b", "c"), ("c", "a"), ("self", "self"), ("fine", "a-root"), ("a-root", "")] {
        scratch.session(session, &[user(1, "a")]);
        scratch.put(format!("{session}/meta.json"), format!("{{\"name\":\"{session}\",\"parent\":\"{link}\"}}"));
    }
    for session in ["a", "b", "c", "self"] {
        assert_eq!(codes(&scratch, session), [FindingCode::ParentLoop], "{session}");
    }
    assert_eq!(codes(&scratch, "fine"), []);
    scratch.put("fine/meta.json", "{\"name\":\"fine\",\"succeeded_by\":\"fine\"}");
    assert_eq!(codes(&scratch, "fine"), [FindingCode::SuccessorLoop]);
    for dangling in ["nobody", "../../etc", "c/../a"] {
        scratch.put("fine/meta.json", format!("{{\"name\":\"fine\",\"succeeded_by\":\"{dangling}\"}}"));
        assert_eq!(codes(&scratch, "fine"), [FindingCode::DanglingSuccessor], "{dangling}");
    }
}

#[test]
fn an_unknown_session_is_an_error_and_a_broken_one_is_not() {
    let scratch = Scratch::new();
    scratch.dir("broken/history.jsonl");
    scratch.session("good", &[user(1, "a")]);
    assert!(matches!(scratch.store().doctor_sessions(&[name("nobody")]), Err(StoreError::NotFound { .. })));
    let examined = scratch.store().doctor().expect("the store can be read");
    assert_eq!(examined.sessions, 2);
    let findings: Vec<_> = examined.findings.iter().map(|finding| (finding.code, finding.path.clone())).collect();
    assert_eq!(findings, [(FindingCode::Unreadable, scratch.path("broken/history.jsonl"))]);
}

/// A store with something of everything.
fn everything() -> Scratch {
    let scratch = Scratch::new();
    let store = scratch.store();
    scratch.session("deleted", &[user(1, "a")]);
    store.trash(&name("deleted"), "", Deletion::Careful).expect("nothing forbids it");
    scratch.put(".session-store/trash/stray", "");
    scratch.put(".session-store/staging/half", "");

    scratch.session("lines", &[
        "not json\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"},{\"id\":\"c\"}]}}\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"tool\",\"tool_call_id\":\"d\"}}\r\n".into(),
        "{\"kind\":\"rollback\",\"dropped\":1}\n".into(),
        "not json\n".into(),
        "{\"kind\":\"rollback\",\"dropped\":9}\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"},{\"id\":\"c\"}]}}\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"tool\",\"tool_call_id\":\"d\"}}\n".into(),
        user(1, "torn").trim_end().to_owned(),
    ]);
    scratch.put("lines/.quarantine/1-x", "half");
    scratch
        .session("newer", &["{\"ts\":\"2999-03-01T00:00:00Z\",\"kind\":\"x.session\",\"x\":{\"format\":99}}\n".into()]);
    scratch.put_at("bad-meta/meta.json", "{\"name\":", at_second(1));
    scratch.put("bad-meta/meta.json.bad-20260102T030405Z", "{\"name\":");
    scratch.put("other-name/meta.json", "{\"name\":\"somebody\",\"succeeded_by\":\"nobody\"}");
    scratch.put("loop/meta.json", "{\"name\":\"loop\",\"succeeded_by\":\"loop\",\"parent\":\"loop\"}");
    let made_for = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.session\",\"x\":{\"format\":1,\"parent\":\"left\",\"compacts\":true}}\n";
    scratch.session("unlinked", &[made_for.into(), user(1, "a summary")]);
    scratch.put("unlinked/meta.json", "{\"name\":\"unlinked\",\"parent\":\"left\"}");
    scratch.put("left/.rewind", "{}");
    scratch.put("turn/proc/turn.pid", "2147483647\n");
    scratch.put("inbox/inbox/1-a", "hi");
    scratch.put("inbox/inbox/.claims/1-a", "hi");
    scratch.put("inbox/inbox/.failed/1-a", "hi");
    scratch.put("left/.tmp-meta.json-0123456789abcdef", "");
    scratch.dir("unreadable/history.jsonl");
    scratch.put("-rf/history.jsonl", "");
    symlink("nowhere", scratch.path("link.jsonl")).expect("it is ours");

    let flat = "{\"role\":\"user\",\"content\":\"a\"}\n";
    for session in ["waiting", "interrupted", "migrated", "shadowed"] {
        scratch.put(format!("{session}.jsonl"), flat.repeat(2));
    }
    scratch.session("interrupted", &[user(1, "a")]);
    scratch.session("migrated", &[user(1, "a"), user(2, "a"), user(3, "b")]);
    scratch.session("shadowed", &[user(1, "b")]);
    let loose = scratch.session("loose", &[user(1, "a")]);
    fs::set_permissions(loose, Permissions::from_mode(0o755)).expect("it is ours");
    scratch
}

/// A session with processes: one without a record, one whose turn is over, and one that a record takes for running.
fn with_processes(scratch: &Scratch) -> [Sleeper; 2] {
    let proc = scratch.dir("processes/proc");
    let lost = Sleeper::run(
        Command::new("sleep").arg("600").env("SESSION_STORE_PROCESS", format!("0f:3:bg1:{}", proc.display())),
    );
    let left = Sleeper::start();
    let now = session_core::format_time(&chrono::Utc::now().fixed_offset());
    let record = |id: &str, pid: u32| {
        let record = format!(
            "{{\"id\":\"{id}\",\"command\":\"sleep 600\",\"cwd\":\"/\",\"pid\":{pid},\"started\":\"{now}\",\"state\":\"running\"}}"
        );
        scratch.put(format!("processes/proc/{id}.json"), record);
    };
    record("bg2", 2_147_483_647);
    record("bg3", left.pid());
    let (process, over) = (identity_json(&left.identity()), identity_json(&dead()));
    let dossier = format!(
        "{{\"origin\":{{\"token\":\"1f\",\"name\":\"\",\"command\":\"sleep 600\",\"cwd\":\"/\",\"lifetime\":\"ephemeral\",\
         \"log_cap_bytes\":65536,\"claimed\":\"{now}\",\"starter\":{over},\"turn\":{{\"id\":\"t1\",\"process\":{over}}}}},\
         \"process\":{process},\"started\":\"{now}\"}}"
    );
    scratch.put("processes/proc/.bg3.id", dossier);
    [lost, left]
}

#[test]
fn p08_processes_that_nobody_answers_for_and_records_that_are_not_true_are_found() {
    let scratch = Scratch::new();
    scratch.session("processes", &[user(1, "a")]);
    let [lost, left] = with_processes(&scratch);
    scratch.put_at("processes/proc/bg1.exit", "0", at_second(1));
    let findings = of(&scratch, "processes");
    let found: Vec<_> = findings.iter().map(|finding| (finding.code, finding.path.clone(), &*finding.text)).collect();
    let proc = scratch.path("processes/proc");
    let wanted = [
        (
            FindingCode::LostProcess,
            proc.clone(),
            format!("process {} (sleep) runs, and there is no record of bg1, as which it was started", lost.pid()),
        ),
        (
            FindingCode::LeftProcess,
            proc.join("bg3.json"),
            "bg3 (sleep 600) runs, and the turn that started it is over".to_owned(),
        ),
        (FindingCode::StaleRecord, proc.join("bg2.json"), "the record of bg2 does not say that it is gone".to_owned()),
        (FindingCode::Leftover, proc.join("bg1.exit"), "a file of a background process that there is not".to_owned()),
    ];
    assert_eq!(found, wanted.iter().map(|(code, path, text)| (*code, path.clone(), &**text)).collect::<Vec<_>>());
    assert!(left.is_live() && lost.is_live());
    scratch.put("processes/proc/bg4.json", "{\"id\":");
    assert!(of(&scratch, "processes").iter().any(|finding| finding.code == FindingCode::Unreadable));
}

#[test]
fn every_kind_of_finding_can_be_found_and_looking_changes_nothing() {
    let scratch = everything();
    let _running = with_processes(&scratch);
    let before = picture(scratch.outside());
    let found: BTreeSet<_> = found(&scratch.store()).into_iter().map(|(code, _)| code).collect();
    let missing: Vec<_> = FindingCode::ALL.iter().filter(|code| !found.contains(code)).collect();
    assert_eq!(missing, Vec::<&FindingCode>::new());
    assert_eq!(picture(scratch.outside()), before);
}

#[test]
fn codes_are_stable_and_told_apart() {
    let codes: BTreeSet<_> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes.len(), FindingCode::ALL.len());
    assert!(codes.iter().all(|code| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}
