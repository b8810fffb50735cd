//! Types as others name them, and not by the private modules that they stand in.
//!
//! Where one crate of ours shows a type of another one, rustdoc tells where that type is written. A record with such
//! paths would change whenever a file moves.

use std::collections::BTreeSet;

const TYPES: [&str; 6] = ["mod", "struct", "enum", "trait", "type", "union"];

/// The types and modules that are shown directly in some crates.
pub(super) struct Shown(BTreeSet<String>);

impl Shown {
    /// Those that the lines of records tell of.
    pub(super) fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let path = |line: &'a str| {
            let (_, item) = line.split_once("pub ")?;
            let (kind, path) = item.split_once(' ')?;
            let path = path.split(|letter| !is_of_path(letter)).next()?;
            (TYPES.contains(&kind) && path.split("::").count() == 2).then(|| path.to_owned())
        };
        Shown(lines.filter_map(path).collect())
    }

    /// A line with the short paths of types that have one.
    pub(super) fn as_named(&self, line: &str) -> String {
        let mut named = String::new();
        for piece in line.split_inclusive(|letter| !is_of_path(letter)) {
            let path = piece.trim_end_matches(|letter| !is_of_path(letter));
            named.push_str(self.short(path).as_deref().unwrap_or(path));
            named.push_str(&piece[path.len()..]);
        }
        named
    }

    fn short(&self, path: &str) -> Option<String> {
        let parts: Vec<&str> = path.split("::").collect();
        let (first, rest) = parts.split_first()?;
        let at = rest.iter().position(|part| self.0.contains(&format!("{first}::{part}")))?;
        (at > 0).then(|| format!("{first}::{}", rest[at..].join("::")))
    }
}

fn is_of_path(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | ':')
}

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn a_private_module_is_left_out_and_a_public_one_stays() {
        let lines = [
            "pub mod oak",
            "pub mod oak::open",
            "#[non_exhaustive] pub struct oak::Tree<T>",
            "pub fn oak::grow()",
            "pub struct oak::open::Gate",
        ];
        let shown = Shown::of(lines.into_iter());
        assert_eq!(
            shown.as_named("pub fn elm::f(&oak::grow::inner::Tree<oak::open::Gate>, std::io::Error) -> oak::Tree"),
            "pub fn elm::f(&oak::Tree<oak::open::Gate>, std::io::Error) -> oak::Tree"
        );
    }
}
