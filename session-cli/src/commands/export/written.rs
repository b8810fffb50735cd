//! The files that an export has written, as they are told.

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows};
use serde::Serialize;

/// A session in a file, and what else is told of it.
#[derive(Serialize)]
pub(super) struct Written<T> {
    pub(super) session: String,
    pub(super) path: String,
    /// Of the whole file, which in a bundle holds other sessions too.
    pub(super) bytes: u64,
    #[serde(flatten)]
    pub(super) more: T,
}

/// Tells them as `verb`'s document, or as a row each.
pub(super) fn tell<T: Serialize>(
    context: &Context,
    (verb, format): (&str, &'static str),
    (complete, diagnostics): (bool, &[Diagnostic]),
    files: Vec<Written<T>>,
) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<T> {
        format: &'static str,
        files: Vec<Written<T>>,
    }
    if context.out.is_json() {
        return context.out.document(verb, complete, diagnostics, &Document { format, files });
    }
    let mut rows = Rows::new(&["NAME", "FILE"]);
    files.into_iter().for_each(|file| rows.push(vec![file.session, file.path]));
    context.out.rows(&rows)
}
