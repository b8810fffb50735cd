//! Where the benchmarks work, and on what.

use session_core::{Event, Item, scan_bytes};
use session_testing::{Histories, Shape};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory in memory where there is such a place, so that a disk that others use is not measured.
pub fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    dir.expect("a scratch directory")
}

/// A directory on the disk that temporary files are on.
pub fn on_disk() -> TempDir {
    tempfile::tempdir().expect("a scratch directory")
}

/// Writes a history of about so many megabytes.
pub fn history(dir: &Path, shape: Shape, megabytes: u64) -> PathBuf {
    let path = dir.join(format!("{megabytes}.jsonl"));
    let mut out = BufWriter::new(File::create(&path).expect("the scratch directory can be written"));
    let (mut lines, mut line, mut written) = (Histories::new(7, shape), Vec::new(), 0);
    while written < megabytes << 20 {
        line.clear();
        lines.push_line(&mut line);
        written += line.len() as u64;
        out.write_all(&line).expect("the scratch directory can be written");
    }
    out.flush().expect("the scratch directory can be written");
    path
}

/// Events whose lines have about 1 KB each, and those lines.
pub fn events(count: usize) -> Vec<(Event, Vec<u8>)> {
    let history = Histories::of_bytes(11, Shape::Real, (count * 8) << 10);
    let records = scan_bytes(&history).filter_map(|item| match item {
        Item::Record(record) if (700..1_500).contains(&record.len) => Some(record.event),
        Item::Record(_) | Item::Defect(_) => None,
    });
    let with_line = records.map(|event| {
        let mut line = Vec::new();
        event.encode(&mut line);
        (*event, line)
    });
    let events: Vec<_> = with_line.take(count).collect();
    assert_eq!(events.len(), count, "the made-up history has enough lines of that size");
    events
}

/// A store of so many sessions, each with a history of about so many kilobytes.
pub fn store(dir: &Path, sessions: usize, kilobytes: usize) -> PathBuf {
    let base = dir.join(format!("store-{sessions}"));
    for n in 0..sessions {
        let session = base.join(format!("oak-{n:05}"));
        for dir in ["proc", "inbox", "tmp"] {
            fs::create_dir_all(session.join(dir)).expect("the scratch directory can be written");
        }
        // As real ones are: most are small, and one in ten holds a third of the bytes.
        let size = kilobytes * if n % 10 == 0 { 4 } else { 2 } / 3;
        let history = Histories::of_bytes(n as u64, Shape::Real, size << 10);
        fs::write(session.join("history.jsonl"), history).expect("the scratch directory can be written");
        let meta = format!(
            concat!(
                r#"{{"name":"oak-{n:05}","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","#,
                r#""workspace":"/home/oak/rows","model":"acorn-4","first_prompt":"plant three oaks","title":"Oaks {n}"}}"#
            ),
            n = n
        );
        for copy in ["meta.json", ".meta.json"] {
            fs::write(session.join(copy), &meta).expect("the scratch directory can be written");
        }
    }
    base
}
