//! Which bytes of a JSON text are text.

use session_core::json;
use session_core::redact::is_opaque;
use std::ops::Range;

/// The strings of a JSON text in which secrets are looked for.
pub(crate) struct Texts(Vec<Range<usize>>);

impl Texts {
    /// `None` if it is no JSON.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let strings = json::strings(text)?.into_iter();
        let opaque = |string: &json::StringSpan| {
            let member = string.member.clone().map_or(&b""[..], |member| &text[member]);
            is_opaque(member, &text[string.inside.clone()])
        };
        Some(Texts(strings.filter(|string| !opaque(string)).map(|string| string.inside).collect()))
    }

    /// Whether a range lies in one of them.
    pub(crate) fn hold(&self, range: &Range<usize>) -> bool {
        self.around(range).is_some()
    }

    /// The one that a range lies in.
    pub(crate) fn around(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let before = self.0.partition_point(|text| text.start <= range.start);
        let text = self.0.get(before.checked_sub(1)?)?;
        (range.end <= text.end).then(|| text.clone())
    }
}
