//! Member names: exact, or equal but for their case, as the reference matches them.

/// The entry of `table` that `key` names.
pub(crate) fn find<K: Copy>(table: &[(&str, K)], key: &str) -> Option<K> {
    let exact = table.iter().find(|(name, _)| *name == key);
    let found = exact.or_else(|| table.iter().find(|(name, _)| same_but_for_case(name, key)))?;
    Some(found.1)
}

/// Whether two names are equal under Unicode simple case folding. `name` is lower-case ASCII, so that besides the
/// capital letters only two characters can matter: the Kelvin sign and the long s.
fn same_but_for_case(name: &str, key: &str) -> bool {
    let mut folded = key.chars().map(|c| match c {
        '\u{212A}' => 'k',
        '\u{017F}' => 's',
        c => c.to_ascii_lowercase(),
    });
    name.chars().all(|c| folded.next() == Some(c)) && folded.next().is_none()
}
