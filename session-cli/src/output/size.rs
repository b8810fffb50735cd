//! Numbers of bytes for people.

/// In the largest unit that fits.
pub(crate) fn words(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}
