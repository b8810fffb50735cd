//! The command line: its flags and its verbs. Completions and manual pages come from the same definitions.

use crate::commands;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use clap::{Parser, Subcommand};

/// Look into, repair and drive the sessions of coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "session",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(
    after_help = "SESSION is an exact name, a unique prefix, @ for the newest, @2 for the second newest, or . for the newest \
whose workspace is this directory.\n\nExit status: 0 done, 1 the answer is no, 2 usage or bad input, 3 done in part, 4 no such session \
or ambiguous, 5 busy, 6 refused for safety, 70 a bug, 124 timed out, 125 lock or turn failed, 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

macro_rules! verbs {
    ($($(#[$attribute:meta])* $verb:ident => $module:ident $(if $feature:literal)?,)*) => {
        /// What to do.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($(#[$attribute])* $(#[cfg(feature = $feature)])? $verb(commands::$module::Flags),)*
        }

        impl Verb {
            /// Does it.
            pub(crate) fn run(self, context: &Context) -> Result<Exit, Failure> {
                match self {
                    $($(#[cfg(feature = $feature)])? Verb::$verb(flags) => commands::$module::run(&flags, context),)*
                }
            }
        }
    };
}

verbs! {
    /// List the sessions, newest first
    List => list,
    /// Show a conversation
    Show => show,
    /// Write conversations to files: as pages, as text, or for other programs
    Export => export,
    /// Search the texts of all sessions, newest first
    Search => search,
    /// Print the last events of a session, and follow it
    Tail => tail,
    /// Create a session and print its name
    New => new,
    /// Bring in sessions of other agents
    Import => import,
    /// Go back to an earlier point, with the conversation, the workspace, or both
    Rewind => rewind,
    /// Begin another session with a part of this one's conversation
    Fork => fork,
    /// Go on in a new session from a summary
    Compact => compact,
    /// Show the sessions that one comes from and goes on in
    Lineage => lineage,
    /// Give a session another name
    Rename => rename,
    /// Print or set a session's title
    Title => title,
    /// Delete sessions: into the trash, or for good
    Rm => rm,
    /// List, restore or empty the trash
    Trash => trash,
    /// Keep a session from being pruned
    Pin => pin,
    /// Let a session be pruned again
    Unpin => unpin,
    /// Move old, large, empty or orphaned sessions to the trash
    Prune => prune,
    /// Tell sessions that their project was moved
    Relocate => relocate,
    /// Add up tokens, money, calls, errors and times
    Stats => stats,
    /// Say how much room sessions take, by their parts
    Du => du,
    /// Look for what is wrong with sessions, and report it
    Doctor => doctor,
    /// Look for tokens, keys and passwords in sessions
    Scan => scan,
    /// Mask the tokens, keys and passwords in sessions
    Scrub => scrub,
    /// Send what is new of sessions to an object store
    Push => push if "remote",
    /// Bring in what is new of copies in an object store
    Pull => pull if "remote",
    /// Bring in what is new there, and send what is new here
    Sync => sync if "remote",
    /// List, show, verify and remove copies in an object store
    Remote => remote if "remote",
    /// Take, compare and restore snapshots of the workspace
    Checkpoint => checkpoint,
    /// Take a guided tour on a throw-away store
    Demo => demo,
    /// Append messages or events from standard input
    Append => append,
    /// Print the live conversation, one message a line
    Load => load,
    /// Print every event with its place and whether it is live
    Events => events,
    /// Take messages from the end of the conversation
    Rollback => rollback,
    /// Append a notice
    Notice => notice,
    /// Append what a turn runs with
    Settings => settings,
    /// Append what a response cost
    Usage => usage,
    /// Read or change metadata
    Meta => meta,
    /// Run a command while holding the session's lock
    Lock => lock,
    /// Run a command as the session's turn
    Turn => turn,
    /// Start a background process
    Run => run,
    /// List background processes
    Ps => ps,
    /// Wait for a background process
    Wait => wait,
    /// Print the output of a background process, and follow it
    Logs => logs,
    /// Stop background processes
    Kill => kill,
    /// Send a message to the running turn
    Steer => steer,
    /// Keep a large output from standard input in the session, and print a preview
    Spill => spill,
    /// List, drain or acknowledge the messages that wait for a turn
    Inbox => inbox,
    /// Print the last structured report
    Report => report,
    /// Print the model of the last settings event
    LastModel => last_model,
    /// Print a session's run id
    RunId => run_id,
    /// Print the path of a session or of a part of it
    Path => path,
    /// List the sessions with a live turn
    Active => active,
    /// Print the completion script of a shell
    Completions => completions,
    /// Print the manual page
    Man => man,
}
