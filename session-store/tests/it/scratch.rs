//! A store of one's own, and what can be put into it.

use session_proc::Identity;
use session_store::{Empties, Options, SessionName, Store};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// A process that lives until it is dropped.
pub(crate) struct Sleeper(Child);

impl Sleeper {
    pub(crate) fn start() -> Self {
        Sleeper::run(Command::new("sleep").arg("600"))
    }

    pub(crate) fn run(command: &mut Command) -> Self {
        Sleeper(command.spawn().expect("the program can be run"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn identity(&self) -> Identity {
        let pid = i32::try_from(self.pid()).expect("process ids are small");
        Identity::of(pid).expect("/proc is readable").expect("it is not reaped")
    }

    pub(crate) fn is_live(&self) -> bool {
        self.identity().liveness().expect("/proc is readable").is_live()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        drop(self.0.kill().and_then(|()| self.0.wait()));
    }
}

/// An identity as the files under `proc/` have it.
pub(crate) fn identity_json(process: &Identity) -> String {
    let Identity { pid, start_ticks, boot_id } = process;
    format!("{{\"pid\":{pid},\"start_ticks\":{start_ticks},\"boot_id\":\"{boot_id}\"}}")
}

/// A process that certainly is none any more.
pub(crate) fn dead() -> Identity {
    let own = Identity::own().expect("/proc is readable");
    Identity { start_ticks: own.start_ticks + 1, ..own }
}

/// A message of the user at second `s`.
pub(crate) fn user(s: u32, text: &str) -> String {
    format!(
        "{{\"ts\":\"2026-01-02T03:04:{s:02}Z\",\"kind\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

pub(crate) fn name(name: &str) -> SessionName {
    SessionName::new(name).expect("it is a session name")
}

/// A scratch directory with a store's directory in it.
pub(crate) struct Scratch {
    dir: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let scratch = Scratch { dir };
        fs::create_dir(scratch.base()).expect("the scratch directory is ours");
        fs::set_permissions(scratch.base(), Permissions::from_mode(0o700)).expect("it is ours");
        scratch
    }

    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.dir.path().join("sessions")
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.base().join(path)
    }

    pub(crate) fn store(&self) -> Store {
        Store::open_at(self.base())
    }

    pub(crate) fn store_with(&self, options: Options) -> Store {
        self.store().with_options(options)
    }

    /// Writes a file below the store's directory, private as the store's own are.
    pub(crate) fn put(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        self.dir(path.parent().expect("it is below the store"));
        fs::write(&path, bytes).expect("the scratch directory is ours");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
        path
    }

    pub(crate) fn put_at(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>, modified: SystemTime) -> PathBuf {
        let path = self.put(path, bytes);
        touch(&path, modified);
        path
    }

    /// Makes a directory below the store's, private as the store's own are.
    pub(crate) fn dir(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path(path);
        if !path.is_dir() {
            self.dir(path.parent().expect("it is below the store"));
            fs::create_dir(&path).expect("the scratch directory is ours");
            fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("it is ours");
        }
        path
    }

    /// A session whose history is these lines.
    pub(crate) fn session(&self, name: &str, lines: &[String]) -> PathBuf {
        self.put(format!("{name}/history.jsonl"), lines.concat());
        self.path(name)
    }

    /// The names of all sessions, sorted.
    pub(crate) fn listed(&self) -> Vec<String> {
        let listed = self.store().list(Empties::Show).expect("it can be read");
        let mut names: Vec<_> = listed.into_iter().map(|info| info.name).collect();
        names.sort();
        names
    }
}

pub(crate) fn touch(path: &Path, modified: SystemTime) {
    File::options().read(true).open(path).and_then(|file| file.set_modified(modified)).expect("the file is ours");
}

pub(crate) fn at_second(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Every path below a directory with its mode, size, time and bytes, links not followed: equal before and after means
/// that nothing was touched.
pub(crate) fn picture(dir: &Path) -> Vec<String> {
    let mut open = vec![dir.to_owned()];
    let mut picture = Vec::new();
    while let Some(path) = open.pop() {
        let metadata = path.symlink_metadata().expect("it was just listed");
        let content = match metadata.file_type() {
            kind if kind.is_file() => format!("{:?}", fs::read(&path)),
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path)),
            _ => String::new(),
        };
        let (mode, modified) = (metadata.mode(), (metadata.mtime(), metadata.mtime_nsec()));
        picture.push(format!("{path:?} {mode:o} {modified:?} {content}"));
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).expect("it can be read");
            open.extend(entries.map(|entry| entry.expect("it can be read").path()));
        }
    }
    picture.sort();
    picture
}

/// Calls until it gives something, for at most twenty seconds.
pub(crate) fn eventually<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "it did not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs on a thread and fails if it does not end: something blocks it.
pub(crate) fn unblocked<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || send.send(act()));
    let done = receive.recv_timeout(Duration::from_secs(60)).expect("nothing in a store may block");
    thread.join().expect("it has ended").expect("it was received");
    done
}

/// The lines of a file, split at newlines only.
pub(crate) fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.split_terminator('\n').map(str::to_owned).collect()
}

/// The live conversation of a session, as the reference prints it.
pub(crate) fn loaded(store: &Store, session: &str) -> Vec<String> {
    let conversation = store.load(&name(session)).unwrap_or_else(|error| panic!("{session}: {error}"));
    let line = |message: &session_core::Message| String::from_utf8(message.to_reference_json()).expect("JSON is text");
    conversation.messages.iter().map(line).collect()
}
