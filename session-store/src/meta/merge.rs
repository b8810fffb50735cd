//! Merging our copy of the metadata with what somebody else wrote.

use serde_json::{Map, Value};
use session_core::Meta;

/// The member of the copy's `x` that remembers replaced values: for each field the digests of the last of them.
const KNOWN: &str = "known";
/// How many replaced values of a field are remembered. A process of the reference that is older than so many changes
/// can bring a value back.
const MAX_KNOWN: usize = 64;

/// The fields that are merged as texts, and how to reach them.
type Text = (&'static str, fn(&mut Meta) -> &mut String);
const TEXTS: [Text; 8] = [
    ("name", |meta| &mut meta.name),
    ("workspace", |meta| &mut meta.workspace),
    ("model", |meta| &mut meta.model),
    ("first_prompt", |meta| &mut meta.first_prompt),
    ("title", |meta| &mut meta.title),
    ("summary", |meta| &mut meta.summary),
    ("parent", |meta| &mut meta.parent),
    ("succeeded_by", |meta| &mut meta.succeeded_by),
];

/// The metadata that `copy`, ours, and what others wrote give together; the last of the `files` is the newest.
///
/// Field by field: what a file lacks was dropped, so ours stays. A value that we have, or replaced earlier, is nothing
/// new. Every other value is news. Facts from `x` events of the history are not news of anybody else's.
pub(super) fn merge(copy: &Meta, files: &[&Meta]) -> Meta {
    let mut merged = copy.clone();
    files.iter().for_each(|file| take_news(copy, file, &mut merged));
    merged
}

fn take_news(copy: &Meta, file: &Meta, merged: &mut Meta) {
    let known = Known::of(copy);
    let (mut ours, mut file) = (copy.clone(), file.clone());
    for (field, text) in TEXTS {
        let theirs = std::mem::take(text(&mut file));
        let is_news = !theirs.is_empty() && theirs != *text(&mut ours) && !known.has(field, &theirs);
        if is_news && !is_fact(copy, field) {
            *text(merged) = theirs;
        }
    }
    if file.cost != 0.0 && file.cost != copy.cost && !known.has("cost", &price(&file)) {
        merged.cost = file.cost;
    }
    merged.created = merged.created.or(file.created);
    merged.updated = merged.updated.max(file.updated);
    for (field, theirs) in file.extra.iter() {
        if copy.extra.get(field) != Some(theirs) && !known.has(field, theirs) {
            merged.extra.take_over(field, &file.extra);
        }
    }
    for (field, _) in file.x.iter() {
        if merged.x.get(field).is_none() {
            merged.x.take_over(field, &file.x);
        }
    }
}

/// Whether a field's value in our copy comes from an `x` event of the history.
fn is_fact(copy: &Meta, field: &str) -> bool {
    match field {
        "title" => copy.x.get(super::rules::TITLE_BY).is_some(),
        "workspace" | "parent" => copy.x.get(super::rules::FORMAT).is_some(),
        _ => false,
    }
}

/// What the copy holds after a change: `next`, and the memory of every value of `earlier` that it replaced.
pub(super) fn copy_of(next: &Meta, copy: Option<&Meta>, earlier: &[&Meta]) -> Meta {
    let mut known = copy.map_or_else(Known::default, Known::of);
    let mut next_fields = next.clone();
    for before in earlier {
        let mut before = (*before).clone();
        for (field, text) in TEXTS {
            known.note(field, text(&mut before), text(&mut next_fields));
        }
        known.note("cost", &price(&before), &price(next));
        for (field, value) in before.extra.iter() {
            known.note(field, value, next.extra.get(field).unwrap_or_default());
        }
    }
    let mut copy = next.clone();
    if !known.0.is_empty() {
        copy.x.set(KNOWN, &Value::Object(known.0));
    }
    copy
}

/// Takes the memory out of metadata that leaves this module.
pub(super) fn hide_known(meta: &mut Meta) {
    meta.x.remove(KNOWN);
}

/// What `meta.json` holds of metadata: everything but what only our copy is for.
pub(crate) fn file_of(meta: &Meta) -> Meta {
    let mut file = meta.clone();
    hide_known(&mut file);
    file.x.remove(super::rules::FORMAT);
    file
}

/// Whether both files hold all that `meta` says, so that nothing has to be written.
pub(super) fn is_written(file: Option<&Meta>, copy: Option<&Meta>, meta: &Meta) -> bool {
    let (Some(file), Some(copy)) = (file, copy) else { return false };
    let mut copy = copy.clone();
    hide_known(&mut copy);
    copy.to_json() == meta.to_json() && file.to_json() == file_of(meta).to_json()
}

fn price(meta: &Meta) -> String {
    if meta.cost == 0.0 { String::new() } else { meta.cost.to_string() }
}

/// The values that were replaced, as digests: `{"title":["0a1b…"]}`, the last one last.
#[derive(Default)]
struct Known(Map<String, Value>);

impl Known {
    fn of(copy: &Meta) -> Self {
        match copy.x.value(KNOWN) {
            Some(Value::Object(known)) => Known(known),
            _ => Known::default(),
        }
    }

    fn has(&self, field: &str, value: &str) -> bool {
        let digests = self.0.get(field).and_then(Value::as_array);
        digests.is_some_and(|digests| digests.iter().any(|known| *known == digest(value)))
    }

    /// Remembers `before` where `next` replaces it, and forgets `next`, which is no old value any more.
    fn note(&mut self, field: &str, before: &str, next: &str) {
        let mut digests = match self.0.remove(field) {
            Some(Value::Array(digests)) => digests,
            _ => Vec::new(),
        };
        let next = (digest(next), next);
        digests.retain(|known| *known != next.0);
        if !before.is_empty() && before != next.1 {
            let before = digest(before);
            digests.retain(|known| *known != before);
            digests.push(before.into());
        }
        let surplus = digests.len().saturating_sub(MAX_KNOWN);
        digests.drain(..surplus);
        if !digests.is_empty() {
            self.0.insert(field.to_owned(), digests.into());
        }
    }
}

/// 64 bits of FNV-1a: it only has to be the same in every version and to tell a handful of values apart.
fn digest(value: &str) -> String {
    let hash = value
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
