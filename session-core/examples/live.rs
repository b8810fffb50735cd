//! The live conversation of a history: `cargo run -p session-core --example live < history.jsonl`.
//!
//! Each message is a line of JSON. What could not be read is told on standard error, and costs nothing else.

use session_core::{Conversation, Limits};
use std::io::{self, BufWriter, Write as _};

fn main() -> io::Result<()> {
    let conversation = Conversation::read(io::stdin().lock(), Limits::default())?;
    let mut out = BufWriter::new(io::stdout().lock());
    for message in &conversation.messages {
        out.write_all(&message.to_json())?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    let mut told = io::stderr().lock();
    for defect in &conversation.defects {
        writeln!(told, "{defect}")?;
    }
    if conversation.uncertain {
        writeln!(told, "a rollback reaches across a line that could not be read: what is live is a guess")?;
    }
    Ok(())
}
