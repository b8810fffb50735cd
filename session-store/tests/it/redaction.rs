//! The redactor of a writer: what it gives is written, or nothing.

use crate::scratch::{Scratch, lines, name};
use session_core::{Message, Redact, RedactError, ToolCall};
use session_secrets::Redactor;
use session_store::{Compaction, NewSession, Session, StoreError, TitleSource};
use std::borrow::Cow;
use std::fs;
use std::sync::Arc;

fn token() -> String {
    ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat()
}

fn new() -> NewSession {
    NewSession { name: Some(name("demo")), prompt: format!("use {}", token()), ..NewSession::default() }
}

fn session(scratch: &Scratch, redactor: impl Redact + 'static) -> Session {
    scratch.store().redacted_by(Arc::new(redactor)).create(&new()).expect("it can be created")
}

fn history(scratch: &Scratch) -> Vec<String> {
    lines(&fs::read(scratch.path("demo/history.jsonl")).unwrap_or_default())
}

/// Does to each line what it is told.
struct Does(Answer);

type Answer = fn(&str) -> Result<String, RedactError>;

impl Redact for Does {
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
        Ok(text.into())
    }

    fn json<'a>(&self, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
        (self.0)(json).map(Cow::Owned)
    }
}

#[test]
fn s01_what_is_appended_is_redacted_before_it_is_written() {
    let scratch = Scratch::new();
    let session = session(&scratch, Redactor::new());
    let id = format!("call_{}", token());
    let call = ToolCall {
        id: id.clone().into(),
        name: "Shell".into(),
        arguments: format!("{{\"t\":\"{}\"}}", token()),
        ..ToolCall::default()
    };
    let asks = Message { tool_calls: [call].into(), ..Message::assistant("") };
    session.append_messages([asks, Message::tool_result(&id, "Shell", token())]).expect("it is redacted");
    session.set_title(&format!("With {}", token()), TitleSource::User).expect("it is redacted");
    session.update_meta(|meta| meta.summary = token()).expect("it is redacted");
    let messages = session.load().expect("it can be read").messages;
    let stars = "*".repeat(40);
    assert_eq!(
        (messages[0].tool_calls[0].id.as_ref(), &messages[0].tool_calls[0].arguments),
        (id.as_str(), &format!("{{\"t\":\"{stars}\"}}"))
    );
    assert_eq!((&*messages[1].tool_call_id, &*messages[1].content.text()), (&*id, stars.as_str()));
    let meta = session.meta().expect("it can be read").meta;
    assert_eq!(
        (meta.title, meta.summary, meta.first_prompt),
        (format!("With {stars}"), stars.clone(), format!("use {stars}"))
    );
    assert!(history(&scratch).iter().all(|line| !line.replace(&id, "").contains(&token())));
    // A session that goes on with it gets its summary redacted, too.
    let store = scratch.store().redacted_by(Arc::new(Redactor::new()));
    let lock = session.lock().expect("it is free");
    let compaction = Compaction { name: Some(name("next")), summary: token() };
    store.compact(&session, &lock, &compaction, None).map(drop).expect("nothing forbids it");
    let next = store.load(&name("next")).expect("it can be read");
    assert_eq!(next.messages, [Message::user(&stars)]);
}

#[test]
fn s02_where_the_redactor_fails_nothing_is_written_and_the_error_says_which() {
    let scratch = Scratch::new();
    let session = session(
        &scratch,
        Does(|line| if line.contains("poison") { Err("cannot tell".into()) } else { Ok(line.into()) }),
    );
    session.append_messages([Message::user("first")]).expect("it can tell");
    let before = history(&scratch);
    let error = session.append_messages([Message::user("a"), Message::user("poison")]).expect_err("it cannot tell");
    assert!(matches!(&error, StoreError::NotRedacted { event: 1, .. }), "{error:?}");
    assert!(!error.to_string().contains("poison"), "{error}");
    assert_eq!(history(&scratch), before);
    session.append_messages([Message::user("b")]).expect("it can tell");
    assert_eq!(history(&scratch).len(), before.len() + 1);
}

/// Cannot tell of any text that holds a word.
struct Doubts;

impl Redact for Doubts {
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
        if text.contains("poison") { Err("cannot tell".into()) } else { Ok(text.into()) }
    }
}

#[test]
fn s02_where_the_redactor_fails_on_metadata_it_stays_as_it_was() {
    let scratch = Scratch::new();
    let session = session(&scratch, Doubts);
    session.set_title("Oaks", TitleSource::User).expect("it can tell");
    let picture = || ["meta.json", "history.jsonl"].map(|file| fs::read(scratch.path("demo").join(file)).ok());
    let before = picture();
    let refused = [
        session.set_title("Of poison", TitleSource::User).map(drop),
        session.update_meta(|meta| meta.summary = "of poison".into()).map(drop),
    ];
    for error in refused {
        let error = error.expect_err("it cannot tell");
        assert!(matches!(&error, StoreError::NotRedacted { path, .. } if path.ends_with("meta.json")), "{error:?}");
        assert!(!error.to_string().contains("poison"), "{error}");
        assert_eq!(picture(), before);
    }
    let other = NewSession { name: Some(name("other")), prompt: "drink poison".into(), ..NewSession::default() };
    let refused = scratch.store().redacted_by(Arc::new(Doubts)).create(&other);
    assert!(matches!(refused, Err(StoreError::NotRedacted { .. })), "{refused:?}");
    assert!(!scratch.path("other").exists(), "there is no session by that");
}

#[test]
fn s02_where_the_redactor_gives_something_else_nothing_is_written() {
    let faults: [Answer; 6] = [
        |_| Ok(String::new()),
        |line| Ok(line.replace("call_1", "call_2")),
        |line| Ok(line.replace("\"kind\":\"message\"", "\"kind\":\"notice\"")),
        |line| Ok(format!("{line}\n{line}")),
        |line| Ok(line[..line.len() - 1].to_owned()),
        |line| Ok(line.replace("2026", "1026").replace("\"ts\":\"2", "\"ts\":\"1")),
    ];
    for (n, fault) in faults.into_iter().enumerate() {
        let scratch = Scratch::new();
        let session = session(&scratch, Does(fault));
        let call = ToolCall { id: "call_1".into(), ..ToolCall::default() };
        let message = Message { tool_calls: [call].into(), ..Message::assistant("hello") };
        let error = session.append_messages([message]).expect_err("it is not the same event");
        assert!(matches!(error, StoreError::NotRedacted { event: 0, .. }), "{n}: {error:?}");
        assert_eq!(history(&scratch).concat().trim(), "", "{n}");
    }
}

#[test]
fn a_redactor_that_changes_lengths_is_counted_right() {
    let scratch = Scratch::new();
    let session = session(&scratch, Does(|line| Ok(line.replace("hunter2", "[left out]"))));
    session
        .append(&[session_core::Extension::Note(session_core::Note { topic: "t".into(), text: "hunter2".into() })
            .into_event(crate::support::ts())])
        .expect("it waits");
    let appended = session.append_messages([Message::user("hunter2"), Message::user("oak")]).expect("it is redacted");
    let bytes = fs::read(scratch.path("demo/history.jsonl")).expect("it is there");
    let own = &bytes[usize::try_from(appended.offset).expect("it is small")..];
    assert_eq!((appended.events, appended.bytes), (2, own.len() as u64));
    assert!(own.starts_with(b"{\"ts\"") && lines(own).len() == 2 && lines(own)[0].contains("[left out]"));
}
