//! Background processes in a copy: told, and never taken for any of this machine.

use super::{Elsewhere, bundle, imported};
use crate::garden::Garden;
use crate::scratch::{Sleeper, identity_json, name, user};
use session_proc::{Gone, ProcessId, State, Stop, TurnMarker};
use std::fs;

/// A session with a running process, of ours and as the reference has one.
fn running() -> (Garden, Sleeper) {
    let garden = Garden::new();
    garden.scratch.session("oaks", &[user(5, "plant")]);
    let sleeper = Sleeper::start();
    let started =
        sleeper.identity().started().expect("/proc is readable").to_rfc3339_opts(chrono::SecondsFormat::Nanos, true);
    for id in ["bg1", "bg2"] {
        let record = format!(
            "{{\"id\":\"{id}\",\"name\":\"server\",\"command\":\"sleep 600\",\"cwd\":\"/w\",\"pid\":{},\"started\":\"{started}\",\"report\":\"exit\",\"state\":\"running\",\"exit_code\":0,\"ended\":\"0001-01-01T00:00:00Z\"}}",
            sleeper.pid()
        );
        garden.scratch.put(format!("oaks/proc/{id}.json"), record);
        garden.scratch.put(format!("oaks/proc/{id}.log"), "ready\n");
    }
    garden.scratch.put(
        "oaks/proc/.bg1.id",
        format!("{{\"process\":{},\"watch\":{{\"output\":true}}}}", identity_json(&sleeper.identity())),
    );
    garden.scratch.put("oaks/proc/turn.pid", format!("{}\n", sleeper.pid()));
    (garden, sleeper)
}

#[test]
fn p03_what_runs_in_the_session_is_gone_in_its_copy_and_is_never_signalled_from_there() {
    let (garden, sleeper) = running();
    let here = garden.store().registry(&name("oaks")).expect("it is there").list().expect("it can be read").processes;
    assert!(here.iter().all(|status| status.state == State::Running));
    // The copy stands on the very machine where the process runs.
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    imported(&store, &bundle(&garden.store(), &["oaks"]));
    let registry = store.registry(&name("oaks")).expect("it is there");
    let there = registry.list().expect("it can be read").processes;
    let told: Vec<_> =
        there.iter().map(|status| (status.id.as_str(), &status.state, status.gone, status.ended)).collect();
    assert_eq!(
        told,
        [("bg1", &State::Gone, Some(Gone::Elsewhere), None), ("bg2", &State::Gone, Some(Gone::Elsewhere), None)]
    );
    for id in ["bg1", "bg2"] {
        let id = ProcessId::new(id).expect("it is an id");
        assert_eq!(registry.members(&id).expect("it can be read"), []);
        let stopped = registry.stop(&id, &Stop::default()).expect("it is no error");
        assert!(stopped.signalled.is_empty() && stopped.survivors.is_empty());
    }
    assert!(sleeper.is_live());
    // That it does not run any more is told once, with what it said.
    let events: Vec<String> = registry.events().expect("it can be read").into_iter().map(|event| event.text).collect();
    assert_eq!(events.len(), 2);
    assert!(events[0].contains("bg1 (server)") && events[0].contains("ready"), "{}", events[0]);
    assert!(registry.events().expect("it can be read").is_empty());
    // No turn runs in the copy, so that it can be used and deleted.
    let session = store.open(&name("oaks")).expect("it is there");
    assert_eq!(TurnMarker::read(&session.paths().proc()).expect("it can be read"), None);
    drop(session);
    store.delete(&name("oaks"), session_store::Deletion::Careful).expect("nothing runs");
    assert!(sleeper.is_live());
}

#[test]
fn e03_a_copy_of_what_runs_comes_back_byte_for_byte() {
    let (garden, _sleeper) = running();
    let first = bundle(&garden.store(), &["oaks"]);
    let elsewhere = Elsewhere::new();
    imported(&elsewhere.store(), &first);
    assert!(bundle(&elsewhere.store(), &["oaks"]) == first);
    assert!(bundle(&garden.store(), &["oaks"]) == first);
}

#[test]
fn i01_a_message_that_a_process_has_taken_is_handed_out_again_in_the_copy() {
    let garden = Garden::new();
    garden.scratch.session("oaks", &[user(5, "plant")]);
    let sleeper = Sleeper::start();
    let owner = sleeper.identity();
    let claim = format!("1-2.0a0b0c0d@{}-{}-{}", owner.pid, owner.start_ticks, owner.boot_id);
    garden.scratch.put(format!("oaks/inbox/.claims/{claim}"), "use tabs");
    let elsewhere = Elsewhere::new();
    let first = bundle(&garden.store(), &["oaks"]);
    imported(&elsewhere.store(), &first);
    assert!(bundle(&elsewhere.store(), &["oaks"]) == first);
    let session = elsewhere.store().open(&name("oaks")).expect("it is there");
    let drained = session.drain_inbox().expect("nothing forbids it");
    assert_eq!(drained.messages.len(), 1);
    assert!(fs::read_dir(garden.scratch.path("oaks/inbox/.claims")).expect("it is there").count() == 1);
}
