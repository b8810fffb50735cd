//! Where a session's checkpoints are, and of which workspace.

use super::at::At;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use session_checkpoint::{Checkpoints, Error, OpenReport, Options, Reader, RelPath, TurnRef};
use session_core::SessionName;
use std::path::{Component, Path, PathBuf};

/// Where external files stand in a tree.
pub(super) const EXTERNAL: &str = ".session-external";

/// The flag of verbs that look at the workspace.
#[derive(Debug, clap::Args)]
pub(super) struct InWorkspace {
    /// The directory, where the session does not say which it works in
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) workspace: Option<PathBuf>,
}

/// A session's checkpoints.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) name: SessionName,
    /// The session's own directory.
    dir: PathBuf,
    pub(super) store: PathBuf,
}

/// A checkpoint with whoever can read it.
pub(super) struct Found {
    pub(super) reader: Reader,
    pub(super) at: TurnRef,
}

impl Place {
    /// That of the session that is named, for who only looks at it.
    pub(super) fn of(context: &Context, session: &str) -> Result<Self, Failure> {
        Place::named(context, &target::resolve(context, session)?)
    }

    /// The same, for who changes its checkpoints or its workspace.
    pub(super) fn to_change(context: &Context, session: &str) -> Result<Self, Failure> {
        Place::named(context, &target::resolve_to_change(context, session)?)
    }

    pub(super) fn named(context: &Context, name: &SessionName) -> Result<Self, Failure> {
        let paths = context.store.paths(name)?;
        Ok(Place { name: name.clone(), dir: paths.dir().to_owned(), store: paths.checkpoints() })
    }

    /// Our checkpoints, where there are any.
    pub(super) fn ours(&self) -> Result<Option<Reader>, Failure> {
        some(Reader::open(&self.store))
    }

    /// The reference's, where there are any.
    pub(super) fn reference(&self) -> Result<Option<Reader>, Failure> {
        some(Reader::open_reference(&self.store))
    }

    /// Who reads a checkpoint.
    pub(super) fn find(&self, at: At) -> Result<Found, Failure> {
        match at {
            At::Ours(at) => Ok(Found { reader: Reader::open(&self.store)?, at }),
            At::Reference(n) => Ok(Found { reader: Reader::open_reference(&self.store)?, at: TurnRef::Turn(n) }),
            At::Disk => Err(Failure::new(Exit::Usage, "the disk is no checkpoint")),
        }
    }

    /// The workspace, and the rules of its newest checkpoint. The flag wins over what the session says, which wins over
    /// what the checkpoints were taken of.
    pub(super) fn options(&self, context: &Context, flag: &InWorkspace) -> Result<Options, Failure> {
        let reader = self.ours()?;
        let recorded = reader.as_ref().and_then(|reader| reader.status().ok()).map(|status| status.workspace);
        let said = context.store.read_meta(&self.name)?.meta.workspace;
        let said = Some(PathBuf::from(said)).filter(|path| !path.as_os_str().is_empty());
        let workspace = flag.workspace.clone().or(said).or(recorded).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("session {} does not say which directory it works in", self.name))
                .hint("--workspace names it for this call, `session meta SESSION workspace=DIR` for good")
        })?;
        let mut options = Options::new(workspace, &self.store);
        options.exclude_dirs = vec![self.dir.clone(), context.store.base_dir().to_owned()];
        options.home = std::env::var_os("HOME").map(PathBuf::from);
        if let Some(reader) = reader {
            reader.keep_rules(&mut options)?;
        }
        Ok(options)
    }

    /// The stores of other sessions on the same workspace.
    pub(super) fn others(&self, context: &Context, workspace: &Path) -> Result<Vec<PathBuf>, Failure> {
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let mut stores = Vec::new();
        for name in context.store.names()?.into_iter().filter(|name| *name != self.name) {
            let Ok(paths) = context.store.paths(&name) else { continue };
            // One that cannot be read has nothing to say about whose change it was.
            let status = Reader::open(&paths.checkpoints()).and_then(|reader| reader.status());
            if status.is_ok_and(|status| status.workspace == workspace) {
                stores.push(paths.checkpoints());
            }
        }
        Ok(stores)
    }
}

fn some(opened: Result<Reader, Error>) -> Result<Option<Reader>, Failure> {
    match opened {
        Err(Error::NoStore { .. }) => Ok(None),
        other => Ok(Some(other?)),
    }
}

/// The name of the session whose checkpoints are there.
pub(super) fn session_of(store: &Path) -> String {
    let name = store.parent().and_then(Path::file_name).unwrap_or(store.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Refuses a directory that is not the one that the checkpoints were taken of, unless a person says that it is meant.
pub(super) fn refuse_other(checkpoints: &mut Checkpoints, report: &OpenReport, adopt: bool) -> Result<(), Failure> {
    if !report.other_workspace {
        return Ok(());
    }
    if adopt {
        return Ok(checkpoints.adopt_workspace()?);
    }
    let recorded = checkpoints.reader()?.status()?.workspace;
    Err(Error::OtherWorkspace { path: checkpoints.options().workspace.clone(), recorded }.into())
}

/// The paths inside a checkpoint that a person means: relative to the current directory where that is inside the
/// workspace, else to the workspace. An absolute path outside it is that of an external file.
pub(super) fn paths(workspace: Option<&Path>, typed: &[PathBuf]) -> Result<Vec<RelPath>, Failure> {
    let workspace = workspace.map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.to_owned()));
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize()).ok();
    let below = |dir: &PathBuf| workspace.as_ref().and_then(|root| dir.strip_prefix(root).ok()).map(Path::to_owned);
    let prefix = here.as_ref().and_then(below).unwrap_or_default();
    let one = |typed: &PathBuf| {
        let path = match typed.is_absolute() {
            false => prefix.join(typed),
            true => below(typed).unwrap_or_else(|| Path::new(EXTERNAL).join(typed.strip_prefix("/").unwrap_or(typed))),
        };
        RelPath::from_user(&without_parents(&path))
            .ok_or_else(|| Failure::new(Exit::Usage, format!("{} is no path inside the workspace", typed.display())))
    };
    typed.iter().map(one).collect()
}

/// The path with each `..` taken together with the name before it, by the names alone.
fn without_parents(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
