//! A scratch workspace with its store, an obvious way to look at a directory, and stock git with a clean environment.

use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Error, Options, RelPath, Request, Restored, Scope, Snapshot, TurnRef,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What stands at a path: enough to tell any two workspaces apart that a restore must tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    File { bytes: Vec<u8>, exec: bool },
    Link(PathBuf),
    Dir,
    Other,
}

pub(crate) type State = BTreeMap<PathBuf, Node>;

/// Every file, link and empty directory below a directory, links unfollowed, without `.git`.
pub(crate) fn state(dir: &Path) -> State {
    let mut found = State::new();
    walk(dir, Path::new(""), &mut found);
    found
}

fn walk(root: &Path, rel: &Path, found: &mut State) {
    for entry in fs::read_dir(root.join(rel)).expect("a readable directory") {
        let entry = entry.expect("a readable directory");
        if entry.file_name() == ".git" {
            continue;
        }
        let rel = rel.join(entry.file_name());
        let path = root.join(&rel);
        let meta = fs::symlink_metadata(&path).expect("it was listed");
        let node = if meta.is_symlink() {
            Node::Link(fs::read_link(&path).expect("a link"))
        } else if meta.is_dir() {
            // Those with something in them are told by it.
            if fs::read_dir(&path).expect("readable").next().is_some() {
                walk(root, &rel, found);
                continue;
            }
            Node::Dir
        } else if meta.is_file() {
            let bytes = fs::read(&path).expect("a readable file");
            Node::File { bytes, exec: meta.mode() & 0o100 != 0 }
        } else {
            Node::Other
        };
        found.insert(rel, node);
    }
}

/// Every byte and mode below a directory, `.git` included: for what must not change at all.
pub(crate) fn fingerprint(dir: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(path) = todo.pop() {
        let meta = fs::symlink_metadata(&path).expect("it was listed");
        let bytes = if meta.is_symlink() {
            fs::read_link(&path).expect("a link").into_os_string().as_bytes().to_vec()
        } else if meta.is_dir() {
            todo.extend(fs::read_dir(&path).expect("readable").map(|entry| entry.expect("readable").path()));
            Vec::new()
        } else {
            fs::read(&path).expect("a readable file")
        };
        found.insert(path, (meta.mode(), bytes));
    }
    found
}

pub(crate) struct Lab {
    pub(crate) dir: TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) store: PathBuf,
    pub(crate) checkpoints: Checkpoints,
}

pub(crate) fn scratch() -> TempDir {
    tempfile::Builder::new().prefix("ckpt-test-").tempdir().expect("a scratch directory")
}

impl Lab {
    pub(crate) fn new() -> Self {
        Lab::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let dir = scratch();
        let base = dir.path().canonicalize().expect("it exists");
        let (workspace, store) = (base.join("work"), base.join("session/checkpoints"));
        fs::create_dir(&workspace).expect("scratch");
        let mut options = Options::new(&workspace, &store);
        change(&mut options);
        let (checkpoints, _) = Checkpoints::open(options).expect("a fresh store");
        Lab { dir, workspace, store, checkpoints }
    }

    /// Opens the same store anew, as another process would.
    pub(crate) fn reopen(&mut self) -> session_checkpoint::OpenReport {
        let (checkpoints, report) = Checkpoints::open(self.checkpoints.options().clone()).expect("a good store");
        self.checkpoints = checkpoints;
        report
    }

    pub(crate) fn path(&self, rel: impl AsRef<OsStr>) -> PathBuf {
        self.workspace.join(Path::new(rel.as_ref()))
    }

    pub(crate) fn write(&self, rel: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) {
        write(&self.path(rel), bytes);
    }

    pub(crate) fn remove(&self, rel: &str) {
        let path = self.path(rel);
        let meta = fs::symlink_metadata(&path).expect("it is there");
        if meta.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("scratch");
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, rel: &str) {
        let path = self.path(rel);
        fs::create_dir_all(path.parent().expect("below the workspace")).expect("scratch");
        std::os::unix::fs::symlink(target, path).expect("scratch");
    }

