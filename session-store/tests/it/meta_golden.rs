//! Opening and appending beside what the reference did with the same metadata.

use serde_json::Value;
use session_core::{Message, SessionName, parse_time};
use session_store::{Session, Store, StoreError};
use std::fs;
use std::path::Path;

const NOW: &str = "2026-10-11T12:13:14Z";

/// What is different here, and why: see `docs/format.md`.
fn deviation(case: &str) -> Option<Deviation> {
    match case {
        "truncated" | "garbage" | "nul_bytes" | "bad_created" => Some(Deviation::KeptAside),
        "unknown_keys" => Some(Deviation::UnknownSurvives),
        "succeeded_missing" => Some(Deviation::Dangling { opens: "a" }),
        "succeeded_15" => Some(Deviation::Dangling { opens: "s14" }),
        "succeeded_escape" => Some(Deviation::Dangling { opens: "a" }),
        "dot_name" => Some(Deviation::NoName),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Deviation {
    /// The file is kept under another name, and what it said is taken from the history.
    KeptAside,
    UnknownSurvives,
    /// Nothing is created; the last session that exists is opened, and is not written to.
    Dangling {
        opens: &'static str,
    },
    NoName,
}

#[test]
fn metadata_is_read_and_written_as_the_reference_does() {
    for line in include_str!("../data/meta_open.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("the vectors are JSON");
        Case { case: &case, dir: tempfile::tempdir().expect("a scratch directory") }.run();
    }
}

struct Case<'a> {
    case: &'a Value,
    dir: tempfile::TempDir,
}

impl Case<'_> {
    fn text(&self, key: &str) -> &str {
        self.case[key].as_str().unwrap_or_default()
    }

    fn base(&self) -> std::path::PathBuf {
        self.dir.path().join("base")
    }

    fn run(&self) {
        let case = self.text("case");
        for (name, content) in self.case["meta_files"].as_object().into_iter().flatten() {
            fs::create_dir_all(self.base().join(name)).expect("the scratch directory is empty");
            if let Some(bytes) = bytes(content) {
                fs::write(self.base().join(name).join("meta.json"), bytes).expect("it can be written");
            }
        }
        let Ok(name) = SessionName::new(self.text("open")) else {
            assert!(self.case.get("error").is_some() || deviation(case) == Some(Deviation::NoName), "{case}");
            return;
        };
        let store = Store::open_at(self.base()).with_clock(|| parse_time(NOW).expect("it is well formed"));
        let opened = store.open_or_create(&name);
        if self.case.get("error").is_some() {
            assert!(
                matches!(opened, Err(StoreError::SuccessorLoop { .. } | StoreError::ChainTooLong { .. })),
                "{case}: {opened:?}"
            );
            return;
        }
        let session = opened.unwrap_or_else(|error| panic!("{case}: {error}"));
        match deviation(case) {
            Some(Deviation::Dangling { opens }) => self.dangling(&session, opens),
            deviation => self.compare(session, deviation),
        }
    }

    fn dangling(&self, session: &Session, opens: &str) {
        let case = self.text("case");
        assert_eq!(session.name(), opens, "{case}");
        assert!(session.dangling_successor().is_some(), "{case}");
        let refused = session.append_messages([Message::user("on we go")]);
        assert!(matches!(refused, Err(StoreError::Succeeded { .. })), "{case}: {refused:?}");
        let count = |dir: &Path| fs::read_dir(dir).expect("it can be read").count();
        let given = self.case["meta_files"].as_object().map_or(0, serde_json::Map::len);
        assert_eq!((count(self.dir.path()), count(&self.base())), (1, given), "{case}: nothing is created");
    }

    fn compare(&self, session: Session, deviation: Option<Deviation>) {
        let case = self.text("case");
        assert_eq!(session.name(), self.case["result"]["name"].as_str().expect("a name"), "{case}");
        assert_eq!(session.dangling_successor(), None, "{case}");
        let path = session.paths().meta();
        let before = fs::read(&path).expect("opening leaves a file");
        assert_eq!(shown(&before), self.text("meta_json_after_open"), "{case}");
        session.append_messages([Message::user("on we go")]).expect("it can be appended to");
        let dir = session.dir().to_owned();
        session.close().expect("it can be closed");

        let after = shown(&fs::read(&path).expect("it is still there"));
        let aside = fs::read(dir.join("meta.json.bad-20261011T121314Z")).ok();
        match deviation {
            None => assert_eq!(after, self.text("meta_json_after_append"), "{case}"),
            Some(Deviation::UnknownSurvives) => assert_eq!(
                after,
                self.text("meta_json_after_append")
                    .replace("1.25\n}", "1.25,\n  \"tags\": [\"a\"],\n  \"pinned\": true\n}"),
                "{case}"
            ),
            Some(Deviation::KeptAside) => {
                let rebuilt = "\",\n  \"first_prompt\": \"on we go\",\n  \"x\": {\"rebuilt\":true}\n}";
                let rebuilt = self.text("meta_json_after_append").replace("\"\n}", rebuilt);
                assert_eq!(after, rebuilt, "{case}");
            }
            Some(Deviation::Dangling { .. } | Deviation::NoName) => unreachable!("they have been dealt with"),
        }
        let kept = deviation == Some(Deviation::KeptAside);
        assert_eq!(aside, kept.then_some(before), "{case}");
    }
}

fn bytes(content: &Value) -> Option<Vec<u8>> {
    if let Some(text) = content.as_str() {
        return Some(text.into());
    }
    // The one vector that is not UTF-8.
    content.get("b64").map(|_| b"{\"name\":\"s\",\"title\":\"caf\xc3\"}".to_vec())
}

/// The text as the vectors have it.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(NOW, "<now>")
}
