//! The stores in which verbs are tried: one is made, and each try has a copy.

use super::table::State;
use crate::support::{SESSION, Scratch, eventually};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const CONVERSATION: &str = concat!(
    r#"{"role":"user","content":"plant three oaks"}"#,
    "\n",
    r#"{"role":"assistant","content":"digging","tool_calls":[{"id":"c1","type":"function","function":{"name":"Shell","arguments":"{}"}}]}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c1","name":"Shell","content":"3 holes"}"#,
    "\n",
    r#"{"role":"assistant","tool_calls":[{"id":"r1","type":"function","function":{"name":"Report","arguments":"{\"headline\":\"done\"}"}}]}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"r1","name":"Report","content":"ok"}"#,
    "\n",
);

/// A store with the sessions `oaks` and `oaken`, of which `oaks` has something of everything.
pub(super) struct Template {
    scratch: Scratch,
    /// The id of a message that was taken from the inbox and not yet recorded.
    claim: String,
}

/// A copy of it, in one of the states.
pub(super) struct Scene<'a> {
    template: &'a Template,
    state: State,
    pub(super) scratch: Scratch,
    /// The process that holds `oaks`, while it is busy.
    holder: Option<Child>,
}

impl Template {
    pub(super) fn new() -> Self {
        let scratch = Scratch::new();
        for name in ["oaken", "oaks"] {
            scratch.ok(&["new", name, "--workspace", ".", "--title", "Oaks"]);
            scratch.ok_with(&["append", name], CONVERSATION);
        }
        scratch.ok(&["settings", "oaks", "--model", "m1", "--tool", "Shell"]);
        scratch.ok(&["usage", "oaks", "--model", "m1", "--input", "9", "--output", "2", "--cost", "0.5"]);
        scratch.ok_with(&["spill", "oaks"], "hole\n");
        scratch.ok(&["run", "oaks", "-q", "--", "echo", "hole"]);
        scratch.ok(&["wait", "oaks", "bg1"]);
        let by_hand = |name: &str, text: &str| {
            let path = scratch.store().join("oaks/inbox").join(name);
            fs::write(&path, text).expect("the inbox is there");
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        };
        by_hand("taken", "use tabs\n");
        let claimed = crate::support::json(&scratch.ok(&["inbox", "oaks", "drain"]));
        by_hand("waiting", "use spaces\n");
        let claim = claimed["id"].as_str().expect("every message has an id").to_owned();
        Template { scratch, claim }
    }
}

impl<'a> Scene<'a> {
    /// A copy for a try of a row.
    pub(super) fn new(template: &'a Template, before: &[&str], state: State) -> Self {
        let scratch = Scratch::without_processes();
        copy(&template.scratch.store(), &scratch.store());
        let mut scene = Scene { template, state, scratch, holder: None };
        for step in before {
            scene.before(step);
        }
        match state {
            State::Damaged => scene.damage(),
            State::Busy => scene.holder = Some(scene.hold()),
            State::ReadOnly if !is_root() => modes(&scene.scratch.store(), 0o500, 0o400),
            State::Ok | State::NotFound | State::Ambiguous | State::ReadOnly => {}
        }
        scene
    }

    /// Something that happens first: words of a verb, or after a `!` a line for a shell.
    fn before(&self, step: &str) {
        let mut command = match step.strip_prefix('!') {
            Some(line) => {
                let mut shell = self.scratch.command("sh");
                shell.args(["-c", line]);
                shell
            }
            None => self.program(&self.words(step, "oaks")),
        };
        let ran = command.stdin(Stdio::null()).output().expect("it is there");
        assert!(ran.status.success(), "{step}: {ran:?}");
    }

    /// The words of a row, with its marks filled in.
    pub(super) fn words(&self, words: &str, session: &str) -> Vec<String> {
        let filled = |word: &str| {
            let word = if word == "%" { session.to_owned() } else { word.to_owned() };
            let path = |dir: std::path::PathBuf| dir.display().to_string();
            let word = word.replace("{work}", &path(self.scratch.work()));
            word.replace("{garden}", &path(self.template.scratch.work())).replace("{claim}", &self.template.claim)
        };
        words.split(' ').map(filled).collect()
    }

    fn program(&self, words: &[String]) -> Command {
        let mut command = self.scratch.command(SESSION);
        command.args(words);
        command
    }

    /// The program with these words, where the state lets it run.
    pub(super) fn command(&self, words: &[String]) -> Command {
        if self.state != State::ReadOnly || !is_root() {
            return self.program(words);
        }
        // Root writes whatever the modes say: it gets a mount that says no.
        let script = "mount --bind \"$KVIT_CODER_SESSIONS_DIR\" \"$KVIT_CODER_SESSIONS_DIR\" && \
                      mount -o remount,bind,ro \"$KVIT_CODER_SESSIONS_DIR\" && exec \"$SESSION\" \"$@\"";
        let mut command = self.scratch.command("unshare");
        command.args(["-m", "sh", "-c", script, "sh"]).args(words);
        command
    }

    /// A line of the conversation is none any more.
    fn damage(&self) {
        let path = self.scratch.store().join("oaks/history.jsonl");
        let history = fs::read_to_string(&path).expect("it is text");
        let damaged = history.replacen(r#"{"ts":"#, r#"["ts":"#, 2).replacen(r#"["ts":"#, r#"{"ts":"#, 1);
        assert_ne!(history, damaged, "there are two lines");
        fs::write(path, damaged).expect("it is ours");
    }

    /// Another process runs a turn.
    fn hold(&self) -> Child {
        let mut command = self.scratch.command(SESSION);
        command.args(["turn", "oaks", "--", "sh", "-c", "echo up; read line"]);
        let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program was built");
        let mut line = String::new();
        let stdout = holder.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it can be read");
        assert_eq!(line, "up\n");
        holder
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        if let Some(holder) = &mut self.holder {
            drop(holder.stdin.take());
            eventually("the turn ends", || holder.try_wait().is_ok_and(|status| status.is_some()));
        }
        if self.state == State::ReadOnly && !is_root() {
            modes(&self.scratch.store(), 0o700, 0o600);
        }
    }
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("it is new");
    fs::set_permissions(to, fs::metadata(from).expect("it is ours").permissions()).expect("it is ours");
    for entry in fs::read_dir(from).expect("it is ours") {
        let entry = entry.expect("it can be read");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("it can be read").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("there is room");
        }
    }
}

fn modes(path: &Path, dir: u32, file: u32) {
    let is_dir = path.is_dir();
    let mode = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    mode(0o700);
    if is_dir {
        let entries = fs::read_dir(path).expect("it is ours");
        entries.for_each(|entry| modes(&entry.expect("it can be read").path(), dir, file));
    }
    mode(if is_dir { dir } else { file });
}
