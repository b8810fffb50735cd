//! A store with something of everything that can be wrong.

use crate::scratch::{Scratch, Sleeper, at_second, dead, identity_json, user};
use session_proc::Identity;
use session_store::Deletion;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

/// A session whose history is these lines, with metadata that says its name.
pub(crate) fn whole(scratch: &Scratch, session: &str, lines: &[String]) -> PathBuf {
    scratch.put(format!("{session}/meta.json"), format!("{{\"name\":\"{session}\"}}"));
    scratch.session(session, lines)
}

/// A store with something of everything.
pub(crate) fn everything() -> Scratch {
    let scratch = Scratch::new();
    the_store(&scratch);
    histories(&scratch);
    metadata(&scratch);
    inbox(&scratch);
    flat_files(&scratch);
    scratch
}

/// What the store keeps beside the sessions, and what is no session.
fn the_store(scratch: &Scratch) {
    let store = scratch.store();
    whole(scratch, "deleted", &[user(1, "a")]);
    store.trash(&crate::scratch::name("deleted"), "", Deletion::Careful).expect("nothing forbids it");
    scratch.put(".session-store/trash/stray", "");
    scratch.put(".session-store/staging/half", "");

    scratch.dir("unreadable/history.jsonl");
    scratch.put("-rf/history.jsonl", "");
    symlink("nowhere", scratch.path("link.jsonl")).expect("it is ours");
}

/// Histories with damage, from the future, and out of order.
fn histories(scratch: &Scratch) {
    whole(scratch, "lines", &[
        "not json\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"},{\"id\":\"c\"}]}}\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"tool\",\"tool_call_id\":\"d\"}}\r\n".into(),
        "{\"kind\":\"rollback\",\"dropped\":1}\n".into(),
        "not json\n".into(),
        "{\"kind\":\"rollback\",\"dropped\":9}\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"},{\"id\":\"c\"}]}}\n".into(),
        "{\"kind\":\"message\",\"message\":{\"role\":\"tool\",\"tool_call_id\":\"d\"}}\n".into(),
        user(1, "torn").trim_end().to_owned(),
    ]);
    scratch.put("lines/.quarantine/1-x", "half");
    whole(
        scratch,
        "newer",
        &["{\"ts\":\"2999-03-01T00:00:00Z\",\"kind\":\"x.session\",\"x\":{\"format\":99}}\n".into()],
    );
    let call = "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"arguments\":\"{\"}}]}}\n";
    whole(scratch, "told", &[user(9, "late"), user(1, "early"), call.into()]);
    scratch.put("told/.backup/history-20260102T030405Z-0-0123456789abcdef", user(5, "while it was replaced"));
}

/// Metadata that cannot be read, is not there, or says what is not so; steps that were begun.
fn metadata(scratch: &Scratch) {
    scratch.put_at("bad-meta/meta.json", "{\"name\":", at_second(1));
    scratch.put("bad-meta/meta.json.bad-20260102T030405Z", "{\"name\":");
    scratch.put("other-name/meta.json", "{\"name\":\"somebody\",\"succeeded_by\":\"nobody\"}");
    whole(scratch, "somebody", &[user(1, "a")]);
    scratch.put("loop/meta.json", "{\"name\":\"loop\",\"succeeded_by\":\"loop\",\"parent\":\"loop\"}");
    let made_for = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.session\",\"x\":{\"format\":1,\"parent\":\"left\",\"compacts\":true}}\n";
    whole(scratch, "unlinked", &[made_for.into(), user(1, "a summary")]);
    scratch.put("unlinked/meta.json", "{\"name\":\"unlinked\",\"parent\":\"left\"}");
    scratch.put("left/.rewind", "{}");
    scratch.put("told/.repair", "{\"began\":\"2026-01-02T03:04:05Z\",\"planned\":[\"stale-turn: end the turn\"]}\n");
    scratch.put("left/.tmp-meta.json-0123456789abcdef", "");

    scratch.session("no-meta", &[user(1, "a")]);
    scratch.session("no-meta-2", &[]);
    scratch.session("new-name", &[user(1, "a")]);
    scratch.put("new-name/meta.json", "{\"name\":\"old-name\"}");
    let title = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.title\",\"x\":{\"title\":\"Oaks\",\"by\":\"user\"}}\n";
    whole(scratch, "titled", &[user(1, "a"), title.into()]);
    whole(scratch, "rebuilt", &[user(1, "a")]);
    scratch.put("rebuilt/.meta.json", "{\"name\":\"rebuilt\",\"x\":{\"rebuilt\":true}}");
    whole(scratch, "untold", &[user(1, "a")]);
    scratch.put("untold/meta.json", "{\"name\":\"untold\",\"succeeded_by\":\"told\"}");
}

