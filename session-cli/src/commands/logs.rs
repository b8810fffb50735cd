//! `session logs`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_proc::{Excess, Output, ProcessId, Registry};

/// One read. A line of JSON has at most so much.
const PIECE_BYTES: usize = 256 * 1024;

/// The flags of `logs`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Standard error tells the cursor at which to go on. With --json, each piece of output is a line of its own \
with its cursor. With -f it ends when the process has ended.\n\nExamples:\n  session logs @ bg1\n  session logs @ bg1 -f\n  \
session logs @ bg1 --cursor 4096"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The process
    #[arg(add = target::process_completer(target::Processes::All))]
    id: ProcessId,
    /// Go on with the output to come, until the process has ended
    #[arg(short, long)]
    follow: bool,
    /// Begin behind so many bytes of its output
    #[arg(long, value_name = "N", default_value_t = 0)]
    cursor: u64,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let (_, registry) = context.store.registry_of(&name, &flags.id)?;
    let mut reader = Reader { registry: &registry, id: &flags.id, cursor: flags.cursor };
    let mut watch = registry.watch(&flags.id)?;
    loop {
        // Asked first, so that whatever was written before the end is read after it.
        let status = registry.look(&flags.id)?;
        reader.read_to_end(context)?;
        if !flags.follow || status.state.is_final() {
            break;
        }
        watch.wait(None)?;
    }
    if !context.out.is_json() {
        context.out.note(&format!("cursor: {}", reader.cursor));
    }
    Ok(Exit::Done)
}

struct Reader<'a> {
    registry: &'a Registry,
    id: &'a ProcessId,
    cursor: u64,
}

impl Reader<'_> {
    /// Prints what has been written up to now, and no more: a process may write faster than anybody reads.
    fn read_to_end(&mut self, context: &Context) -> Result<(), Failure> {
        let end = self.registry.output(self.id, self.cursor, 0, Excess::SkipToTail)?.cursor;
        while self.cursor < end {
            let output = self.registry.output(self.id, self.cursor, PIECE_BYTES, Excess::LeaveForNext)?;
            if output.cursor <= self.cursor {
                break;
            }
            print(context, self.id, &output)?;
            self.cursor = output.cursor;
        }
        Ok(())
    }
}

fn print(context: &Context, id: &ProcessId, output: &Output) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: &'a str,
        cursor: u64,
        skipped_bytes: u64,
        text: &'a str,
    }
    let (cursor, skipped_bytes) = (output.cursor, output.skipped_bytes);
    let text = output.text();
    if context.out.is_json() {
        return context.out.json_line(&Line { id: id.as_str(), cursor, skipped_bytes, text: &text });
    }
    if skipped_bytes > 0 {
        context.out.note(&format!("note: {skipped_bytes} bytes before this are not kept"));
    }
    context.out.text(&output.bytes)
}
