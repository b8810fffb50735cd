//! What the reference does to a session, as far as these tests need it.

use session_core::{Fields, Meta};
use session_store::SessionPaths;
use std::fs::{self, OpenOptions};
use std::io::Write as _;

/// The metadata as the reference has it in memory once it has read it: what it does not know is gone.
pub(crate) fn reads_meta(paths: &SessionPaths) -> Meta {
    let meta = Meta::parse(&fs::read(paths.meta()).expect("it is there")).expect("it is whole");
    Meta { extra: Fields::new(), x: Fields::new(), ..meta }
}

/// Saves it: the file is cut to nothing in place, and filled.
pub(crate) fn saves_meta(paths: &SessionPaths, meta: &Meta) {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).open(paths.meta()).expect("it can be opened");
    file.write_all(&meta.to_json()).expect("it can be written");
}
