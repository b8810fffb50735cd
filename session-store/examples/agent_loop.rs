//! A whole turn of an agent, with a stand-in for the model:
//! `cargo run -p session-store --example agent_loop -- STORE WORKSPACE 'plant three oaks'`.
//!
//! Run it again with the same arguments and it goes on with the same session; kill it anywhere (`--crash` does it after
//! the first tool) and the next run says what was found, and goes on.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to whoever runs it")]

use session_checkpoint::{Attached, Cancel, Options as CheckpointOptions};
use session_core::checkpoint::{ChangesOf, Checkpointer as _};
use session_core::{Message, Role, ToolCall, api_view};
use session_proc::{Start, Stopped, Supervisor, Until, Waited};
use session_store::{NewSession, Options, Preview, PreviewSize, Session, SessionName, Store, StoreError, Wait};
use std::env::{args, args_os, current_exe};
use std::path::{Path, absolute};
use std::process::ExitCode;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The verb of this program as a supervisor; nobody types it.
const SUPERVISE: &str = "__supervise";
/// What a message shows of a tool's output. A longer one goes to a file.
const SHOWN: PreviewSize = PreviewSize { head_bytes: 1_000, tail_bytes: 1_000 };

fn main() -> Result<ExitCode> {
    // First, while there is one thread: a background process has this program beside it, which outlives the turn.
    let mut rest = args_os().skip(1);
    if rest.next().is_some_and(|verb| verb == SUPERVISE) {
        return Ok(session_proc::supervise(rest).map(|()| ExitCode::SUCCESS)?);
    }
    let (flags, words): (Vec<_>, Vec<_>) = args().skip(1).partition(|arg| arg == "--crash");
    let [store, workspace, prompt] = &words[..] else {
        return Err("usage: agent_loop [--crash] STORE WORKSPACE PROMPT".into());
    };
    let (store, workspace) = (absolute(store)?, Path::new(workspace).canonicalize()?);
    let options = Options { wait: Wait::UpTo(Duration::from_secs(10)), ..Options::default() };
    let (store, name) = (Store::open_at(store).with_options(options), SessionName::new("agent-loop")?);
    let directory = workspace.display().to_string();
    let session = match store.open(&name) {
        Err(StoreError::NotFound { .. }) => {
            store.create(&NewSession { name: Some(name), workspace: directory, ..NewSession::default() })?
        }
        opened => opened?,
    };

    // One turn at a time: a second agent waits ten seconds and is told who holds the session.
    let lock = session.lock()?;
    let mut of = CheckpointOptions::new(&workspace, session.paths().checkpoints());
    // Sessions do not go back with the files, also where they lie among them.
    of.exclude_dirs.push(store.base_dir().to_owned());
    let mut checkpoints = Attached::new(of, Vec::new(), Cancel::new());
    // That none could be taken keeps no turn from running.
    let mut checkpoint = |label, changes_of| {
        let taken = checkpoints.take(label, changes_of);
        taken.inspect_err(|error| eprintln!("no checkpoint was taken: {error}")).ok()
    };
    let before = checkpoint("before the turn", ChangesOf::Others);
    let turn = session.begin_turn_at(&lock, &format!("turn-{}", chrono::Utc::now().timestamp_millis()), before)?;
    if let Some(repair) = turn.repair() {
        println!("the turn before this one crashed, and left {} process(es) that run on", repair.running.len());
        tell(&repair.stopped);
    }

    let outcome = match converse(&session, &workspace, prompt, !flags.is_empty()) {
        Ok(()) => "done",
        Err(error) => {
            eprintln!("the turn failed: {error}");
            "failed"
        }
    };
    // Whatever the outcome is, the turn ends.
    let after = checkpoint("after the turn", ChangesOf::Session);
    tell(&turn.end(outcome, after)?.stopped);
    lock.release()?;
    Ok(ExitCode::from(u8::from(outcome != "done")))
}

