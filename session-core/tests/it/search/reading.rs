//! How far a search reads, and what it tells of what it could not read.

use super::{any_case, exact, found, search, user};
use crate::reading::{Failing, Interrupted};
use session_core::search::{Coverage, Hit, Scope, Search, Seen};
use session_core::{Fault, Limits, Outcome};
use session_testing::{Histories, Shape};
use std::io::{self, Cursor, Read, Seek};
use std::ops::ControlFlow;

/// What a search for a text comes upon in a file, and how it ends.
fn read(text: &str, limits: Limits, file: impl Read + Seek) -> (Vec<Hit>, io::Result<Coverage>) {
    let mut hits = Vec::new();
    let mut search = Search::new(exact(text), Scope::default(), limits);
    let coverage = search.read(file, &mut |seen| {
        if let Seen::Hit(hit) = seen {
            hits.push(hit);
        }
        ControlFlow::Continue(())
    });
    (hits, coverage)
}

/// A line of more than two blocks.
fn long(text: &str) -> String {
    user(&format!("{}{text}", "rain ".repeat(500_000)))
}

#[test]
fn a_read_that_a_signal_interrupts_is_tried_again() {
    // The events before the second block are counted, and a long line is read again, for the hits behind them.
    let history = [user("plant three oaks"), long("birches"), long("oaks"), user("more oaks")].concat();
    let interrupted = Interrupted::new(Cursor::new(history.as_bytes()));
    let (hits, coverage) = read("oaks", Limits::default(), interrupted);
    assert_eq!(coverage.expect("an interrupted read is no error").bytes, history.len() as u64);
    assert_eq!(hits.iter().map(|hit| hit.event).collect::<Vec<_>>(), [1, 3, 4]);
}

#[test]
fn a_read_error_ends_the_search_behind_the_hits_that_were_found() {
    let history = [user("plant three oaks"), long("birches"), user("more oaks"), long("alders")].concat();
    let at = history.find("more oaks").expect("it is there") as u64;
    for (bad, wanted) in [(at + 2_000_000, &[1, 3][..]), (at + 10, &[1]), (at - 1_000_000, &[1]), (5, &[])] {
        let (hits, coverage) = read("oaks", Limits::default(), Failing::new(&history, bad..bad + 1));
        assert_eq!(coverage.expect_err("it cannot be read").to_string(), "a bad sector", "{bad}");
        assert_eq!(hits.iter().map(|hit| hit.event).collect::<Vec<_>>(), wanted, "{bad}");
    }
}

#[test]
fn after_a_read_error_the_same_search_goes_through_other_histories() {
    let history = user("plant three oaks");
    let mut search = Search::new(exact("oaks"), Scope::default(), Limits::default());
    let mut hits = 0;
    let mut count = |seen| {
        hits += u32::from(matches!(seen, Seen::Hit(_)));
        ControlFlow::Continue(())
    };
    assert!(search.read(Failing::new(&history, 5..6), &mut count).is_err());
    let coverage = search.read(Cursor::new(&history), &mut count).expect("memory has no read errors");
    assert_eq!((hits, coverage.bytes), (1, history.len() as u64));
}

#[test]
fn a_line_beyond_the_bound_is_passed_over_and_told_of_where_it_may_have_held_a_hit() {
    let limits = Limits { max_line_bytes: 100 };
    // One that lies in a block, and one that is longer than a block.
    for filler in [200, 3 << 20] {
        let history = |middle: &str| {
            let long = user(&format!("{}{middle}", "r".repeat(filler)));
            [user("an oak"), long, user("a birch"), user("more oak")].concat()
        };
        let numbers = |hits: Vec<Hit>| hits.iter().map(|hit| (hit.event, hit.place.line)).collect::<Vec<_>>();
        let last = |history: &str| (history.len() - user("more oak").len()) as u64;

        let without = history("rain");
        let (hits, coverage) = read("oak", limits, Cursor::new(&without));
        let coverage = coverage.expect("memory has no read errors");
        assert_eq!((coverage.unread, coverage.bytes), (0, without.len() as u64));
        assert_eq!(hits[1].place.offset, last(&without));
        assert_eq!(numbers(hits), [(1, Some(1)), (3, Some(4))], "{filler}");

        let with = history("oak");
        let (hits, coverage) = read("oak", limits, Cursor::new(&with));
        let coverage = coverage.expect("memory has no read errors");
        let defect = coverage.first_unread.expect("it is told of");
        assert_eq!((coverage.unread, defect.place.line, defect.outcome), (1, Some(2), Outcome::Skipped));
        assert_eq!(defect.fault, Fault::TooLong { limit: 100 });
        assert_eq!(defect.len as usize, user(&"r".repeat(filler + 3)).len() - 1);
        assert_eq!(hits[1].place.offset, last(&with));
        assert_eq!(numbers(hits), [(1, Some(1)), (3, Some(4))], "{filler}");
    }
}

