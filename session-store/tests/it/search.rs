//! Searching a store: which sessions, in which order, and what is said of those that could not be searched.

use crate::scratch::{Scratch, at_second, name, picture, touch, unblocked, user};
use session_core::search::{Scope, TextKind};
use session_core::{Limits, parse_time};
use session_store::{
    Case, Damage, Form, Found, HitsOfASession, Liveness, Options, Query, QueryError, SearchOptions, Searched, Store,
    StoreError, Words,
};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn literal(text: &str) -> Query {
    Query::new(text, Form::Literal, Case::Smart, Words::Any).expect("a text is a query")
}

fn regex(text: &str) -> Query {
    Query::new(text, Form::Regex, Case::Smart, Words::Any).expect("it is a regular expression")
}

/// A hit: session, event, liveness, excerpt.
type Row = (String, u64, Option<bool>, String);

fn search_with(store: &Store, query: &Query, options: &SearchOptions) -> (Vec<Row>, Searched) {
    let mut rows = Vec::new();
    let searched = store.search(query, options, &mut |found| {
        if let Found::Hit { session, hit, live, .. } = found {
            rows.push((session.to_owned(), hit.event, live, hit.excerpt.text));
        }
        ControlFlow::Continue(())
    });
    (rows, searched.expect("the store can be read"))
}

fn rows(store: &Store, query: &Query) -> Vec<Row> {
    search_with(store, query, &SearchOptions::default()).0
}

fn texts(store: &Store, query: &Query) -> Vec<String> {
    rows(store, query).into_iter().map(|(.., text)| text).collect()
}

