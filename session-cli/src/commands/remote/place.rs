//! Which object store is meant, and what this machine is called there.

use crate::exit::Exit;
use crate::failure::Failure;
use nix::unistd::gethostname;
use session_store::remote::{Remote, RemoteOptions};

/// The flags of every verb that speaks to an object store.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The object store: s3://bucket/prefix, gs://…, az://…, file:///dir, or a directory
    #[arg(long = "remote", value_name = "PLACE", env = "SESSION_REMOTE", hide_env_values = true)]
    place: Option<String>,
    /// What this machine is called there [default: its host name]
    #[arg(long, value_name = "NAME", env = "SESSION_MACHINE", hide_env_values = true)]
    machine: Option<String>,
}

impl Place {
    /// Opens it. No request is sent by that.
    pub(crate) fn open(&self) -> Result<Remote, Failure> {
        open(self.place.as_deref(), self.machine.clone())
    }
}

/// Opens the store at a place.
pub(crate) fn open(place: Option<&str>, machine: Option<String>) -> Result<Remote, Failure> {
    let place = place.filter(|place| !place.is_empty()).ok_or_else(|| {
        Failure::new(Exit::Usage, "no object store is named").hint("name it with --remote or SESSION_REMOTE")
    })?;
    let host = || gethostname().ok().and_then(|name| name.into_string().ok());
    let machine = machine.or_else(host).unwrap_or_else(|| RemoteOptions::default().machine);
    Ok(Remote::open(place, RemoteOptions { machine, ..RemoteOptions::default() })?)
}
