//! What a change of the metadata may do, and the members of its `x`.

use session_core::{FORMAT as FORMAT_VERSION, Meta, TitleSource};

/// Who set the title: `user` or `auto`. Where it stands, the title is a fact, an `x.title` event of the history.
pub(super) const TITLE_BY: &str = "title_by";
/// The history starts with a line of ours, whose workspace and parent are facts; the value is its format.
pub(super) const FORMAT: &str = "format";
/// `true` where the session is pinned: the last of the notes in the history that pin and unpin it.
pub(super) const PINNED: &str = "pinned";
/// How much of the cost is the price of the responses that the history tells of. The rest was told by others.
const COUNTED: &str = "counted_cost";
/// The metadata was lost and taken from the history.
pub(super) const REBUILT: &str = "rebuilt";

pub(super) fn title_by(meta: &mut Meta, by: TitleSource) {
    let by = match by {
        TitleSource::User => "user",
        TitleSource::Auto => "auto",
    };
    meta.x.set(TITLE_BY, &by.into());
}

fn is_users(meta: &Meta) -> bool {
    meta.x.value(TITLE_BY).is_some_and(|by| by == "user")
}

/// Whether no pruning takes the session.
pub(crate) fn is_pinned(meta: &Meta) -> bool {
    meta.x.value(PINNED).is_some_and(|pinned| pinned == true)
}

pub(crate) fn set_pinned(meta: &mut Meta, pinned: bool) {
    meta.x.set(PINNED, &pinned.into());
}

/// Who set the title. One that nobody signed was made by a program, or may have been.
pub(crate) fn title_source(meta: &Meta) -> TitleSource {
    if is_users(meta) { TitleSource::User } else { TitleSource::Auto }
}

/// Notes that the history starts with a line of ours.
pub(crate) fn mark_header(meta: &mut Meta) {
    meta.x.set(FORMAT, &FORMAT_VERSION.into());
}

/// Makes `price` what the cost holds of the responses that the history tells of, in US dollars. What others added stays.
pub(crate) fn count_cost(meta: &mut Meta, price: f64) {
    let counted = meta.x.value(COUNTED).and_then(|counted| counted.as_f64()).unwrap_or_default();
    // Adding the difference would leave the rounding of every step in a sum that is all ours.
    meta.cost = if meta.cost == counted { price } else { meta.cost + (price - counted) };
    meta.x.set(COUNTED, &price.into());
}

/// Sets the title, and says whether it did: an automatic one only fills an empty field.
pub(crate) fn fill_title(meta: &mut Meta, title: &str, by: TitleSource) -> bool {
    let fits = match by {
        TitleSource::User => true,
        TitleSource::Auto => meta.title.is_empty() && !is_users(meta),
    };
    if fits {
        title.clone_into(&mut meta.title);
        title_by(meta, by);
    }
    fits
}

/// Undoes a change of a title that a person set.
pub(crate) fn keep_users_title(before: &Meta, meta: &mut Meta) {
    if is_users(before) {
        meta.title.clone_from(&before.title);
        meta.x.take_over(TITLE_BY, &before.x);
    }
}
