//! A segment of a history, and its name.

use super::sha::Sha;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A part of the history: `<offset>-<bytes>-<sha256>`, which is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Segment {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) sha: Sha,
}

impl Segment {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012}-{}-{}", self.offset, self.bytes, self.sha)
    }
}

impl FromStr for Segment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "not <offset>-<bytes>-<sha256>";
        let mut parts = text.splitn(3, '-');
        let mut part = || parts.next().ok_or(WRONG);
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse::<u64>().map_err(|_| WRONG),
            false => Err(WRONG),
        };
        let segment = Segment { offset: number(part()?)?, bytes: number(part()?)?, sha: part()?.parse()? };
        // One name for one segment.
        if segment.to_string() == text { Ok(segment) } else { Err(WRONG) }
    }
}

impl Serialize for Segment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Segment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_one_name_and_nothing_else_is_one() {
        let segment = Segment { offset: 5, bytes: 7, sha: Sha::of(b"oak") };
        let (text, sha) = (segment.to_string(), segment.sha);
        assert_eq!(text, format!("000000000005-7-{sha}"));
        assert_eq!(text.parse(), Ok(segment));
        let upper = sha.to_string().to_uppercase();
        let others = [
            format!("5-7-{sha}"),
            format!("000000000005-07-{sha}"),
            format!("+00000000005-7-{sha}"),
            format!("000000000005-+7-{sha}"),
            format!("-00000000005-7-{sha}"),
            format!("000000000005--{sha}"),
            format!("99999999999999999999-7-{sha}"),
            format!("000000000005-7-{upper}"),
            format!("000000000005-7-{sha}-"),
            "000000000005-7".to_owned(),
            "oak".to_owned(),
            String::new(),
        ];
        for other in others {
            assert!(other.parse::<Segment>().is_err(), "{other}");
            assert!(serde_json::from_value::<Segment>(other.clone().into()).is_err(), "{other}");
        }
    }
}