#[test]
fn a_line_that_cannot_be_read_is_told_of_where_it_may_have_held_a_hit() {
    let history = format!("{}{{\"ts\":\"2026\",\"text\":\"an oak", user("birch"));
    let (hits, coverage) = search(history.as_bytes(), exact("oak"), Scope::default());
    assert!(hits.is_empty());
    assert_eq!(coverage.unread, 1);
    assert_eq!(
        coverage.first_unread.expect("it is the one").to_string(),
        "line 2, byte 63: torn: the file ends inside it"
    );
    assert_eq!(search(history.as_bytes(), exact("birch"), Scope::default()).1.unread, 0);
}

#[test]
fn lines_longer_than_a_block_are_searched_and_passed_over_among_others() {
    let long = "樹 ".repeat(800_000);
    let history = [user("oak"), user(&long), user("oak"), user(&format!("{long}acorn{long}")), user("oak")].concat();
    let numbers = |wanted| found(history.as_bytes(), wanted).into_iter().map(|(event, ..)| event).collect::<Vec<_>>();
    assert_eq!(numbers(exact("oak")), [1, 3, 5]);
    assert_eq!(numbers(exact("acorn")), [4]);
    assert_eq!(numbers(any_case("ACORN")), [4]);
    let unended = history.trim_end();
    assert_eq!(found(&unended.as_bytes()[..unended.len() - 60], exact("acorn")).len(), 1);
    assert_eq!(found([user("oak"), long.clone() + "oak"].concat().as_bytes(), exact("oak")).len(), 1);
}

#[test]
fn a_search_that_is_told_to_stop_reads_no_further() {
    let history = Histories::of_bytes(3, Shape::Real, 5 << 20);
    let mut search = Search::new(exact("oak"), Scope::default(), Limits::default());
    let mut hits = 0;
    let coverage = search.read(Cursor::new(&history[..]), &mut |seen| {
        hits += u32::from(matches!(seen, Seen::Hit(_)));
        if hits == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let coverage = coverage.expect("memory has no read errors");
    assert_eq!((hits, coverage.stopped), (3, true));
    assert!(coverage.bytes <= 1 << 20, "{}", coverage.bytes);
}

#[test]
fn a_search_can_be_stopped_in_the_middle_of_a_long_line() {
    let history = [user("plant three oaks"), user(&"rain ".repeat(2 << 20)), user("more oaks")].concat();
    let mut search = Search::new(exact("oaks"), Scope::default(), Limits::default());
    let (mut hits, mut told) = (Vec::new(), 0);
    let coverage = search.read(Cursor::new(&history), &mut |seen| match seen {
        Seen::Hit(hit) => {
            hits.push(hit.event);
            ControlFlow::Continue(())
        }
        // Inside a long line nothing new was looked through, but somebody may want to stop.
        Seen::Bytes(0) => ControlFlow::Break(()),
        Seen::Bytes(bytes) => {
            told += bytes;
            ControlFlow::Continue(())
        }
    });
    let coverage = coverage.expect("memory has no read errors");
    assert_eq!((hits, coverage.stopped, told), (vec![1], true, user("plant three oaks").len() as u64));
    assert!((told..=2 << 20).contains(&coverage.bytes), "{}", coverage.bytes);
}
