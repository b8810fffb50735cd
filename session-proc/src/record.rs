//! The record of a background process as the reference reads and writes it: `<id>.json`.

use chrono::{DateTime, Datelike as _, Utc};
use serde_json::{Map, Value};
use session_core::json::push_string;
use session_core::{format_time, parse_time};
use std::fmt;

/// Where a process is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its id is claimed, and nothing is known to run yet. The reference does not know this state and never sees it.
    Starting,
    /// It runs.
    Running,
    /// It ended by itself, or by a signal that was not ours.
    Exited,
    /// It ended because it was stopped.
    Killed,
    /// It does not run, and nobody wrote down how it ended.
    Gone,
    /// What a record says that is none of these. It is taken for an end, as the reference does.
    Other(String),
}

impl State {
    /// The word for it in a record.
    pub fn as_str(&self) -> &str {
        match self {
            State::Starting => "starting",
            State::Running => "running",
            State::Exited => "exited",
            State::Killed => "killed",
            State::Gone => "gone",
            State::Other(word) => word,
        }
    }

    /// Whether nothing more will be heard of it.
    pub fn is_final(&self) -> bool {
        match self {
            State::Starting | State::Running => false,
            State::Exited | State::Killed | State::Gone | State::Other(_) => true,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What every record that this crate makes says under `report`: that the end is told.
pub(crate) const REPORT: &str = "exit";

/// The fields of a record, in the order in which they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) cwd: String,
    pub(crate) pid: i64,
    /// `None` is the reference's zero time.
    pub(crate) started: Option<DateTime<Utc>>,
    /// A word of the reference's, kept as it is: what is told stands in the dossier.
    pub(crate) report: String,
    pub(crate) state: State,
    pub(crate) exit_code: i64,
    pub(crate) ended: Option<DateTime<Utc>>,
    /// Every other member, which stays as it is.
    pub(crate) more: Map<String, Value>,
}

impl Record {
    /// Reads a record. A member that is missing or null has its zero value.
    ///
    /// # Errors
    /// What is wrong with the text; a member of the wrong type is as wrong as broken JSON.
    pub(crate) fn parse(text: &[u8]) -> Result<Record, serde_json::Error> {
        let mut members = Members(serde_json::from_slice(text)?);
        members.0.retain(|_, value| !value.is_null());
        Ok(Record {
            id: members.text("id")?,
            name: members.text("name")?,
            command: members.text("command")?,
            cwd: members.text("cwd")?,
            pid: members.integer("pid")?,
            started: members.time("started")?,
            report: members.text("report")?,
            state: state_of(members.text("state")?),
            exit_code: members.integer("exit_code")?,
            ended: members.time("ended")?,
            more: members.0,
        })
    }

    /// The record's bytes, as the reference writes them.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Object::default();
        out.text("id", &self.id);
        if !self.name.is_empty() {
            out.text("name", &self.name);
        }
        out.text("command", &self.command);
        out.text("cwd", &self.cwd);
        out.raw("pid", &self.pid.to_string());
        out.text("started", &time_text(self.started));
        if !self.report.is_empty() {
            out.text("report", &self.report);
        }
        out.text("state", self.state.as_str());
        out.raw("exit_code", &self.exit_code.to_string());
        out.text("ended", &time_text(self.ended));
        for (name, value) in &self.more {
            out.raw(name, &value.to_string());
        }
        out.end()
    }

    /// Its pid, if that can be one of a background process.
    pub(crate) fn pid(&self) -> Option<i32> {
        i32::try_from(self.pid).ok().filter(|&pid| pid > 1)
    }
}

/// The members of an object that have not been taken yet.
struct Members(Map<String, Value>);

impl Members {
    fn take<T>(&mut self, name: &str, zero: T, read: impl FnOnce(Value) -> Option<T>) -> Result<T, serde_json::Error> {
        match self.0.remove(name) {
            None => Ok(zero),
            Some(value) => {
                read(value).ok_or_else(|| serde::de::Error::custom(format_args!("`{name}` is not of its type")))
            }
        }
    }

