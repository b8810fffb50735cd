//! `session demo`: a guided tour, by the commands themselves, on a throw-away store.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::shell::quoted;
use anstyle::Style;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The flags of `demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// Keep the store and print where it is
    #[arg(long)]
    keep: bool,
}

/// A step of the tour.
enum Step {
    /// What comes next, for the reader.
    Say(&'static str),
    /// A command, with what it reads.
    Run { words: &'static [&'static str], input: &'static str },
    /// A writer dies in the middle of a line: these bytes are what it left.
    Tear(&'static str),
}

const TOUR: &[Step] = &[
    Step::Say("A session is a directory. Creating one claims its name."),
    Step::Run { words: &["new", "oaks", "--workspace", "/srv/garden", "--title", "Plant three oaks"], input: "" },
    Step::Say(
        "An agent, in any language, appends messages as JSON lines. One call is one write, synced before it answers.",
    ),
    Step::Run {
        words: &["append", "oaks"],
        input: concat!(
            r#"{"role":"user","content":"plant three oaks"}"#,
            "\n",
            r#"{"role":"assistant","content":"digging","tool_calls":[{"id":"c1","type":"function","function":{"name":"Shell","arguments":"{\"cmd\":\"dig\"}"}}]}"#,
            "\n",
            r#"{"role":"tool","tool_call_id":"c1","name":"Shell","content":"3 holes"}"#,
            "\n",
        ),
    },
    Step::Run { words: &["list"], input: "" },
    Step::Run { words: &["show", "oaks"], input: "" },
    Step::Say("Now a writer dies in the middle of a line, and leaves this at the end of the history:"),
    Step::Tear(
        r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"assistant","content":"all three st"#,
    ),
    Step::Say("Reading goes on: what is whole is there, what is not is named, and the exit status says so."),
    Step::Run { words: &["load", "oaks"], input: "" },
    Step::Say("The next append sets the torn bytes apart and keeps them in quarantine. Its own line is whole."),
    Step::Run { words: &["append", "oaks"], input: r#"{"role":"assistant","content":"all three stand"}"# },
    Step::Run { words: &["load", "oaks"], input: "" },
    Step::Say("Going back appends too: the last message is no longer live, and still in the file."),
    Step::Run { words: &["rollback", "oaks", "1"], input: "" },
    Step::Run { words: &["events", "oaks"], input: "" },
    Step::Say("A turn holds the lock and marks itself. Its commands may append; a second turn is refused."),
    Step::Run {
        words: &[
            "turn",
            "oaks",
            "--",
            "sh",
            "-c",
            "\"$SESSION\" active; \"$SESSION\" turn oaks -- true; echo \"exit status $?\"",
        ],
        input: "",
    },
    Step::Say("Output that is too large for a message goes into the session; the model gets both ends and the path."),
    Step::Run { words: &["spill", "oaks", "--hint", "growth"], input: LONG_OUTPUT },
    Step::Say("Doctor tells what is not as it should be."),
    Step::Run { words: &["doctor", "oaks"], input: "" },
    Step::Say("Deleting moves to a trash, and back."),
    Step::Run { words: &["rm", "oaks", "-y"], input: "" },
    Step::Run { words: &["trash", "restore", "oaks"], input: "" },
    Step::Run { words: &["list"], input: "" },
];

/// A marker for half a megabyte of long lines, which is made when it is needed.
const LONG_OUTPUT: &str = "./measure-all-oaks";

/// The store inside the scratch directory.
const STORE: &str = "sessions";

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let scratch = tempfile::Builder::new().prefix("session-demo-").tempdir();
    let scratch = scratch.map_err(|error| Failure::input("a scratch directory", &error))?;
    let store = scratch.path().join(STORE);
    let program = std::env::current_exe().map_err(|error| Failure::input("the path of this program", &error))?;
    for step in TOUR {
        match step {
            Step::Say(text) => context.out.styled_line(Style::new().bold(), &format!("\n# {text}"))?,
            Step::Tear(bytes) => {
                tear(&store.join("oaks/history.jsonl"), bytes)?;
                context.out.line(bytes)?;
            }
            Step::Run { words, input } => take(context, &program, &store, words, input)?,
        }
    }
    if flags.keep {
        let kept = scratch.keep().join(STORE);
        context.out.line(&format!("\nThe store is in {}: try `session --dir {0} show oaks`.", kept.display()))?;
    }
    Ok(Exit::Done)
}

/// Runs one command of the tour, with its output where this program's output goes.
fn take(context: &Context, program: &Path, store: &Path, words: &[&str], input: &str) -> Result<(), Failure> {
    let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let source = match input {
        "" => String::new(),
        LONG_OUTPUT => format!("{LONG_OUTPUT} | "),
        lines => format!("printf '%s\\n' {} | ", lines.lines().map(quoted).collect::<Vec<_>>().join(" ")),
    };
    context.out.styled_line(Style::new().dimmed(), &format!("\n$ {source}session {}", shown.join(" ")))?;
    let failed = |error| Failure::input("a command of the tour", &error);
    let mut command = Command::new(program);
    command.arg("--dir").arg(store).args(words).env("SESSION", program);
    // What a list counts in a throw-away store is thrown away with it.
    command.env("XDG_CACHE_HOME", store.with_file_name("cache"));
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut child = command.stdin(stdin).stderr(std::io::stdout()).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        let written = match input {
            LONG_OUTPUT => (1..=1_000).try_for_each(|n| writeln!(stdin, "oak {n}: {}", "growing ".repeat(64))),
            lines => stdin.write_all(lines.as_bytes()),
        };
        written.map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        context.out.line(&format!("(exit status {})", status.code().unwrap_or(-1)))?;
    }
    Ok(())
}

fn tear(history: &Path, bytes: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().append(true).open(history);
    file.and_then(|mut file| file.write_all(bytes.as_bytes())).map_err(|error| Failure::input("the history", &error))
}
