//! Paths of the machine that somebody happened to work on.

use super::Finding;
use crate::tree::TextFile;

/// Spelled in parts, so that the rule does not find itself.
const MACHINE_ROOTS: [&str; 2] = [concat!("/", "work", "/"), concat!("/", "root", "/")];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for root in MACHINE_ROOTS {
            if holds_path(line, root) {
                findings.push(Finding::stop(&file.path, index + 1, format!("`{root}` is a path of one machine")));
            }
        }
    }
    findings
}

/// Whether an absolute path that starts with `root` stands in the line: a longer path may hold it in the middle.
fn holds_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|letter| !(letter.is_alphanumeric() || "._-~}>)*".contains(letter)))
    })
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_ROOTS, check};
    use crate::tidy::printed;

    #[test]
    fn an_absolute_path_of_a_machine_is_found_in_any_text_file() {
        for root in MACHINE_ROOTS {
            for text in [format!("see\n(`{root}x`)\n"), format!("see\n{root}x\n")] {
                let finding = format!("a.md:2: `{root}` is a path of one machine");
                assert_eq!(printed(check, "a.md", &text), [finding]);
            }
        }
    }

    #[test]
    fn a_directory_of_that_name_inside_another_path_passes() {
        for root in MACHINE_ROOTS {
            assert_eq!(
                printed(check, "a.md", &format!("~{root}x and ./my{root}x and $HOME{root}x\n")),
                Vec::<String>::new()
            );
        }
    }
}
