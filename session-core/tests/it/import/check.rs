//! What holds for every input of an import; the fuzz target checks it too.

use session_core::interop::import::{Import, ImportFormat, ImportOptions, Imported};
use session_core::{Kind, Message, Repair, Replay, Role, api_view, scan_bytes};
use std::collections::BTreeSet;

/// Reads the bytes as every format, and as what they tell.
pub(crate) fn check(bytes: &[u8]) {
    for format in ImportFormat::ALL.map(Some).into_iter().chain([None]) {
        for repair in [false, true] {
            let mut import = Import::new([("file", bytes)], ImportOptions { format, repair });
            let (mut sessions, mut messages) = (0, 0);
            while let Some(Ok(session)) = import.next() {
                sessions += 1;
                messages += session.messages();
                check_session(&session, repair);
            }
            assert_eq!((import.report().sessions, import.report().messages), (sessions, messages));
        }
    }
}

fn check_session(session: &Imported, repair: bool) {
    let mut history = Vec::new();
    session.events.iter().for_each(|event| event.encode(&mut history));
    let items: Vec<_> = scan_bytes(&history).collect();
    assert_eq!(items.len(), session.events.len(), "every event is a line that can be read");
    let messages = || session.events.iter().filter_map(|event| event.message.as_deref());
    let ids: Vec<&str> = messages().flat_map(|message| &message.tool_calls).map(|call| &*call.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids of calls are unique");
    for file in &session.files {
        assert!(session_core::SessionName::new(file.name.clone()).is_ok(), "{}", file.name);
    }
    let mut stand = 0;
    for event in &session.events {
        if event.kind == Kind::Rollback {
            assert!((1..=stand).contains(&event.dropped), "{stand} messages stand, and {} are taken", event.dropped);
        }
        stand += i64::from(event.message.is_some()) - event.dropped;
    }
    // Only orphans stand where no endpoint takes them, and with repair no call of what is live lacks its result.
    let mut replay = Replay::new();
    session.events.iter().for_each(|event| replay.event(&event.effect(), || event.clone()));
    let live: Vec<_> = replay.into_live();
    let paired: Vec<Message> = live
        .iter()
        .filter(|event| event.x.get("orphan").is_none())
        .filter_map(|event| event.message.as_deref().cloned())
        .collect();
    let is_left_out = |repair: &Repair| matches!(repair, Repair::LeftOutResult { .. });
    let view = api_view(&paired);
    assert!(!view.repairs.iter().any(is_left_out), "{:?}", view.repairs);
    assert!(!repair || view.repairs.is_empty(), "{:?}", view.repairs);
    assert!(paired.iter().all(|message| message.role != Role::Tool || !message.tool_call_id.is_empty()));
}
