//! The list of what is condemned: the object `condemned.json`.

use super::super::objects::{Call, Version, Written};
use super::super::sha::Sha;
use super::super::write::ATTEMPTS;
use super::super::{RemoteError, RemoteResult, keys};
use super::{GRACE, MARKED};
use serde::{Deserialize, Serialize};
use session_core::{SessionName, Timestamp, format_time, parse_time};
use std::collections::BTreeSet;

const FORMAT: u32 = 1;
const MAX_BYTES: u64 = 256 << 20;

/// What is going to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Condemned {
    format: u32,
    /// Who has put it on the list, and when.
    by: String,
    at: String,
    /// When somebody began to remove it.
    removing: Option<String>,
    /// Shared objects.
    pub(super) objects: BTreeSet<Sha>,
    /// Names without a manifest, of which segments or former manifests are left.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) sessions: BTreeSet<String>,
}

impl Condemned {
    /// A list that is made now.
    pub(super) fn new(by: &str, now: Timestamp, objects: BTreeSet<Sha>, sessions: BTreeSet<String>) -> Self {
        Condemned { format: FORMAT, by: by.to_owned(), at: format_time(&now), removing: None, objects, sessions }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.sessions.is_empty()
    }

    pub(super) fn due(&self) -> Timestamp {
        parse_time(&self.at).unwrap_or_default() + GRACE
    }

    /// The list of somebody who begins to remove what stands on it.
    pub(super) fn marked(self, began: Timestamp) -> Self {
        Condemned { removing: Some(format_time(&began)), ..self }
    }

    pub(super) fn is_being_removed(&self, now: Timestamp) -> bool {
        let began = self.removing.as_deref().and_then(parse_time);
        began.is_some_and(|began| now - began < MARKED)
    }
}

/// Takes objects off the list of those that are going to be removed, since somebody is about to name them.
pub(in crate::remote) async fn spare(
    call: &Call<'_>,
    place: &str,
    needed: impl Fn(&Sha) -> bool,
    now: Timestamp,
) -> RemoteResult<()> {
    take_off(call, place, now, |list| list.objects.retain(|sha| !needed(sha))).await
}

/// Takes a name off the list, since somebody is about to make a copy of this name.
pub(in crate::remote) async fn spare_session(
    call: &Call<'_>,
    place: &str,
    name: &SessionName,
    now: Timestamp,
) -> RemoteResult<()> {
    take_off(call, place, now, |list| list.sessions.retain(|listed| listed != name.as_str())).await
}

async fn take_off(call: &Call<'_>, place: &str, now: Timestamp, take: impl Fn(&mut Condemned)) -> RemoteResult<()> {
    for _ in 0..ATTEMPTS {
        let Some((list, version)) = read(call).await? else { return Ok(()) };
        let mut rest = list.clone();
        take(&mut rest);
        if rest == list {
            return Ok(());
        }
        if list.is_being_removed(now) {
            break;
        }
        if write(call, &rest, Some(&version)).await? {
            return Ok(());
        }
    }
    Err(RemoteError::Collecting { place: place.to_owned() })
}

pub(super) async fn read(call: &Call<'_>) -> RemoteResult<Option<(Condemned, Version)>> {
    let object = keys::condemned();
    let Some((bytes, version)) = call.get(&object, MAX_BYTES).await? else { return Ok(None) };
    match serde_json::from_slice::<Condemned>(&bytes) {
        Ok(list) if list.format > FORMAT => {
            Err(RemoteError::NewerFormat { object, format: list.format, known: FORMAT })
        }
        Ok(list) => Ok(Some((list, version))),
        Err(error) => Err(RemoteError::Corrupt { object, what: error.to_string() }),
    }
}

/// Writes the list if it is as it was read. False: it is not.
pub(super) async fn write(call: &Call<'_>, list: &Condemned, from: Option<&Version>) -> RemoteResult<bool> {
    let json = serde_json::to_vec(list).expect("strings and numbers are always JSON");
    let key = keys::condemned();
    let written = match from {
        None => call.create(&key, json.clone()).await?,
        Some(from) => call.update(&key, json.clone(), from).await?,
    };
    match written {
        Written::Yes(_) => Ok(true),
        // A try whose answer was lost makes the next one fail.
        Written::No | Written::Unsupported => Ok(call.get(&key, MAX_BYTES).await?.is_some_and(|(is, _)| is == json)),
    }
}