/// Those that were stopped, and apart from them those that could not be.
fn tell(stopped: &[Stopped]) {
    let ended = stopped.iter().filter(|one| !one.signalled.is_empty() && one.survivors.is_empty()).count();
    println!("{ended} background process(es) stopped");
    stopped.iter().flat_map(|one| &one.survivors).for_each(|one| eprintln!("it could not be stopped: {one}"));
}

/// The loop. Each message is in the history before the next step is taken.
fn converse(session: &Session, workspace: &Path, prompt: &str, crash: bool) -> Result<()> {
    session.append_messages([Message::user(prompt)])?;
    let mut steering = session.steering();
    loop {
        // What a person said meanwhile, each message once, even if this process dies right here.
        let steered = steering.take()?;
        steered.failed.iter().for_each(|one| eprintln!("not delivered: {}: {}", one.path.display(), one.why));
        steered.error.iter().for_each(|error| eprintln!("the inbox: {error}"));
        // A call whose turn was killed has no result, and endpoints refuse it: the view has one that says so.
        let conversation = api_view(&session.load()?.messages).messages;
        if conversation.last().is_some_and(|last| last.role == Role::Assistant) {
            return Ok(());
        }
        let reply = ask_the_model(&conversation);
        session.append_messages([reply.clone()])?;
        println!("{}", reply.content.text());
        for call in &reply.tool_calls {
            // That a tool failed is for the model to know; the turn goes on.
            let output = run_tool(session, workspace, call).unwrap_or_else(|error| format!("it failed: {error}"));
            let output = shown(session, &call.name, output);
            session.append_messages([Message::tool_result(&call.id, &call.name, output)])?;
            if crash {
                std::process::abort();
            }
        }
    }
}

/// A stand-in: it plants what it is asked for, waits for the water, and reports.
fn ask_the_model(conversation: &[Message]) -> Message {
    let function = ToolCall { call_type: "function".into(), ..ToolCall::default() };
    let call = |name: &str, arguments: &str| {
        // No id comes twice in a conversation.
        let id = format!("c{}", conversation.len());
        let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), ..function.clone() };
        Message { tool_calls: [call].into(), ..Message::assistant(format!("{name}:")) }
    };
    let since_the_prompt = conversation.iter().rev().take_while(|message| message.role != Role::User).count();
    match since_the_prompt {
        0 => call("Plant", r#"{"what":"an oak"}"#),
        2 => call("Water", "{}"),
        4 => call("Report", r#"{"task_status":"completed","headline":"An oak stands.","blocks":[]}"#),
        _ => Message::assistant("An oak stands, and it has water."),
    }
}

fn run_tool(session: &Session, workspace: &Path, call: &ToolCall) -> Result<String> {
    match &*call.name {
        "Plant" => {
            let oak = "an oak\n".repeat(5_000);
            std::fs::write(workspace.join("oak.txt"), &oak)?;
            Ok(oak)
        }
        "Water" => {
            // A process that outlives this call, and ends with the turn.
            let registry = session.registry()?.with_supervisor(Supervisor::new(current_exe()?, [SUPERVISE]));
            let water = registry.start(&Start::new("echo water runs; exec sleep 60", workspace).name("water"))?;
            let ready = Until::Match { pattern: "^water runs$".into(), from: 0 };
            let waited = registry.wait(&water.id, &ready, Some(Duration::from_secs(10)))?;
            Ok(format!("{} is ready: {}", water.id, matches!(waited, Waited::Matched { .. })))
        }
        _ => Ok("done".into()),
    }
}

/// What the model is shown of an output: all of it, or its two ends and where the rest is. Tools run in the workspace
/// and need the absolute path; the one between the ends stays true when the session is moved.
fn shown(session: &Session, tool: &str, output: String) -> String {
    if output.len() <= SHOWN.head_bytes + SHOWN.tail_bytes {
        return output;
    }
    match session.spill().bytes(tool, output.as_bytes(), SHOWN) {
        Ok(spilled) => format!("{}\n{}", spilled.path.display(), spilled.text()),
        Err(error) => format!("[{error}]\n{}", Preview::of(output.as_bytes(), SHOWN).text(None)),
    }
}
