//! The doctor: every kind of finding, where it is, and that looking changes nothing.

use crate::scratch::{Scratch, at_second, name, picture, user};
use crate::sick::{everything, whole, with_processes};
use session_core::Place;
use session_store::{Checkup, Finding, FindingCode, Fix, SessionName, Severity, Store, StoreError};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

fn found(store: &Store) -> Vec<(FindingCode, String)> {
    let findings = store.examine(&Checkup::default()).expect("the store can be read").findings;
    findings.iter().map(|finding| (finding.code, finding.session.clone().unwrap_or_default())).collect()
}

pub(crate) fn asked(sessions: &[SessionName]) -> Checkup<'_> {
    Checkup { sessions: Some(sessions), ..Checkup::default() }
}

pub(crate) fn of(scratch: &Scratch, session: &str) -> Vec<Finding> {
    let examined = scratch.store().examine(&asked(&[name(session)])).expect("it exists");
    assert_eq!(examined.sessions, 1);
    examined.findings
}

pub(crate) fn codes(scratch: &Scratch, session: &str) -> Vec<FindingCode> {
    of(scratch, session).iter().map(|finding| finding.code).collect()
}

#[test]
fn a_store_in_order_has_no_findings() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let session = store.create(&Default::default()).expect("it can be created");
    scratch.put(session.paths().history(), user(1, "plant"));
    assert_eq!(store.examine(&Checkup::default()).expect("it can be read").findings, []);
}

#[test]
fn bad_lines_are_found_with_line_and_offset() {
    let scratch = Scratch::new();
    let first = user(1, "a");
    whole(
        &scratch,
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
    assert_eq!((findings[0].severity, &findings[0].fix), (Severity::Error, &None));
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
        whole(&scratch, session, &history);
        assert_eq!(codes(&scratch, session), wanted, "{session}");
    }
}

#[test]
fn m09_metadata_that_names_another_session_is_found() {
    let scratch = Scratch::new();
    whole(&scratch, "copied", &[user(1, "a")]);
    scratch.put("copied/meta.json", "{\"name\":\"original\"}");
    whole(&scratch, "original", &[user(1, "a")]);
    whole(&scratch, "own", &[user(1, "a")]);
    scratch.put("own/meta.json", "{\"name\":\"own\"}");
    assert_eq!(found(&scratch.store()), [(FindingCode::MetaName, "copied".to_owned())]);
}

#[test]
fn s04_whoever_else_may_read_is_found_once_for_a_session() {
    let scratch = Scratch::new();
    whole(&scratch, "demo", &[user(1, "a")]);
    scratch.put("demo/tmp/spill", "much");
    fs::set_permissions(scratch.path("demo/tmp/spill"), Permissions::from_mode(0o640)).expect("it is ours");
    fs::set_permissions(scratch.path("demo"), Permissions::from_mode(0o755)).expect("it is ours");
    let findings = of(&scratch, "demo");
    let [finding] = &findings[..] else { panic!("one finding: {findings:?}") };
    assert_eq!((finding.code, &finding.fix), (FindingCode::LooseMode, &Some(Fix::Tighten)));
    assert!(finding.text.contains("0755") && finding.text.contains("in another place"), "{}", finding.text);
}

#[test]
fn h10_circles_of_parents_and_successors_are_found_and_end() {
    let scratch = Scratch::new();
    for (session, link) in [("a", "b"), ("b", "c"), ("c", "a"), ("self", "self"), ("fine", "a-root"), ("a-root", "")] {
        whole(&scratch, session, &[user(1, "a")]);
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
    whole(&scratch, "good", &[user(1, "a")]);
    assert!(matches!(scratch.store().examine(&asked(&[name("nobody")])), Err(StoreError::NotFound { .. })));
    let examined = scratch.store().examine(&Checkup::default()).expect("the store can be read");
    assert_eq!(examined.sessions, 2);
    let findings: Vec<_> = examined.findings.iter().map(|finding| (finding.code, finding.path.clone())).collect();
    assert_eq!(findings, [(FindingCode::Unreadable, scratch.path("broken/history.jsonl"))]);
}

#[test]
fn p08_processes_that_nobody_answers_for_and_records_that_are_not_true_are_found() {
    let scratch = Scratch::new();
    whole(&scratch, "processes", &[user(1, "a")]);
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

const CHECKPOINTS: [FindingCode; 4] = [
    FindingCode::CheckpointDamaged,
    FindingCode::CheckpointMissing,
    FindingCode::CheckpointAside,
    FindingCode::RestoreInterrupted,
];

#[test]
fn every_kind_of_finding_can_be_found_and_looking_changes_nothing() {
    let scratch = everything();
    let _running = with_processes(&scratch);
    let before = picture(scratch.outside());
    let found: BTreeSet<_> = found(&scratch.store()).into_iter().map(|(code, _)| code).collect();
    let missing: Vec<_> = FindingCode::ALL.iter().copied().filter(|code| !found.contains(code)).collect();
    // Who knows checkpoints finds these: see the module for them.
    assert_eq!(missing, CHECKPOINTS);
    assert_eq!(picture(scratch.outside()), before);
}

#[test]
fn codes_are_stable_and_told_apart() {
    let codes: BTreeSet<_> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes.len(), FindingCode::ALL.len());
    assert!(codes.iter().all(|code| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}
