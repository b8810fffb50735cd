//! A whole turn of an agent, with a stand-in for the model:
//! `cargo run -p session-store --example agent_loop -- STORE WORKSPACE 'plant three oaks'`.
//!
//! Run it again with the same arguments and it goes on with the same session; kill it anywhere (`--crash` does it after
//! the first tool) and the next run says what was found, and goes on.

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use session_checkpoint::{Attached, Cancel, Options as CheckpointOptions};
use session_core::checkpoint::{ChangesOf, Checkpointer as _};
use session_core::{Message, ToolCall};
use session_proc::{Start, Until, Waited};
use session_store::{NewSession, Options, PreviewSize, Session, SessionName, Store, StoreError, Wait};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// From here on, the output of a tool goes to a file and the message has its beginning and end.
const LARGE: usize = 2_000;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let crash = args.iter().position(|arg| arg == "--crash").map(|at| args.remove(at)).is_some();
    let [store, workspace, prompt] = &args[..] else {
        return Err("usage: agent_loop [--crash] STORE WORKSPACE PROMPT".into());
    };
    let workspace = PathBuf::from(workspace).canonicalize()?;
    let options = Options { wait: Wait::UpTo(Duration::from_secs(10)), ..Options::default() };
    let session = open(&Store::open_at(store).with_options(options), &workspace)?;

    // One turn at a time: a second agent waits ten seconds and is told who holds the session.
    let lock = session.lock()?;
    let mut checkpoints =
        Attached::new(CheckpointOptions::new(&workspace, session.paths().checkpoints()), Vec::new(), Cancel::new());
    let before = checkpoints.take("before the turn", ChangesOf::Others)?;
    let turn = session.begin_turn_at(&lock, &format!("turn-{before}"), Some(before))?;
    if let Some(repair) = turn.repair() {
        println!("the turn before this one crashed: {repair:?}");
    }

    session.append_messages([Message::user(prompt)])?;
    let mut conversation = session.load()?.messages;
    loop {
        // What a person said meanwhile, each message once, even if this process dies right here.
        let steered = session.steering().take()?;
        conversation.extend(steered.messages);
        let reply = ask_the_model(&conversation);
        session.append_messages([reply.clone()])?;
        conversation.push(reply.clone());
        if reply.tool_calls.is_empty() {
            println!("{}", reply.content.text());
            break;
        }
        for call in &reply.tool_calls {
            let output = run_tool(&session, &workspace, call)?;
            let result = Message::tool_result(&call.id, &call.name, text_of(&session, &call.name, &output)?);
            session.append_messages([result.clone()])?;
            conversation.push(result);
            if crash {
                std::process::abort();
            }
        }
    }

    let after = checkpoints.take("after the turn", ChangesOf::Session)?;
    let end = turn.end("done", Some(after))?;
    println!("{} background process(es) ended with the turn", end.stopped.len());
    lock.release()?;
    Ok(())
}

/// The session of this example, or a new one.
fn open(store: &Store, workspace: &Path) -> Result<Session, Box<dyn Error + Send + Sync>> {
    let name = SessionName::new("agent-loop")?;
    match store.open(&name) {
        Err(StoreError::NotFound { .. }) => {
            let workspace = workspace.display().to_string();
            Ok(store.create(&NewSession { name: Some(name), workspace, ..NewSession::default() })?)
        }
        opened => Ok(opened?),
    }
}

/// A stand-in: it plants what it is asked for, waits for the water, and reports.
fn ask_the_model(conversation: &[Message]) -> Message {
    let call = |id: &str, name: &str, arguments: &str| {
        let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), ..ToolCall::default() };
        Message { tool_calls: [call].into(), ..Message::assistant("") }
    };
    let since_the_prompt = conversation.iter().rev().take_while(|message| message.role.as_str() != "user").count();
    match since_the_prompt {
        0 => call("c1", "Plant", r#"{"what":"an oak"}"#),
        2 => call("c2", "Water", "{}"),
        4 => call("c3", "Report", r#"{"task_status":"completed","headline":"An oak stands.","blocks":[]}"#),
        _ => Message::assistant("An oak stands, and it has water."),
    }
}

fn run_tool(session: &Session, workspace: &Path, call: &ToolCall) -> Result<String, Box<dyn Error + Send + Sync>> {
    match &*call.name {
        "Plant" => {
            std::fs::write(workspace.join("oak.txt"), "an oak\n".repeat(5_000))?;
            Ok("an oak\n".repeat(5_000))
        }
        "Water" => {
            // A process that outlives this call, and ends with the turn.
            let registry = session.registry()?;
            let water = registry.start(&Start::new("echo water runs; exec sleep 60", workspace).name("water"))?;
            let ready = Until::Match { pattern: "^water runs$".into(), from: 0 };
            let waited = registry.wait(&water.id, &ready, Some(Duration::from_secs(10)))?;
            Ok(format!("{} is ready: {}", water.id, matches!(waited, Waited::Matched { .. })))
        }
        _ => Ok("done".into()),
    }
}

/// What the model is shown of an output: all of it, or where the rest is.
fn text_of(session: &Session, tool: &str, output: &str) -> Result<String, StoreError> {
    if output.len() < LARGE {
        return Ok(output.to_owned());
    }
    Ok(session.spill().bytes(tool, output.as_bytes(), PreviewSize::default())?.text())
}
