//! What single calls on the registry cost, absolutely: for finding out which of them changed.

use divan::Bencher;
use session_proc::{Identity, Registry, TurnMarker};
use std::fs;
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// A registry with so many processes that have ended, as the reference writes them.
fn ended(processes: u32) -> (TempDir, Registry) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let dir = scratch.path().join("proc");
    fs::create_dir(&dir).expect("it is ours");
    for n in 1..=processes {
        let record = format!(
            "{{\"id\":\"bg{n}\",\"command\":\"dig\",\"cwd\":\".\",\"pid\":1,\"started\":\"2026-01-02T03:04:05Z\",\
             \"ended\":\"2026-01-02T03:04:06Z\",\"state\":\"exited\",\"exit_code\":0}}"
        );
        fs::write(dir.join(format!("bg{n}.json")), record).expect("it is ours");
    }
    let registry = Registry::open(&dir).expect("the path is absolute");
    (scratch, registry)
}

#[divan::bench(args = [1, 10, 100])]
fn list(bencher: Bencher<'_, '_>, processes: u32) {
    let (_scratch, registry) = ended(processes);
    bencher.bench_local(|| registry.list().expect("it can be read").processes.len());
}

#[divan::bench]
fn look_for_a_turn(bencher: Bencher<'_, '_>) {
    let (_scratch, registry) = ended(1);
    bencher.bench_local(|| TurnMarker::read(registry.dir()).expect("it can be read"));
}

#[divan::bench]
fn who_am_i(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Identity::own().expect("there is a /proc"));
}

#[divan::bench]
fn is_it_alive(bencher: Bencher<'_, '_>) {
    let own = Identity::own().expect("there is a /proc");
    bencher.bench_local(|| own.liveness().expect("there is a /proc"));
}

#[divan::bench]
fn what_is_lost(bencher: Bencher<'_, '_>) {
    let (_scratch, registry) = ended(1);
    bencher.bench_local(|| registry.lost().expect("there is a /proc").len());
}
