//! An object of the bucket.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::SystemTime;

/// An object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) bytes: Vec<u8>,
    pub(super) e_tag: String,
    pub(super) written: SystemTime,
}

impl Object {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let e_tag = e_tag(&bytes);
        Object { bytes, e_tag, written: SystemTime::now() }
    }
}

/// As S3 does it: the same bytes have the same tag.
fn e_tag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}