    fn text(&mut self, name: &str) -> Result<String, serde_json::Error> {
        self.take(name, String::new(), |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    fn integer(&mut self, name: &str) -> Result<i64, serde_json::Error> {
        self.take(name, 0, |value| value.as_i64())
    }

    fn time(&mut self, name: &str) -> Result<Option<DateTime<Utc>>, serde_json::Error> {
        let read = |value: Value| Some(parse_time(value.as_str()?)?.to_utc());
        // The zero time of the reference is the first moment of year 1.
        let zero = |time: &DateTime<Utc>| time.year() <= 1;
        Ok(self.take(name, None, |value| read(value).map(Some))?.filter(|time| !zero(time)))
    }
}

/// An object in the reference's indented form.
#[derive(Default)]
struct Object(Vec<u8>);

impl Object {
    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        push_string(&mut self.0, text);
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.0.extend_from_slice(json.as_bytes());
    }

    fn name(&mut self, name: &str) {
        self.0.extend_from_slice(if self.0.is_empty() { b"{\n  " } else { b",\n  " });
        push_string(&mut self.0, name);
        self.0.extend_from_slice(b": ");
    }

    fn end(mut self) -> Vec<u8> {
        self.0.extend_from_slice(b"\n}\n");
        self.0
    }
}

fn time_text(time: Option<DateTime<Utc>>) -> String {
    time.map_or_else(|| "0001-01-01T00:00:00Z".to_owned(), |time| format_time(&time.fixed_offset()))
}

fn state_of(word: String) -> State {
    match word.as_str() {
        "running" => State::Running,
        "exited" => State::Exited,
        "killed" => State::Killed,
        "gone" => State::Gone,
        _ => State::Other(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every member that is known, each with a value that is not its zero, and one that is not.
    const FULL: &str = "{\n  \"id\": \"bg7\",\n  \"name\": \"oaks\",\n  \"command\": \"echo \\\"\\u003ca\\u003e\\\" \
        \\u0026 \\u2028\\n\",\n  \"cwd\": \"/w\",\n  \"pid\": 77,\n  \"started\": \"2026-01-02T03:04:05.12Z\",\n  \
        \"report\": \"exit\",\n  \"state\": \"exited\",\n  \"exit_code\": 3,\n  \
        \"ended\": \"2026-01-02T03:04:06Z\",\n  \
        \"later\": [1,{\"a\":null}]\n}\n";

    #[test]
    fn a_record_comes_back_byte_for_byte() {
        let record = Record::parse(FULL.as_bytes()).expect("it is whole");
        assert_eq!((record.pid(), record.exit_code, record.more.len()), (Some(77), 3, 1));
        assert_eq!(record.command, "echo \"<a>\" & \u{2028}\n");
        assert_eq!(String::from_utf8(record.encode()).expect("UTF-8"), FULL);
    }

    #[test]
    fn the_example_of_the_format_is_read_as_it_is_meant() {
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/format.md");
        let page = std::fs::read_to_string(page).expect("it is part of the project");
        let example = page.lines().find(|line| line.starts_with(r#"{"id":"bg1""#)).expect("the page has an example");
        let record = Record::parse(example.as_bytes()).expect("it is whole");
        assert_eq!((record.more.len(), record.pid(), record.state.is_final()), (0, Some(4711), false));
        let compact: Value = serde_json::from_slice(&record.encode()).expect("JSON");
        assert_eq!(compact, serde_json::from_str::<Value>(example).expect("JSON"));
    }

    #[test]
    fn what_is_missing_or_null_is_zero() {
        let record = Record::parse(br#"{"id":null,"ended":"0001-01-01T00:00:00Z"}"#).expect("it is whole");
        assert_eq!((record.id.as_str(), record.pid, record.started, record.ended), ("", 0, None, None));
        assert_eq!((record.state, record.report.as_str()), (State::Other(String::new()), ""));
    }

    #[test]
    fn every_state_has_its_word_and_only_two_are_no_end() {
        let states = [
            (State::Starting, "starting", false),
            (State::Running, "running", false),
            (State::Exited, "exited", true),
            (State::Killed, "killed", true),
            (State::Gone, "gone", true),
            (State::Other("felled".to_owned()), "felled", true),
        ];
        for (state, word, is_final) in states {
            assert_eq!((state.to_string().as_str(), state.is_final()), (word, is_final));
        }
    }

    #[test]
    fn a_wrong_type_is_as_wrong_as_broken_text() {
        for text in [r#"{"id":7}"#, r#"{"pid":"7"}"#, r#"{"pid":1.5}"#, r#"{"started":"noon"}"#, "[]", "null", "{", ""]
        {
            Record::parse(text.as_bytes()).expect_err(text);
        }
    }

    #[test]
    fn a_pid_that_can_be_nobodys_is_none() {
        for pid in ["1", "0", "-1", "-77", "2147483648", "-9223372036854775808"] {
            let record = Record::parse(format!(r#"{{"pid":{pid}}}"#).as_bytes()).expect("it is whole");
            assert_eq!(record.pid(), None, "{pid}");
        }
    }
}
