//! The same on a real S3 server: Garage, started on loopback with a configuration and a directory of its own.
//!
//! It takes a program that not every machine has (`cargo install garage --locked`), from `SESSION_GARAGE` or the path, and
//! runs with the slow families only. Credentials come from the environment, as they do in life: so the claims are made by
//! a process that has them.

use super::{Machine, data, named, told};
use crate::child;
use session_store::remote::{PushOptions, Remote, RemoteError, RemoteOptions, RemoveOptions};
use std::env;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BUCKET: &str = "bucket";
/// Made up for a server that lives for this test.
const KEY: (&str, &str) =
    ("GK31c2f218a2e44f485b94239e", "b892c0665f0ada8a4755dae98baa3b133590e11dae3bcc1f9d769d67f16c3835");
const SECRET: &str = "1799bccfd7411eddcf9ebd316bc1f5287ad12a68094e1c6ac6abde7e6feae1ec";
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, if it is here.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = || env::split_paths(&path).map(|dir| dir.join("garage")).find(|program| program.is_file());
    env::var_os("SESSION_GARAGE").map(PathBuf::from).or_else(on_path)
}

/// A server with one bucket. It ends when this is dropped.
struct Garage {
    program: PathBuf,
    dir: TempDir,
    server: Child,
    port: u16,
}

