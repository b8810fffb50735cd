//! A history on standard input, its live conversation on standard output: one message a line, defects on standard error.
//!
//! `cargo run --example live < history.jsonl`; with `--count`, only how many messages are live.

use session_core::{Conversation, Limits, count};
use std::io::{self, BufReader, Write as _};

fn main() -> io::Result<()> {
    let history = BufReader::with_capacity(256 << 10, io::stdin().lock());
    let mut out = io::BufWriter::new(io::stdout().lock());
    if std::env::args().any(|arg| arg == "--count") {
        let count = count(history, Limits::default())?;
        return writeln!(out, "{} messages, {} lines left out", count.messages, count.skipped);
    }
    let conversation = Conversation::read(history, Limits::default())?;
    for message in &conversation.messages {
        out.write_all(&message.to_json())?;
        out.write_all(b"\n")?;
    }
    for defect in &conversation.defects {
        writeln!(io::stderr(), "{defect}")?;
    }
    out.flush()
}
