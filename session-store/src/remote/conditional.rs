//! Whether a store has conditional writes: tried once, and then written down there.
//!
//! A store that takes a write whatever its condition says would let two machines hold one lease. Some do: a shared
//! directory has no such writes, and some servers pass over the headers. So nothing is believed that was not tried.

use super::objects::{Call, Written};
use super::sha::random_token;
use super::{Remote, RemoteError, RemoteResult, keys};
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;
const MAX_BYTES: u64 = 64 << 10;

/// The document that says that sessions are kept here.
#[derive(Serialize, Deserialize)]
struct StoreDocument {
    format: u32,
    /// Whether an object is replaced only if it is as the writer says.
    conditional_writes: bool,
}

impl Remote {
    /// Whether the store has conditional writes: without them sessions can be copied there, and not leased.
    ///
    /// In the store when it returns: a document that says so.
    ///
    /// # Errors
    /// [`RemoteError::Request`], [`RemoteError::NewerFormat`].
    pub fn has_conditional_writes(&self) -> RemoteResult<bool> {
        let call = self.objects().call();
        self.run(self.conditional(&call))
    }

    /// What was found out before, by this value or by a session's state.
    pub(super) fn remember_conditional(&self, is: bool) {
        // It is the same whoever says it first.
        self.inner.conditional.set(is).ok();
    }

    pub(super) async fn conditional(&self, call: &Call<'_>) -> RemoteResult<bool> {
        if let Some(is) = self.inner.conditional.get() {
            return Ok(*is);
        }
        let is = match call.get(&keys::store(), MAX_BYTES).await? {
            Some((bytes, _)) => read(&bytes)?,
            None => {
                let is = probe(call).await?;
                let document = StoreDocument { format: FORMAT, conditional_writes: is };
                let json = serde_json::to_vec(&document).expect("a number and a flag are always JSON");
                call.put(&keys::store(), json).await?;
                is
            }
        };
        self.remember_conditional(is);
        Ok(is)
    }
}

fn read(bytes: &[u8]) -> RemoteResult<bool> {
    let object = keys::store();
    match serde_json::from_slice::<StoreDocument>(bytes) {
        Ok(StoreDocument { format, .. }) if format > FORMAT => {
            Err(RemoteError::NewerFormat { object, format, known: FORMAT })
        }
        Ok(document) => Ok(document.conditional_writes),
        Err(error) => Err(RemoteError::Corrupt { object, what: error.to_string() }),
    }
}

/// Makes an object, and sees whether the writes fail that must.
async fn probe(call: &Call<'_>) -> RemoteResult<bool> {
    let key = keys::probe(&random_token());
    let holds = holds(call, &key).await;
    let removed = call.delete(&key).await;
    let holds = holds?;
    removed?;
    Ok(holds)
}

async fn holds(call: &Call<'_>, key: &str) -> RemoteResult<bool> {
    let Written::Yes(first) = call.create(key, b"1".to_vec()).await? else { return Ok(false) };
    if !matches!(call.create(key, b"2".to_vec()).await?, Written::No) {
        return Ok(false);
    }
    let Written::Yes(second) = call.update(key, b"3".to_vec(), &first).await? else { return Ok(false) };
    Ok(second != first && matches!(call.update(key, b"4".to_vec(), &first).await?, Written::No))
}
