//! A headless Chromium that a test drives through its debugging pipe: JSON messages, each ended by a NUL.

use crate::support::Scratch;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The program, as Debian's package names it.
const PROGRAM: &str = "chromium";
/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Told to the page before anything of it runs: whatever its policy forbids is noted.
const WATCH: &str = "window.violations = []; addEventListener('securitypolicyviolation', \
    (event) => window.violations.push(event.violatedDirective + ' ' + event.blockedURI))";

/// A browser with one page.
pub(super) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    id: u64,
    page: String,
    /// What happened meanwhile, by the name of the event.
    events: Vec<Value>,
}

/// Whether there is a browser. Where there has to be one, as `.ci/run` says it, none is a failure.
pub(super) fn is_here() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = std::env::split_paths(&path).any(|dir| dir.join(PROGRAM).is_file());
    assert!(
        is_here || std::env::var_os("SESSION_BROWSER").is_none(),
        "SESSION_BROWSER is set and there is no {PROGRAM}"
    );
    is_here
}

impl Browser {
    /// Starts a browser that reaches no other machine.
    pub(super) fn start(scratch: &Scratch) -> Self {
        // The debugging pipe is the descriptors 3 and 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let mut command = scratch.command("sh");
        command.args([
            "-c",
            script,
            PROGRAM,
            "--headless",
            "--remote-debugging-pipe",
            "--disable-gpu",
            "--no-first-run",
        ]);
        command.args([
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--disable-background-networking",
            "--disable-dev-shm-usage",
        ]);
        command.arg(format!("--user-data-dir={}", scratch.home().join("browser").display()));
        if nix::unistd::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("there is a shell");
        let to = child.stdin.take().expect("it is piped");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, from) = channel();
        thread::spawn(move || {
            loop {
                let mut message = Vec::new();
                let read = out.read_until(0, &mut message);
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { return };
                if read.is_err() || sender.send(value).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser { child, to, from, id: 0, page: String::new(), events: Vec::new() };
        browser.open_page();
        browser
    }

    fn open_page(&mut self) {
        let target = self.ask("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let session = self.ask("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        self.page = session["sessionId"].as_str().expect("a page has a session").to_owned();
        for domain in ["Page", "Runtime", "Network", "Log", "DOM"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
        self.ask("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": WATCH }));
    }

    /// Sends a command and waits for its answer.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let mut message = json!({ "id": self.id, "method": method, "params": params });
        if !self.page.is_empty() {
            message["sessionId"] = json!(self.page);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let answer = self.next(method);
            if answer["id"] == self.id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self, what: &str) -> Value {
        match self.from.recv_timeout(PATIENCE) {
            Ok(value) => value,
            Err(RecvTimeoutError::Timeout) => panic!("the browser does not answer: {what}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the browser is gone: {what}"),
        }
    }

    /// Loads a file and waits until it is there.
    pub(super) fn load(&mut self, path: &Path) {
        self.events.clear();
        self.ask("Page.navigate", &json!({ "url": format!("file://{}", path.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next("load");
            self.events.push(event);
        }
    }

    /// The value of an expression in the page.
    pub(super) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(super) fn until(&mut self, expression: &str) {
        crate::support::eventually(expression, || self.eval(expression) == true);
    }

    /// Presses keys, one after the other.
    pub(super) fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            self.key(&key.to_string(), &key.to_string(), 0);
        }
    }

    /// Presses one key; `modifiers` is 2 for Ctrl.
    pub(super) fn key(&mut self, key: &str, text: &str, modifiers: u8) {
        // What the browser itself does with a key goes by its code.
        let code = if key == "Escape" { 27 } else { 0 };
        let press = json!({ "key": key, "text": text, "modifiers": modifiers, "windowsVirtualKeyCode": code });
        for kind in ["keyDown", "keyUp"] {
            let mut event = press.clone();
            event["type"] = json!(kind);
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// The events of a name so far.
    pub(super) fn events(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).collect()
    }

    /// Nothing was asked for but the page, nothing was forbidden, nothing popped up, nothing failed.
    pub(super) fn assert_calm(&mut self) {
        let violations = self.eval("window.violations");
        assert_eq!(violations, json!([]), "the policy was broken");
        for quiet in
            ["Page.javascriptDialogOpening", "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"]
        {
            assert_eq!(self.events(quiet), Vec::<&Value>::new(), "{quiet}");
        }
        let asked = self.events("Network.requestWillBeSent");
        let asked: Vec<_> = asked.iter().filter_map(|event| event["params"]["request"]["url"].as_str()).collect();
        let beyond: Vec<_> = asked.iter().filter(|url| !url.starts_with("data:")).skip(1).collect();
        assert!(beyond.is_empty() && asked.first().is_some_and(|url| url.starts_with("file:")), "{asked:?}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closing takes its children along; a kill is for one that does not listen.
        let close = format!("{}\0", json!({ "id": 0, "method": "Browser.close" }));
        let asked = self.to.write_all(close.as_bytes());
        let mut patience = 500;
        while asked.is_ok() && patience > 0 && matches!(self.child.try_wait(), Ok(None)) {
            patience -= 1;
            thread::sleep(Duration::from_millis(10));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
