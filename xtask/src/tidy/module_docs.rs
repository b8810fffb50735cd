//! Every source file opens by saying what it is.

use super::Finding;
use crate::tree::TextFile;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() || opens_with_docs(&file.text) {
        return Vec::new();
    }
    vec![Finding::stop(&file.path, 1, "the file does not open with module docs (`//!`)")]
}

/// Only inner attributes (`#![no_main]`) may stand in front.
fn opens_with_docs(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("#!["));
    lines.next().is_some_and(|line| line.starts_with("//!"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::printed;

    #[test]
    fn a_file_without_module_docs_is_found() {
        let finding = ["src/lib.rs:1: the file does not open with module docs (`//!`)"];
        assert_eq!(printed(check, "src/lib.rs", "use std::fmt;\n//! Too late.\n"), finding);
        assert_eq!(printed(check, "src/lib.rs", ""), finding);
    }

    #[test]
    fn attributes_of_the_crate_may_stand_in_front() {
        assert_eq!(printed(check, "src/lib.rs", "#![no_main]\n\n//! A target.\n"), Vec::<String>::new());
    }
}
