//! Two records of one crate, line by line. Their order says nothing.

use std::collections::BTreeSet;
use std::fmt;

/// What one record has and the other lacks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference<'a> {
    pub(super) removed: BTreeSet<&'a str>,
    pub(super) added: BTreeSet<&'a str>,
}

impl<'a> Difference<'a> {
    pub(super) fn between(old: &'a str, new: &'a str) -> Self {
        let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (old.lines().collect(), new.lines().collect());
        Difference { removed: &old - &new, added: &new - &old }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.removed.iter().try_for_each(|line| writeln!(f, "    - {line}"))?;
        self.added.iter().try_for_each(|line| writeln!(f, "    + {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn a_changed_line_is_one_removed_and_one_added() {
        let difference =
            Difference::between("pub mod oak\npub fn oak::fell()\n", "pub fn oak::fell(u8)\npub mod oak\n");
        assert_eq!(difference.to_string(), "    - pub fn oak::fell()\n    + pub fn oak::fell(u8)\n");
        assert!(Difference::between("a\nb\n", "b\na\n").is_empty());
    }
}