    pub(crate) fn read(&self, rel: &str) -> String {
        fs::read_to_string(self.path(rel)).expect("it is there, and text")
    }

    pub(crate) fn mode(&self, rel: &str) -> u32 {
        fs::symlink_metadata(self.path(rel)).expect("it is there").mode() & 0o7777
    }

    pub(crate) fn chmod(&self, rel: &str, mode: u32) {
        chmod(&self.path(rel), mode);
    }

    pub(crate) fn exists(&self, rel: &str) -> bool {
        fs::symlink_metadata(self.path(rel)).is_ok()
    }

    pub(crate) fn state(&self) -> State {
        state(&self.workspace)
    }

    pub(crate) fn try_snapshot(&mut self) -> Result<Snapshot, Error> {
        self.checkpoints.snapshot(&Request::next("test"), &Cancel::new())
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.try_snapshot().expect("a snapshot")
    }

    pub(crate) fn try_restore(&mut self, at: TurnRef, policy: ConflictPolicy) -> Result<Restored, Error> {
        let plan = self.checkpoints.plan_restore(at, &Scope::default(), &Cancel::new())?;
        self.checkpoints.apply_restore(&plan, policy, &Cancel::new())
    }

    /// Restores a turn, overwriting what was edited since, and insists on success.
    pub(crate) fn restore(&mut self, turn: u32) {
        drop(self.restored(turn));
    }

    pub(crate) fn restored(&mut self, turn: u32) -> Restored {
        let restored = self.try_restore(TurnRef::Turn(turn), ConflictPolicy::Force).expect("a restore");
        assert!(restored.is_exact() && restored.raced.is_empty(), "{restored:?}");
        restored
    }

    pub(crate) fn undo(&mut self) {
        drop(self.undone());
    }

    pub(crate) fn undone(&mut self) -> Restored {
        let restored = self.checkpoints.undo(ConflictPolicy::Stop, &Cancel::new()).expect("an undo");
        assert!(restored.is_exact(), "{restored:?}");
        restored
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.store.join("repo.git")
    }

    /// Runs stock git on the store and gives what it prints; anything but success is a failure of the test.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn try_git(&self, args: &[&str]) -> Output {
        git_at(&self.repo(), self.dir.path(), args)
    }

    /// `git fsck` has nothing to say.
    pub(crate) fn fsck(&self) {
        let output = self.try_git(&["fsck", "--full", "--strict", "--no-dangling"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let said: String = said.lines().filter(|line| !line.starts_with("notice:")).collect();
        assert!(output.status.success() && said.is_empty(), "{said}");
    }

    pub(crate) fn paths(&self, turn: u32) -> Vec<String> {
        let reader = self.checkpoints.reader().expect("a store");
        let files = reader.files(TurnRef::Turn(turn)).expect("a turn");
        files.iter().map(|file| file.path.to_string()).collect()
    }
}

/// The git program on a repository, without anybody's configuration.
pub(crate) fn git_at(repo: &Path, home: &Path, args: &[&str]) -> Output {
    git_command(home).arg("--git-dir").arg(repo).args(args).output().expect("git runs")
}

pub(crate) fn git_command(home: &Path) -> Command {
    // An empty file and not /dev/null: git, run as root, would replace the device by a file when it writes there.
    let empty = home.join("empty-gitconfig");
    if !empty.exists() {
        fs::write(&empty, "").expect("scratch");
    }
    let mut git = Command::new("git");
    git.env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("GIT_CONFIG_GLOBAL", &empty)
        .env("GIT_CONFIG_SYSTEM", &empty)
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@b.invalid")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@b.invalid")
        .current_dir(home);
    git
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a file has a directory")).expect("scratch");
    fs::write(path, bytes).expect("scratch");
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("scratch");
}

pub(crate) fn rel(path: &str) -> RelPath {
    RelPath::new(path).expect("a relative path")
}

pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
