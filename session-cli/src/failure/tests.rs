//! Each error with its exit status and its advice.

use super::*;

fn told(error: impl Into<Failure>) -> (Exit, String) {
    let failure = error.into();
    (failure.exit, failure.hint.unwrap_or_default())
}

#[test]
fn what_somebody_else_may_end_is_busy_and_what_only_this_call_can_change_is_usage() {
    let (name, path) = (|| "oak".to_owned(), || "oak".into());
    let session = || session_core::SessionName::new("oak").expect("a name");
    let (before, now) = (chrono::DateTime::UNIX_EPOCH.into(), chrono::DateTime::UNIX_EPOCH.into());
    let locks = io::ErrorKind::Unsupported;
    for (error, exit, hint) in [
        (StoreError::NoHome, Exit::Usage, "--dir"),
        (StoreError::PruneTime { before, now }, Exit::Usage, "30d"),
        (StoreError::LineTooLong { event: 1, bytes: 9, limit: 8, path: path() }, Exit::Usage, "session spill"),
        (StoreError::NotFound { name: name(), base: path() }, Exit::NotFound, "session list"),
        (StoreError::Deleted { name: name(), path: path() }, Exit::Busy, "session trash list"),
        (StoreError::Succeeded { name: name(), successor: "ash".into() }, Exit::Busy, "goes on with it"),
        (StoreError::SuccessorLoop { name: session(), at: session() }, Exit::Busy, "session doctor"),
        (StoreError::NewerFormat { path: path(), format: 9 }, Exit::Busy, "newer version"),
        (StoreError::LockLost { name: name() }, Exit::Busy, ""),
        (StoreError::LockUnsupported { path: path(), source: locks.into() }, Exit::Busy, ""),
        (StoreError::PruneChanged { name: session() }, Exit::Busy, "look at the plan"),
        (StoreError::KeepsChanging { path: path() }, Exit::Busy, "try again"),
        (StoreError::NotMasked { path: path(), why: "no text".into() }, Exit::Refused, "--no-redact"),
        (StoreError::Escapes { path: path() }, Exit::Refused, ""),
    ] {
        let text = format!("{error:?}");
        let (told, advice) = told(error);
        assert_eq!(told, exit, "{text}");
        assert!(advice.contains(hint) && advice.is_empty() == hint.is_empty(), "{text}: {advice:?}");
    }
}

#[test]
fn a_disk_that_is_full_or_closed_is_busy_whatever_failed_on_it() {
    for (kind, exit, hint) in [
        (io::ErrorKind::StorageFull, Exit::Busy, "make room"),
        (io::ErrorKind::PermissionDenied, Exit::Busy, "as it is"),
        (io::ErrorKind::InvalidData, Exit::Usage, ""),
    ] {
        let (told, advice) = told(StoreError::Read { path: "oak".into(), source: kind.into() });
        assert!(told == exit && advice.contains(hint), "{kind:?}: {told:?} {advice:?}");
    }
}
