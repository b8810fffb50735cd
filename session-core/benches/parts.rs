//! What single steps cost, absolutely: for finding out which of them changed. Ratios to other programs are in `history`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use session_core::{
    Bodies, Counter, Event, Item, Limits, Message, Meta, ReplayBackwards, Scan, ScanBackwards, Spending, Timeline,
    last_model, scan_bytes,
};
use session_testing::{Histories, Shape};
use std::io::Cursor;

const SIZE: usize = 4 << 20;

fn main() {
    divan::main();
}

fn history() -> Vec<u8> {
    Histories::of_bytes(11, Shape::Real, SIZE)
}

fn events(history: &[u8]) -> Vec<Event> {
    let records = scan_bytes(history).filter_map(|item| match item {
        Item::Record(record) => Some(*record.event),
        Item::Defect(_) => None,
    });
    records.collect()
}

#[divan::bench(args = [Bodies::Keep, Bodies::Skip])]
fn scan(bencher: Bencher<'_, '_>, bodies: Bodies) {
    let history = history();
    let bencher = bencher.counter(BytesCount::of_slice(&history));
    bencher.bench_local(|| Scan::new(&history[..]).bodies(bodies).count());
}

#[divan::bench]
fn scan_backwards(bencher: Bencher<'_, '_>) {
    let history = history();
    let bencher = bencher.counter(BytesCount::of_slice(&history));
    bencher.bench_local(|| ScanBackwards::new(Cursor::new(&history)).expect("memory").count());
}

#[divan::bench]
fn count(bencher: Bencher<'_, '_>) {
    let history = history();
    let bencher = bencher.counter(BytesCount::of_slice(&history));
    bencher.bench_local(|| {
        let mut counter = Counter::default();
        counter.read(&history[..], Limits::default()).expect("memory");
        counter
    });
}

#[divan::bench]
fn timeline(bencher: Bencher<'_, '_>) {
    let history = history();
    let bencher = bencher.counter(BytesCount::of_slice(&history));
    bencher.bench_local(|| Timeline::read(&history[..], Limits::default()).expect("memory"));
}

#[divan::bench]
fn spending(bencher: Bencher<'_, '_>) {
    let history = history();
    let bencher = bencher.counter(BytesCount::of_slice(&history));
    bencher.bench_local(|| Spending::read(&history[..], Limits::default()).expect("memory"));
}

#[divan::bench]
fn encode(bencher: Bencher<'_, '_>) {
    let history = history();
    let events = events(&history);
    let mut out = Vec::with_capacity(2 * SIZE);
    bencher.counter(BytesCount::of_slice(&history)).bench_local(|| {
        out.clear();
        events.iter().for_each(|event| event.encode(&mut out));
        out.len()
    });
}

#[divan::bench]
fn one_small_event(bencher: Bencher<'_, '_>) {
    let ts = session_core::parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
    let event = Event::message(ts, Message::user("plant three oaks"));
    let mut out = Vec::with_capacity(1 << 10);
    bencher.bench_local(|| {
        out.clear();
        event.encode(&mut out);
        out.len()
    });
}

#[divan::bench]
fn last_twenty_messages(bencher: Bencher<'_, '_>) {
    let history = history();
    bencher.bench_local(|| {
        ReplayBackwards::new(ScanBackwards::new(Cursor::new(&history)).expect("memory")).take(20).count()
    });
}

#[divan::bench]
fn last_settings(bencher: Bencher<'_, '_>) {
    let history = history();
    bencher.bench_local(|| last_model(ScanBackwards::new(Cursor::new(black_box(&history))).expect("memory")));
}

#[divan::bench]
fn metadata(bencher: Bencher<'_, '_>) {
    let bytes = br#"{"name":"demo","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:06Z","workspace":"/w","model":"small","title":"Oaks","first_prompt":"plant three oaks","x":{"title_by":"user"}}"#;
    bencher.bench_local(|| Meta::parse(black_box(bytes)));
}
