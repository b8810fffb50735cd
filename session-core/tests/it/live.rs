//! Which events are live, by their numbers.

use session_core::{Kind, Limits, LiveEvents};

#[test]
fn a_live_event_is_found_by_its_number_and_a_later_kind_of_ours_is_none_of_the_conversation() {
    let message = |text: &str| format!(r#"{{"kind":"message","message":{{"role":"user","content":"{text}"}}}}"#);
    let later = r#"{"kind":"x.later","x":{}}"#;
    let rollback = r#"{"kind":"rollback","dropped":1}"#;
    let history = [message("a"), later.into(), "not json".into(), message("b"), rollback.into()].join("\n") + "\n";
    let live = LiveEvents::read(history.as_bytes(), Limits::default()).expect("a slice has no read errors");
    let by_number: Vec<_> = (0..7).map(|number| live.get(number)).collect();
    assert_eq!(by_number, [None, Some(true), None, Some(false), None, None, None]);
    assert!(Kind::from("x.later").is_extension() && !Kind::from("later").is_extension());
}
