//! Names that say nothing: `util`, `helper`, `common`, `misc`, `manager`.
//!
//! They may stand in a `doc(alias)`, for those who search by a foreign word.

use super::Finding;
use crate::tree::TextFile;

/// Not allowed as a word of a file, module or type.
const BANNED: [&str; 8] = ["common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];
/// Keywords before a name that is held to the same measure as a file. Functions are not among them: in
/// `common_prefix` the word has a meaning.
const DEFINES: [&str; 6] = ["mod", "struct", "enum", "union", "trait", "type"];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let in_path = file.path.trim_end_matches(".rs").split('/').filter_map(banned_word);
    let mut findings: Vec<Finding> =
        in_path.map(|word| Finding::stop(&file.path, None, format!("`{word}` in a path says nothing"))).collect();
    for pair in file.tokens().windows(2) {
        let [keyword, name] = pair else { continue };
        if !DEFINES.contains(&keyword.text.as_str()) {
            continue;
        }
        if let Some(word) = banned_word(&name.text) {
            findings.push(Finding::stop(&file.path, name.line, format!("`{word}` in `{}` says nothing", name.text)));
        }
    }
    findings
}

/// The first banned word of a name in snake, kebab or camel case.
fn banned_word(name: &str) -> Option<&'static str> {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    let mut words = words.split(|letter: char| !letter.is_alphanumeric());
    words.find_map(|word| BANNED.into_iter().find(|banned| *banned == word))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::printed;

    #[test]
    fn a_file_named_by_a_banned_word_is_found() {
        assert_eq!(
            printed(check, "a/tests/common/mod.rs", ""),
            ["a/tests/common/mod.rs: `common` in a path says nothing"]
        );
        assert_eq!(printed(check, "src/path_utils.rs", ""), ["src/path_utils.rs: `utils` in a path says nothing"]);
    }

    #[test]
    fn a_module_or_type_named_by_a_banned_word_is_found() {
        assert_eq!(
            printed(check, "src/lib.rs", "mod util;\npub struct SessionManager;\n"),
            ["src/lib.rs:1: `util` in `util` says nothing", "src/lib.rs:2: `manager` in `SessionManager` says nothing"]
        );
    }

    #[test]
    fn an_alias_and_a_meaningful_word_pass() {
        let source = "#[doc(alias = \"Manager\")]\npub struct Store;\nfn common_prefix() {}\nstruct Utility;\n";
        assert_eq!(printed(check, "src/lib.rs", source), Vec::<String>::new());
    }
}
