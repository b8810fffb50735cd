//! What is wrong with a bundle.

use session_core::{NameError, SessionPathError};
use std::io;
use std::path::PathBuf;

/// A bundle that does not come in: which file, which member of it, and what is wrong. Nothing of it is in the store.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", file.display(), member.as_deref().map(|member| format!(", member {member:?}")).unwrap_or_default())]
pub struct BundleError {
    /// What the bundle was called.
    pub file: PathBuf,
    /// The member, or the last one that was begun. `None`: none was.
    pub member: Option<String>,
    /// What is wrong.
    #[source]
    pub fault: BundleFault,
}

/// What can be wrong with a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleFault {
    /// It does not begin as a bundle does.
    #[error("it is no bundle of sessions")]
    NoBundle,
    /// It was made by a program with a newer format.
    #[error("it has the form {schema:?}, and this program knows {known}")]
    NewerFormat {
        /// What it says of itself.
        schema: String,
        /// The newest that is known here.
        known: &'static str,
    },
    /// It ends before its end.
    #[error("it was cut off")]
    Truncated,
    /// Its bytes are not those that were written, or the file cannot be read.
    #[error("it is damaged")]
    Damaged {
        /// What was found.
        source: io::Error,
    },
    /// A header of the archive is none.
    #[error("a header of the archive is damaged")]
    Header,
    /// The manifest cannot be read.
    #[error("its manifest cannot be read")]
    Manifest {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The manifest is longer than any should be.
    #[error("its manifest is longer than {limit} bytes")]
    ManifestTooLong {
        /// How long one may be.
        limit: u64,
    },
    /// A session in it has no good name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A member has no good path.
    #[error(transparent)]
    Path(#[from] SessionPathError),
    /// Two members have one path, two sessions one name, or they are not in their order.
    #[error("it comes twice, or not in its place")]
    Duplicate,
    /// A member is a link.
    #[error("it is a link")]
    Link,
    /// A member is a device, a FIFO, or anything else that is neither a file nor a directory.
    #[error("it is neither a file nor a directory")]
    Kind,
    /// A member is not what the manifest says it is: a directory, or a file of another length.
    #[error("it is not what the manifest says it is")]
    Mismatch,
    /// A member is not in the manifest, or not in its place.
    #[error("it is not in the manifest, or not in its place")]
    Unlisted,
    /// The manifest has a member that is missing.
    #[error("it is missing")]
    Missing,
    /// The bytes of a member are not those that the manifest means.
    #[error("its bytes are not those that the manifest names")]
    Digest,
    /// Something stands behind the end.
    #[error("something stands behind its end")]
    Trailing,
    /// A member belongs to a machine, and to no session that comes from elsewhere.
    #[error("it belongs to the machine that the session was on")]
    NotPortable,
    /// A member says that a process runs.
    #[error("it leads to a process")]
    Process,
    /// It has too many members.
    #[error("it has {members} members; {limit} are allowed")]
    TooMany {
        /// How many.
        members: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// Its members have too many bytes.
    #[error("its members have {bytes} bytes; {limit} are allowed")]
    TooLarge {
        /// How many.
        bytes: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// It grows too much as it is unpacked.
    #[error("it grows to more than {limit} times its size as it is unpacked")]
    Expands {
        /// How much it may.
        limit: u64,
    },
}

/// What is wrong, and with which member, where one is to blame.
pub(super) type Refused = (Option<String>, BundleFault);

impl BundleFault {
    /// What a failed read says.
    pub(super) fn of(error: io::Error) -> Self {
        match error.downcast::<BundleFault>() {
            Ok(fault) => fault,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => BundleFault::Truncated,
            Err(source) => BundleFault::Damaged { source },
        }
    }
}
