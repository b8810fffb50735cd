//! What is counted, where.

use super::*;
use chrono::NaiveDate;
use std::io::{BufReader, Read};

fn read(histories: &[&str]) -> Statistics {
    let mut statistics = Statistics::default();
    for (session, history) in histories.iter().enumerate() {
        let read = statistics.read(session, history.as_bytes(), Limits::default(), &Period::ALL);
        read.expect("memory can be read");
    }
    statistics
}

fn total<'a>(statistics: &'a Statistics, which: impl Fn(&CellKey) -> bool + 'a) -> Cell {
    let mut sum = Cell::default();
    statistics.cells().filter(|(key, _)| which(key)).for_each(|(_, cell)| sum += cell);
    sum
}

const WORK: &str = r#"{"ts":"2026-01-02T23:59:50Z","kind":"message","message":{"role":"user","content":"dig"}}
{"ts":"2026-01-02T23:59:55Z","kind":"message","message":{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"Dig"}},{"id":"a","function":{"name":"Dig"}},{"id":"b","function":{"name":"Rake"}}]}}
{"ts":"2026-01-02T23:59:57Z","kind":"tool_result","message":{"role":"tool","tool_call_id":"a","content":"dug"}}
{"ts":"2026-01-03T00:00:01Z","kind":"tool_result","ms":250,"message":{"role":"tool","tool_call_id":"a","content":"error: a stone"}}
{"ts":"2026-01-03T00:00:02Z","kind":"x.usage","x":{"model":"large","response":"r1","output":7,"cost":0.5}}
{"ts":"2026-01-03T00:00:03Z","kind":"rollback","dropped":9}
"#;

#[test]
fn calls_are_paired_from_the_nearest_and_timed_by_what_they_say() {
    let statistics = read(&[WORK]);
    let dig = total(&statistics, |key| key.tool.as_deref() == Some("Dig"));
    assert_eq!((dig.calls, dig.failures, dig.unanswered, &dig.took_ms[..]), (2, 1, 0, &[2_000, 250][..]));
    assert_eq!((dig.percentile_ms(50), dig.percentile_ms(95)), (Some(250), Some(2_000)));
    let rake = total(&statistics, |key| key.tool.as_deref() == Some("Rake"));
    assert_eq!((rake.calls, rake.unanswered, rake.percentile_ms(50)), (1, 1, None));
}