#[test]
fn the_newest_session_comes_first_and_each_from_its_start() {
    let scratch = Scratch::new();
    for n in 0..40 {
        scratch.session(&format!("s{n:02}"), &[user(n, "an oak"), user(n, "birch"), user(n, "oaks")]);
    }
    let hits = rows(&scratch.store(), &literal("oak"));
    let wanted: Vec<(String, u64)> =
        (0..40).rev().flat_map(|n| [1, 3].map(|event| (format!("s{n:02}"), event))).collect();
    assert_eq!(hits.into_iter().map(|(session, event, ..)| (session, event)).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_lower_case_query_finds_both_cases_and_an_upper_case_letter_makes_it_exact() {
    let scratch = Scratch::new();
    scratch.session("trees", &["oak", "Oak", "OAK", "été", "ÉTÉ", r"\u00c9t\u00e9"].map(|text| user(1, text)));
    let found = |text: &str, case| {
        let query = Query::new(text, Form::Literal, case, Words::Any).expect("a text is a query");
        texts(&scratch.store(), &query)
    };
    assert_eq!(found("oak", Case::Smart), ["oak", "Oak", "OAK"]);
    assert_eq!(found("Oak", Case::Smart), ["Oak"]);
    assert_eq!(found("Oak", Case::Any), ["oak", "Oak", "OAK"]);
    assert_eq!(found("oak", Case::Exact), ["oak"]);
    assert_eq!(found("été", Case::Smart), ["été", "ÉTÉ", "Été"]);
    assert_eq!(found("É", Case::Smart), ["ÉTÉ", "Été"]);
}

#[test]
fn a_regular_expression_sees_the_text_with_its_line_breaks() {
    let scratch = Scratch::new();
    scratch.session("trees", &[user(1, r#"plant\nthree \"oaks\"\nnow"#), user(2, "plant three Oaks")]);
    let store = scratch.store();
    let found = |pattern: &str| texts(&store, &regex(pattern));
    assert_eq!(found(r#"plant\s+three "oaks""#), ["plant\nthree \"oaks\""]);
    assert_eq!(found("(?s)plant.+now"), ["plant\nthree \"oaks\"\nnow"]);
    assert_eq!(found("^three"), ["three \"oaks\""]);
    assert_eq!(found(r"three\S?\s\S?oaks").len(), 2, "a class is no upper-case letter");
    assert_eq!(found("(pine|Oak)s"), ["plant three Oaks"]);
    assert_eq!(found("plant.now"), [""; 0]);
}

#[test]
fn a_bad_regular_expression_is_an_error_that_shows_the_place() {
    let error = Query::new("oak(s", Form::Regex, Case::Smart, Words::Whole).expect_err("a group is not closed");
    let QueryError::Regex { reason } = &error else { panic!("{error:?}") };
    assert!(reason.contains("oak(s\n") && reason.contains('^') && reason.contains("unclosed group"), "{reason}");
    let empty = Query::new("", Form::Literal, Case::Smart, Words::Any).expect_err("nothing is looked for");
    assert_eq!(empty, QueryError::Empty);
    let large = Query::new(r"\pL{5000}", Form::Regex, Case::Smart, Words::Any);
    assert!(matches!(large, Err(QueryError::TooLarge { .. })), "{large:?}");
}

#[test]
fn whole_words_are_bounded_by_what_is_no_part_of_a_word() {
    let scratch = Scratch::new();
    scratch.session("trees", &["oaks", "an oak.", "oak_1", "-oak-", "boak", "oaké"].map(|text| user(1, text)));
    let whole = |text| Query::new(text, Form::Literal, Case::Smart, Words::Whole).expect("a text is a query");
    assert_eq!(texts(&scratch.store(), &whole("oak")), ["an oak.", "-oak-"]);
    assert_eq!(texts(&scratch.store(), &whole("-oak-")), ["-oak-"]);
}

#[test]
fn what_was_rolled_back_is_found_and_marked() {
    let scratch = Scratch::new();
    let rollback = "{\"ts\":\"2026-01-02T03:04:09Z\",\"kind\":\"rollback\",\"dropped\":1}\n".to_owned();
    let notice = "{\"ts\":\"2026-01-02T03:04:09Z\",\"kind\":\"notice\",\"text\":\"oak\"}\n".to_owned();
    let history = [user(1, "oak a"), user(2, "oak b"), rollback.clone(), user(3, "oak c"), notice];
    scratch.session("trees", &history);
    scratch.session("doubt", &[user(0, "oak"), "no json\n".into(), rollback]);
    let live = |session: &str| -> Vec<_> {
        let hits = rows(&scratch.store(), &literal("oak"));
        hits.into_iter().filter(|hit| hit.0 == session).map(|(_, event, live, _)| (event, live)).collect()
    };
    assert_eq!(live("trees"), [(1, Some(true)), (2, Some(false)), (4, Some(true)), (5, None)]);
    assert_eq!(live("doubt"), [(1, None)], "a rollback across a bad line is a guess");
    let quick = SearchOptions { live: Liveness::Unknown, ..SearchOptions::default() };
    assert!(search_with(&scratch.store(), &literal("oak"), &quick).0.iter().all(|hit| hit.2.is_none()));
}

#[test]
fn only_the_sessions_that_are_asked_for_are_searched() {
    let scratch = Scratch::new();
    for (second, session, workspace) in [(1, "a", "/srv/oak"), (2, "b", "/srv/birch"), (3, "c", "")] {
        scratch.session(session, &[user(second, "oak")]);
        scratch.put(format!("{session}/meta.json"), format!("{{\"workspace\":\"{workspace}\"}}"));
    }
    let store = scratch.store();
    let sessions = |options: SearchOptions| -> Vec<String> {
        search_with(&store, &literal("oak"), &options).0.into_iter().map(|hit| hit.0).collect()
    };
    assert_eq!(sessions(SearchOptions { only: Some(vec![name("a"), name("c")]), ..Default::default() }), ["c", "a"]);
    let since = parse_time("2026-01-02T03:04:02Z");
    assert_eq!(sessions(SearchOptions { since, ..Default::default() }), ["c", "b"]);
    assert_eq!(sessions(SearchOptions { workspace: Some("/srv/birch".into()), ..Default::default() }), ["b"]);
    let missing = SearchOptions { only: Some(vec![name("d")]), ..Default::default() };
    let error = store.search(&literal("oak"), &missing, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(error, Err(StoreError::NotFound { name, .. }) if name == "d"));
}

#[test]
fn flat_files_and_sessions_with_odd_names_are_searched_too() {
    let scratch = Scratch::new();
    scratch.put_at(
        "old.jsonl",
        "{\"role\":\"user\",\"content\":\"oak\"}\n{\"role\":\"tool\",\"content\":\"oak\"}\n",
        at_second(9),
    );
    scratch.put("a\nb/history.jsonl", user(1, "oak"));
    scratch.dir("empty");
    let (hits, searched) = search_with(&scratch.store(), &literal("oak"), &SearchOptions::default());
    let hits: Vec<_> = hits.iter().map(|hit| (hit.0.as_str(), hit.1)).collect();
    assert_eq!(hits, [(r"a\u{a}b", 1), ("old", 1), ("old", 2)]);
    assert_eq!((searched.sessions, searched.skipped.len()), (2, 0));
    let tools = literal("oak").within(Scope::of(&[TextKind::Tool]));
    assert_eq!(rows(&scratch.store(), &tools).len(), 1);
}

#[test]
fn nothing_in_a_store_blocks_a_search_and_what_was_not_searched_is_told_with_the_reason() {
    let scratch = Scratch::new();
    scratch.session("good", &[user(1, "oak")]);
    let fifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().expect("it can be run").success());
    fifo(&scratch.dir("fifo").join("history.jsonl"));
    fifo(&scratch.path("fifo-flat.jsonl"));
    let outside = scratch.outside().join("outside");
    fs::create_dir(&outside).expect("it is ours");
    fs::write(outside.join("history.jsonl"), user(2, "oak")).expect("it is ours");
    symlink(&outside, scratch.path("link")).expect("it is ours");
    symlink(outside.join("history.jsonl"), scratch.dir("link-history").join("history.jsonl")).expect("it is ours");
    symlink("nowhere", scratch.path("dangling")).expect("it is ours");
    scratch.dir("directory/history.jsonl");
    scratch.session("torn", &[user(1, "birch"), "{\"text\":\"an oak\"".into()]);
    scratch.session("torn-elsewhere", &[user(1, "birch"), "{\"text\":\"a birch\"".into()]);
    scratch.session("long", &[user(1, &"oak ".repeat(1_000))]);
    let limits = Limits { max_line_bytes: 2_000 };
    let store = scratch.store_with(Options { limits, ..Options::default() });
    let (hits, searched) = unblocked(move || search_with(&store, &literal("oak"), &SearchOptions::default()));
    assert_eq!(hits, [("good".to_owned(), 1, Some(true), "oak".to_owned())]);
    let mut skipped: Vec<_> =
        searched.skipped.iter().map(|skipped| (skipped.session.as_str(), kind(&skipped.damage))).collect();
    skipped.sort_unstable();
    let wanted = [
        ("directory", "unreadable"),
        ("fifo", "unreadable"),
        ("fifo-flat", "no file"),
        ("link", "link"),
        ("link-history", "unreadable"),
        ("long", "lines"),
        ("torn", "lines"),
    ];
    assert_eq!(skipped, wanted);
    let torn = searched.skipped.iter().find(|skipped| skipped.session == "torn").expect("it is one of them");
    assert_eq!(torn.first.as_ref().and_then(|defect| defect.place.line), Some(2));
    assert_eq!(searched.sessions, 4, "those that could be opened");
}

fn kind(damage: &Damage) -> &'static str {
    match damage {
        Damage::Link => "link",
        Damage::NotAFile => "no file",
        Damage::Unreadable(_) => "unreadable",
        Damage::Lines { .. } => "lines",
        _ => "other",
    }
}

#[test]
fn a_search_that_has_enough_leaves_the_older_sessions_alone() {
    let scratch = Scratch::new();
    for n in 0..50 {
        let history = scratch.session(&format!("s{n:02}"), &[user(n, "oak"), user(n, "oak")]).join("history.jsonl");
        touch(&history, at_second(1_000));
    }
    // Nothing is left to read of the oldest ones; whoever tried would be told so.
    let oldest = scratch.path("s05/history.jsonl");
    fs::remove_file(&oldest).expect("it is ours");
    scratch.dir("s05/history.jsonl");
    let mut sessions = Vec::new();
    let searched = scratch.store().search(&literal("oak"), &SearchOptions::default(), &mut |found| {
        if let Found::Hit { session, .. } = found {
            sessions.push(session.to_owned());
        }
        if sessions.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let searched = searched.expect("the store can be read");
    assert_eq!(sessions, ["s49", "s49", "s48"]);
    assert!(searched.stopped && searched.skipped.is_empty() && searched.sessions == 1, "{searched:?}");
}

#[test]
fn one_hit_of_a_session_is_enough_where_only_its_name_is_wanted() {
    let scratch = Scratch::new();
    scratch.session("many", &vec![user(1, "oak"); 30_000]);
    scratch.session("none", &[user(2, "birch")]);
    let options = SearchOptions { hits: HitsOfASession::First, ..SearchOptions::default() };
    let (hits, searched) = search_with(&scratch.store(), &literal("oak"), &options);
    assert_eq!(hits.into_iter().map(|hit| (hit.0, hit.1)).collect::<Vec<_>>(), [("many".to_owned(), 1)]);
    let whole = fs::metadata(scratch.path("many/history.jsonl")).expect("it is ours").len();
    assert!(searched.bytes < whole, "{} of {whole}", searched.bytes);
}

#[test]
fn more_hits_than_fit_between_the_threads_come_in_order_and_are_all_told() {
    let scratch = Scratch::new();
    for (second, session) in [(3, "a"), (2, "b"), (1, "c")] {
        scratch.session(session, &vec![user(second, "oak"); 3_000]);
    }
    let hits = rows(&scratch.store(), &literal("oak"));
    let wanted: Vec<_> = ["a", "b", "c"].iter().flat_map(|session| (1..=3_000).map(move |n| (*session, n))).collect();
    let hits: Vec<_> = hits.iter().map(|hit| (hit.0.as_str(), hit.1)).collect();
    assert!(hits == wanted, "{} hits", hits.len());
}

#[test]
fn i26_searching_changes_nothing_in_a_store() {
    let scratch = Scratch::new();
    scratch.session("trees", &[user(1, "oak")]);
    scratch.put("old.jsonl", "{\"role\":\"user\",\"content\":\"oak\"}\n");
    let before = picture(&scratch.base());
    assert_eq!(rows(&scratch.store(), &literal("oak")).len(), 2);
    assert_eq!(picture(&scratch.base()), before);
    assert!(rows(&Store::open_at(scratch.path("nowhere")), &literal("oak")).is_empty());
}