/// A turn that is over, and messages that nobody waits for.
fn inbox(scratch: &Scratch) {
    scratch.put("turn/proc/turn.pid", "2147483647\n");
    scratch.put("inbox/inbox/1-a", "hi");
    scratch.put("inbox/inbox/.claims/1-a", "hi");
    scratch.put("inbox/inbox/.failed/1-a", "hi");
    let claim = |id: &str, owner: &Identity| {
        let Identity { pid, start_ticks, boot_id } = owner;
        scratch.put(format!("inbox/inbox/.claims/{id}@{pid}-{start_ticks}-{boot_id}"), "hi");
    };
    claim("1-1.00000001", &dead());
    claim("2-2.00000002", &dead());
    claim("3-3.00000003", &Identity::own().expect("/proc is readable"));
    let recorded = user(1, "hi").replace("}}\n", "},\"x\":{\"inbox\":[\"1-1.00000001\"]}}\n");
    whole(scratch, "inbox", &[recorded]);
}

/// Flat files in every relation to the session of their name; one whose mode is too wide.
fn flat_files(scratch: &Scratch) {
    let flat = "{\"role\":\"user\",\"content\":\"a\"}\n";
    for session in ["waiting", "interrupted", "migrated", "shadowed"] {
        scratch.put(format!("{session}.jsonl"), flat.repeat(2));
    }
    whole(scratch, "interrupted", &[user(1, "a")]);
    whole(scratch, "migrated", &[user(1, "a"), user(2, "a"), user(3, "b")]);
    whole(scratch, "shadowed", &[user(1, "b")]);
    let loose = whole(scratch, "loose", &[user(1, "a")]);
    fs::set_permissions(loose, Permissions::from_mode(0o755)).expect("it is ours");
}

/// A session with processes: one without a record, one whose turn is over, and one that a record takes for running.
pub(crate) fn with_processes(scratch: &Scratch) -> [Sleeper; 2] {
    let proc = scratch.dir("processes/proc");
    let lost = Sleeper::run(
        Command::new("sleep").arg("600").env("SESSION_STORE_PROCESS", format!("0f:3:bg1:{}", proc.display())),
    );
    let left = Sleeper::start();
    let now = session_core::format_time(&chrono::Utc::now().fixed_offset());
    let record = |id: &str, pid: u32| {
        let record = format!(
            "{{\"id\":\"{id}\",\"command\":\"sleep 600\",\"cwd\":\"/\",\"pid\":{pid},\"started\":\"{now}\",\"state\":\"running\"}}"
        );
        scratch.put(format!("processes/proc/{id}.json"), record);
    };
    record("bg2", 2_147_483_647);
    record("bg3", left.pid());
    let (process, over) = (identity_json(&left.identity()), identity_json(&dead()));
    let dossier = format!(
        "{{\"origin\":{{\"token\":\"1f\",\"name\":\"\",\"command\":\"sleep 600\",\"cwd\":\"/\",\"lifetime\":\"ephemeral\",\
         \"log_cap_bytes\":65536,\"claimed\":\"{now}\",\"starter\":{over},\"turn\":{{\"id\":\"t1\",\"process\":{over}}}}},\
         \"process\":{process},\"started\":\"{now}\"}}"
    );
    scratch.put("processes/proc/.bg3.id", dossier);
    [lost, left]
}