#[test]
fn any_number_of_calls_may_wait_beside_any_number_of_results_that_nobody_asked_for() {
    // With a look at all calls for each result, this would not end.
    let many = 300_000;
    let calls = r#"{"id":"a","function":{"name":"Dig"}},"#.repeat(many);
    let asks = format!(r#"{{"message":{{"role":"assistant","tool_calls":[{}]}}}}"#, calls.trim_end_matches(','));
    let answer = r#"{"message":{"role":"tool","tool_call_id":"b","name":"Rake"}}"#.to_owned() + "\n";
    let statistics = read(&[&format!("{asks}\n{}", answer.repeat(many))]);
    let [dig, rake] = ["Dig", "Rake"].map(|tool| total(&statistics, |key| key.tool.as_deref() == Some(tool)));
    assert_eq!((dig.calls, dig.unanswered, rake.calls, rake.unanswered), (many as u64, many as u64, many as u64, 0));
}

#[test]
fn what_comes_after_a_usage_counts_for_its_model_if_it_names_one() {
    let says = r#"{"kind":"message","message":{"role":"assistant","content":"dug"}}"#;
    let usage = |model: &str| format!(r#"{{"kind":"x.usage","x":{{"model":"{model}","response":"r","output":1}}}}"#);
    let settings = r#"{"kind":"settings","model":"small"}"#;
    let history = [settings, says, &usage(""), says, &usage("large"), says].join("\n") + "\n";
    let statistics = read(&[&history]);
    let messages = |model: &str| total(&statistics, |key| key.model == model).messages;
    assert_eq!((messages("small"), messages("large")), (2, 1));
}

#[test]
fn until_somebody_says_otherwise_a_message_counts_for_the_model_of_the_head() {
    let head = |model: &str| format!(r#"{{"kind":"x.session","x":{{"format":1,"model":"{model}"}}}}"#);
    let says = r#"{"kind":"message","message":{"role":"user","content":"dig"}}"#;
    let statistics = read(&[&[&head("small"), says, &head(""), says].map(|line| format!("{line}\n")).concat()]);
    assert_eq!(total(&statistics, |key| key.model == "small").messages, 2);
}

#[test]
fn a_response_that_names_no_model_counts_for_that_of_its_time() {
    let settings = |model: &str| format!(r#"{{"kind":"settings","model":"{model}"}}"#);
    let usage = |id: &str| format!(r#"{{"kind":"x.usage","x":{{"response":"{id}","output":1}}}}"#);
    let history = [usage("r0"), settings("small"), usage("r1"), settings("large"), usage("r2"), usage("r3")];
    let statistics = read(&[&history.map(|line| line + "\n").concat()]);
    let responses = |model: &str| total(&statistics, |key| key.model == model).responses.count;
    assert_eq!((responses(""), responses("small"), responses("large")), (1, 1, 2));
}

#[test]
fn a_call_without_a_result_counts_on_the_day_and_for_the_model_of_its_request() {
    let later = r#"{"ts":"2026-02-03T00:00:00Z","kind":"settings","model":"large"}"#;
    let statistics =
        read(&[&format!("{}{later}\n", WORK.lines().take(3).map(|line| format!("{line}\n")).collect::<String>())]);
    let day = "2026-01-02".parse::<NaiveDate>().expect("it is one");
    let rake = total(&statistics, |key| key.tool.as_deref() == Some("Rake") && key.day == Some(day));
    assert_eq!((rake.calls, rake.unanswered), (1, 1));
    assert_eq!(total(&statistics, |key| key.model == "large").calls, 0);
}

#[test]
fn what_was_taken_back_counts_on_the_day_and_for_the_model_of_its_time() {
    let statistics = read(&[WORK]);
    let day = |day: &str| Some(day.parse::<NaiveDate>().expect("it is one"));
    let first = total(&statistics, |key| key.day == day("2026-01-02"));
    assert_eq!((first.turns, first.messages, first.responses.count), (1, 3, 0));
    let large = total(&statistics, |key| key.model == "large" && key.day == day("2026-01-03"));
    assert_eq!((large.responses.count, large.responses.discarded, large.responses.cost.sum()), (1, 1, Some(0.5)));
}

#[test]
fn m10_a_response_that_two_histories_tell_of_counts_once() {
    let statistics = read(&[WORK, WORK]);
    assert_eq!(total(&statistics, |_| true).responses.cost.sum(), Some(0.5));
    assert_eq!(total(&statistics, |key| key.session == 1).responses.count, 0);
    assert_eq!(total(&statistics, |_| true).messages, 8);
}

#[test]
fn only_the_period_counts() {
    let ts = |text| crate::parse_time(text).expect("it is well formed");
    let mut statistics = Statistics::default();
    let period = Period { from: Some(ts("2026-01-03T00:00:00Z")), ..Period::ALL };
    statistics.read(0, WORK.as_bytes(), Limits::default(), &period).expect("memory can be read");
    let sum = total(&statistics, |_| true);
    assert_eq!((sum.turns, sum.messages, sum.calls, sum.responses.count), (0, 1, 1, 1));
    let upto = Period { upto: Some(ts("2026-01-02T23:59:59Z")), ..Period::ALL };
    let mut statistics = Statistics::default();
    statistics.read(0, WORK.as_bytes(), Limits::default(), &upto).expect("memory can be read");
    assert_eq!(total(&statistics, |_| true).messages, 3);
}

/// Bytes that cannot be read.
struct Unreadable;

impl Read for Unreadable {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("a bad sector"))
    }
}

#[test]
fn what_was_read_before_an_error_counts_and_the_error_is_told() {
    let upto = |lines: usize| WORK.split_inclusive('\n').take(lines).collect::<String>();
    for lines in 0..=6 {
        let part = upto(lines) + "{\"ts\":";
        let mut statistics = Statistics::default();
        let history = BufReader::with_capacity(64, part.as_bytes().chain(Unreadable));
        let error = statistics.read(0, history, Limits::default(), &Period::ALL).expect_err("it cannot be read");
        assert_eq!(error.to_string(), "a bad sector");
        let until_then = read(&[&upto(lines)]);
        assert!(statistics.cells().eq(until_then.cells()), "{lines} lines: {:?}", total(&statistics, |_| true));
        let sum = total(&statistics, |_| true);
        assert_eq!(
            (sum.turns, sum.calls, sum.responses.count),
            (u64::from(lines > 0), if lines > 1 { 3 } else { 0 }, u64::from(lines > 4),)
        );
    }
}

#[test]
fn of_a_history_full_of_damage_the_first_defects_are_told_and_the_rest_is_read_all_the_same() {
    let says = r#"{"kind":"message","message":{"role":"user","content":"dig"}}"#;
    let history = format!("{says}\n{}{says}\n", "a stone\n".repeat(Conversation::MAX_DEFECTS + 5));
    let mut statistics = Statistics::default();
    let defects = statistics.read(0, history.as_bytes(), Limits::default(), &Period::ALL).expect("memory can be read");
    assert_eq!(defects.len(), Conversation::MAX_DEFECTS);
    let lines = [&defects[0], &defects[defects.len() - 1]].map(|defect| defect.place.line);
    assert_eq!(lines, [Some(2), Some(1 + Conversation::MAX_DEFECTS as u64)]);
    assert_eq!(total(&statistics, |_| true).messages, 2);
}
