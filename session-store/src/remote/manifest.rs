//! The manifest: what a session's copy is, in one small document.

use super::cut::MAX_SEGMENT;
use super::keys;
use super::segment::Segment;
use super::sha::Sha;
use super::{RemoteError, RemoteResult};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use session_core::{Meta, SessionName, Timestamp, format_time, parse_time};

/// The format that this program writes, and the newest that it reads.
pub(super) const FORMAT: u32 = 1;
/// A manifest that is longer is none.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// What a session's copy is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) name: String,
    /// Goes up by one where the history was replaced: scrubbed or repaired.
    pub(super) generation: u64,
    /// Whether secrets were masked on the way.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) redacted: bool,
    pub(super) history: Segments,
    /// The document of the other files; `None` where there are none.
    pub(super) files: Option<Sha>,
    pub(super) pushed: Mark,
    /// Goes up by one with every lease that is taken.
    #[serde(default)]
    pub(super) fence: u64,
    #[serde(default)]
    pub(super) lease: Option<LeaseMark>,
    /// The session's `meta.json`.
    pub(super) meta: Option<Box<RawValue>>,
}

/// Of what the history is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Segments {
    pub(super) bytes: u64,
    pub(super) segments: Vec<Segment>,
}

/// Who wrote a manifest, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) at: String,
    pub(super) by: String,
    /// Tells this write from every other one.
    pub(super) write: String,
}

/// Who has the lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeaseMark {
    pub(super) holder: String,
    pub(super) token: String,
    pub(super) until: String,
    /// Whether it was taken to remove the copy.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) removes: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the attribute of serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Manifest {
    /// Of a session that has no copy yet.
    pub(super) fn new(name: &SessionName, by: &str, at: Timestamp) -> Self {
        Manifest {
            format: FORMAT,
            name: name.to_string(),
            generation: 1,
            redacted: false,
            history: Segments::default(),
            files: None,
            pushed: Mark::new(by, at),
            fence: 0,
            lease: None,
            meta: None,
        }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).expect("strings, numbers and what was JSON before are JSON");
        json.push(b'\n');
        json
    }

    /// Reads the manifest of a session. What it says is checked as far as it can be without other objects.
    pub(super) fn read(name: &SessionName, bytes: &[u8]) -> RemoteResult<Self> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let object = || keys::manifest(name);
        let corrupt = |what: String| RemoteError::Corrupt { object: object(), what };
        let version: Version = serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
        if version.format > FORMAT {
            return Err(RemoteError::NewerFormat { object: object(), format: version.format, known: FORMAT });
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
        if manifest.name != name.as_str() {
            return Err(corrupt(format!("it is that of {:?}", manifest.name)));
        }
        let mut at = 0;
        for segment in &manifest.history.segments {
            if segment.offset != at || segment.bytes == 0 {
                return Err(corrupt(format!("segment {segment} does not begin at {at}")));
            }
            if segment.bytes > MAX_SEGMENT * 8 {
                return Err(corrupt(format!("segment {segment} is too long")));
            }
            at = at.checked_add(segment.bytes).ok_or_else(|| corrupt("its segments are too long".to_owned()))?;
        }
        if at != manifest.history.bytes {
            return Err(corrupt(format!("its segments have {at} bytes and not {}", manifest.history.bytes)));
        }
        Ok(manifest)
    }

    /// The metadata that it holds; nothing where that is none.
    pub(super) fn meta(&self) -> Option<Meta> {
        Meta::parse(self.meta.as_ref()?.get().as_bytes()).ok()
    }
}

impl Mark {
    pub(super) fn new(by: &str, at: Timestamp) -> Self {
        Mark { at: format_time(&at), by: by.to_owned(), write: super::sha::random_token() }
    }

    pub(super) fn time(&self) -> Option<Timestamp> {
        parse_time(&self.at)
    }
}

impl LeaseMark {
    /// When it is free unless it is renewed. A time that cannot be read has passed.
    pub(super) fn until(&self) -> Timestamp {
        parse_time(&self.until).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> SessionName {
        SessionName::new("demo").expect("it is a name")
    }

    fn manifest() -> Manifest {
        let mut manifest = Manifest::new(&name(), "oak", Timestamp::default());
        let segment = |offset, bytes| Segment { offset, bytes, sha: Sha::of(b"x") };
        manifest.history = Segments { bytes: 12, segments: vec![segment(0, 5), segment(5, 7)] };
        manifest.meta = RawValue::from_string("{\"name\": \"demo\",\"cost\":0.1}".to_owned()).ok();
        manifest
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = manifest().to_json();
        let read = Manifest::read(&name(), &bytes).expect("it is whole");
        assert_eq!(read.to_json(), bytes);
        assert_eq!(read.meta().map(|meta| meta.cost), Some(0.1));
    }

    #[test]
    fn what_does_not_fit_is_damage_and_a_newer_format_is_not() {
        let broken = |change: fn(&mut Manifest)| {
            let mut manifest = manifest();
            change(&mut manifest);
            Manifest::read(&name(), &manifest.to_json()).expect_err("it does not fit").to_string()
        };
        assert!(broken(|manifest| manifest.history.bytes = 13).contains("12 bytes and not 13"));
        assert!(broken(|manifest| manifest.history.segments[1].offset = 6).contains("does not begin at 5"));
        assert!(broken(|manifest| manifest.history.segments[1].bytes = 0).contains("does not begin at 5"));
        assert!(broken(|manifest| manifest.history.segments[1].bytes = MAX_SEGMENT * 8 + 1).contains("is too long"));
        assert!(broken(|manifest| manifest.name = "other".to_owned()).contains("that of \"other\""));
        assert!(broken(|manifest| manifest.format = 2).contains("format 2"));
        assert!(Manifest::read(&name(), b"{}").is_err());
    }
}
