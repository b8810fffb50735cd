//! Looking at many copies.

use super::{Machine, named, on_s3, options};
use session_store::remote::{Remote, RemoteSummaries, RemoveOptions};
use session_testing::s3::S3;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);
const INDEX: &str = "bucket/team/index.json.zst";

/// Gives so many sessions a copy, with no event in it and a lease.
fn copies(remote: &Remote, prefix: &str, count: usize) {
    for number in 0..count {
        drop(remote.lease(&named(&format!("{prefix}-{number:06}")), HOUR).expect("it is free"));
    }
}

/// Who has the leases.
fn holders(summaries: &RemoteSummaries) -> Vec<&str> {
    let summaries = summaries.found.iter().map(|found| found.as_ref().expect("it can be read"));
    summaries.filter_map(|summary| Some(summary.lease.as_ref()?.0.as_str())).collect()
}

#[test]
fn many_copies_are_listed_by_pages_and_looked_at_by_one_object() {
    let count = session_testing::usually(5_000, 100_000);
    let remote = Remote::in_memory(options("oak")).expect("memory can be had");
    copies(&remote, "s", count);
    let list = remote.list("").expect("it can be listed");
    assert_eq!((list.sessions.len(), list.traffic.requests), (count, 1 + count as u64 / 1_000));
    assert!(list.sessions.is_sorted_by(|a, b| a.name < b.name));

    let first = remote.summaries(&list.sessions);
    assert_eq!(first.traffic.requests, count as u64 + 2, "each is read once, and the index is written");
    assert_eq!(holders(&first).len(), count);
    let again = remote.summaries(&list.sessions);
    assert_eq!(again.traffic.requests, 1, "the index knows all of them");
    let summaries =
        |of: RemoteSummaries| of.found.into_iter().map(|found| found.expect("it is read")).collect::<Vec<_>>();
    assert!(summaries(first) == summaries(again), "it says the same");

    let elm = remote.clone().with_machine("elm");
    for number in [0, count / 2, count - 1] {
        let name = named(&format!("s-{number:06}"));
        elm.remove(&name, &RemoveOptions { force: true, ..RemoveOptions::default() }).expect("it can be removed");
        drop(elm.lease(&name, HOUR).expect("it is free"));
    }
    let list = remote.list("").expect("it can be listed");
    let changed = remote.summaries(&list.sessions);
    assert_eq!(changed.traffic.requests, 4, "the index, and those that changed");
    assert_eq!(holders(&changed).iter().filter(|holder| **holder == "elm").count(), 3, "it tells no old state");
}

#[test]
fn a_list_of_a_prefix_asks_for_the_pages_of_the_prefix_only() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    copies(&oak.remote, "a", 20);
    copies(&oak.remote, "b b", 1_050);
    copies(&oak.remote, "c", 20);
    for (prefix, count, pages) in [("a", 20, 1), ("b b-", 1_050, 2), ("b b-00001", 10, 1), ("d", 0, 1), ("", 1_090, 2)]
    {
        let before = server.met().len();
        let list = oak.remote.list(prefix).expect("it can be listed");
        assert_eq!(list.sessions.len(), count, "{prefix}");
        assert_eq!((server.met().len() - before, list.traffic.requests), (pages, pages as u64), "{prefix}");
        assert!(list.sessions.iter().all(|session| session.name.as_str().starts_with(prefix)));
    }
}

#[test]
fn the_index_is_used_also_where_lists_tell_no_versions_of_objects_and_answers_about_one_do() {
    let server = S3::start();
    server.tell_versions();
    let oak = Machine::new(on_s3(&server, "oak"));
    copies(&oak.remote, "s", 101);
    for requests in [103, 1] {
        let list = oak.remote.list("").expect("it can be listed");
        let summaries = oak.remote.summaries(&list.sessions);
        assert_eq!((holders(&summaries).len(), summaries.traffic.requests), (101, requests));
    }
}

#[test]
fn an_index_that_is_damaged_or_old_or_cannot_be_written_changes_no_answer() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    copies(&oak.remote, "s", 120);
    oak.create("demo");
    oak.says("demo", "one");
    oak.push("demo").expect("it can be sent");
    let look = || {
        let list = oak.remote.list("").expect("it can be listed");
        let summaries = oak.remote.summaries(&list.sessions);
        let found: Vec<_> = summaries.found.into_iter().map(|found| found.expect("it can be read")).collect();
        (found, summaries.traffic.requests)
    };
    let (whole, _) = look();
    assert_eq!(whole[0].meta.title, "Plant three oaks");
    assert_eq!(look(), (whole.clone(), 1), "by the index alone");
    let index = server.objects()[INDEX].clone();
    for damaged in [&b""[..], b"{}", &index[..index.len() / 2]] {
        server.corrupt(INDEX, damaged.to_vec());
        assert_eq!(look().0, whole);
        assert_eq!(look().1, 1, "it was written anew");
    }
    server.lose(INDEX);
    assert_eq!(look(), (whole.clone(), 123));
    oak.says("demo", "two");
    oak.push("demo").expect("it can be sent");
    let (changed, requests) = look();
    assert!(changed != whole && requests == 2, "{requests}");
    // From before the push: it does not fit the list any more.
    server.corrupt(INDEX, index);
    assert_eq!(look(), (changed, 2));
}