impl Garage {
    fn start(program: PathBuf) -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let free = || TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let ports = [free(), free()].map(|listener| listener.local_addr().expect("it is bound").port());
        let at = dir.path().display();
        let configuration = format!(
            "metadata_dir = \"{at}/meta\"\ndata_dir = \"{at}/data\"\ndb_engine = \"sqlite\"\nreplication_factor = 1\n\
             rpc_bind_addr = \"127.0.0.1:{rpc}\"\nrpc_public_addr = \"127.0.0.1:{rpc}\"\nrpc_secret = \"{SECRET}\"\n\n\
             [s3_api]\ns3_region = \"garage\"\napi_bind_addr = \"127.0.0.1:{s3}\"\nroot_domain = \".s3.invalid\"\n",
            rpc = ports[0],
            s3 = ports[1]
        );
        fs::write(dir.path().join("garage.toml"), configuration).expect("there is room");
        let log = fs::File::create(dir.path().join("log")).expect("there is room");
        let mut command = command(&program, dir.path(), &["server"]);
        let server = command.stdout(Stdio::null()).stderr(log).spawn().expect("it can be started");
        let garage = Garage { program, dir, server, port: ports[1] };
        garage.set_up();
        garage
    }

    fn set_up(&self) {
        let id = self.eventually(&["node", "id", "-q"]);
        let id = id.trim().split('@').next().unwrap_or_default().to_owned();
        self.eventually(&["layout", "assign", "-z", "here", "-c", "1G", &id]);
        self.eventually(&["layout", "apply", "--version", "1"]);
        self.eventually(&["bucket", "create", BUCKET]);
        self.eventually(&["key", "import", "--yes", "-n", "tests", KEY.0, KEY.1]);
        self.eventually(&["bucket", "allow", "--read", "--write", "--owner", BUCKET, "--key", KEY.0]);
    }

    /// What a command says, when the server is so far that it works.
    fn eventually(&self, words: &[&str]) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let Output { status, stdout, stderr } =
                command(&self.program, self.dir.path(), words).output().expect("it can be started");
            if status.success() {
                return String::from_utf8_lossy(&stdout).into_owned();
            }
            let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < end, "{words:?}: {}\n{log}", String::from_utf8_lossy(&stderr));
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Garage {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn command(program: &Path, dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("RUST_LOG", "garage=warn").current_dir(dir).args(["-c", "garage.toml"]).args(words);
    command.stdin(Stdio::null());
    command
}

#[test]
fn a_real_server_holds_what_the_small_one_holds() {
    let is_long = session_testing::is_long();
    let Some(program) = program().filter(|_| is_long) else {
        told("not tried: it is a slow family, and takes `garage` on the path or in SESSION_GARAGE");
        return;
    };
    let garage = Garage::start(program);
    let report = garage.dir.path().join("report");
    let mut command = child::command("remote::garage::child_with_credentials", &[&report.display().to_string()]);
    command.env("AWS_ACCESS_KEY_ID", KEY.0).env("AWS_SECRET_ACCESS_KEY", KEY.1).env("AWS_REGION", "garage");
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", garage.port)).env("AWS_ALLOW_HTTP", "true");
    assert!(child::Running::start(command).wait().success());
    told(&fs::read_to_string(report).expect("it was written"));
}

/// A machine that uses the server, below a prefix of its own.
fn on(prefix: &str, machine: &str) -> Machine {
    let options = RemoteOptions { machine: machine.to_owned(), ..RemoteOptions::default() };
    Machine::new(Remote::open(&format!("s3://{BUCKET}/{prefix}"), options).expect("the environment says the rest"))
}

#[test]
fn child_with_credentials() {
    let Some(task) = child::task() else { return };
    for (n, claim) in data::CLAIMS.into_iter().enumerate() {
        let prefix = format!("claim {n}");
        claim(&prefix, &on(&prefix, "oak"), &on(&prefix, "elm"));
    }
    let (oak, elm) = (on("team", "oak"), on("team", "elm"));
    let has_conditions = oak.remote.has_conditional_writes().expect("it can be tried");
    let (times, requests) = many_pushes(&oak, &elm);
    lists(&oak, &elm);
    if has_conditions {
        leases(&oak, &elm);
    } else {
        let refused = oak.remote.lease(&named("demo"), PATIENCE);
        assert!(matches!(refused, Err(RemoteError::NoConditionalWrites { .. })), "{refused:?}");
    }
    let (time, few, most) = (times[times.len() / 2], requests[requests.len() / 2], requests[requests.len() - 1]);
    let report = format!(
        "conditional writes: {has_conditions}; a push took {time:?} and {few} requests in the median, {most} at most"
    );
    fs::write(&task[0], report).expect("there is room");
}

/// A hundred pushes, segments put together, a file in two parts, and everything fetched.
fn many_pushes(oak: &Machine, elm: &Machine) -> (Vec<Duration>, Vec<u64>) {
    let session = oak.create("demo");
    let large: Vec<u8> = (0..40_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(oak.path("demo").join("tmp/large"), &large).expect("there is room");
    let (mut times, mut requests) = (Vec::new(), Vec::new());
    for n in 0..=100 {
        oak.says("demo", &format!("event {n}"));
        let start = Instant::now();
        let pushed = oak.remote.push(&session, &PushOptions::default()).expect("it can be sent");
        // The first one sends the large file, and learns what the server can do.
        if n > 0 {
            times.push(start.elapsed());
            requests.push(pushed.traffic.requests);
        }
    }
    times.sort_unstable();
    requests.sort_unstable();
    assert!(requests[requests.len() - 1] <= 6, "a push costs what is new, not what is there: {requests:?}");
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.history("demo"), oak.history("demo"));
    assert!(fs::read(elm.path("demo").join("tmp/large")).expect("it came in") == large, "it is the same");
    assert!(oak.remote.verify(&named("demo")).expect("it is there").faults.is_empty());
    (times, requests)
}

fn lists(oak: &Machine, elm: &Machine) {
    for name in ["demo two", "other"] {
        oak.create(name);
        oak.says(name, "one");
        oak.push(name).expect("it can be sent");
    }
    let names = |prefix: &str| {
        let list = elm.remote.list(prefix).expect("it can be listed");
        list.sessions.into_iter().map(|session| session.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["demo", "demo two", "other"]);
    assert_eq!(names("demo "), ["demo two"]);
    elm.remote.remove(&named("other"), &RemoveOptions::default()).expect("it can be removed");
    assert_eq!(names("o"), [""; 0]);
    let list = elm.remote.list("").expect("it can be listed");
    let summaries = elm.remote.summaries(&list.sessions).found;
    assert!(summaries.iter().flatten().all(|summary| summary.meta.title == "Plant three oaks"), "{summaries:?}");
}

fn leases(oak: &Machine, elm: &Machine) {
    let lease = oak.remote.lease(&named("demo"), PATIENCE).expect("it is free");
    let refused = elm.remote.lease(&named("demo"), PATIENCE);
    assert!(matches!(refused, Err(RemoteError::Leased { .. })), "{refused:?}");
    oak.says("demo", "under the lease");
    lease.finish(&oak.session("demo"), &PushOptions::default()).expect("it can be sent");
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.history("demo"), oak.history("demo"));
}
