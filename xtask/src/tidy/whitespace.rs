//! No blanks at the end of a line, and one newline at the end of a file.

use super::Finding;
use crate::tree::TextFile;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if file.is_test_data() || file.text.is_empty() {
        return Vec::new();
    }
    let blank = |line: &str| line.ends_with([' ', '\t', '\r']);
    let mut findings: Vec<Finding> = (1..)
        .zip(file.text.split('\n'))
        .filter(|(_, line)| blank(line))
        .map(|(number, _)| Finding::stop(&file.path, number, "the line ends in a blank"))
        .collect();
    if !file.text.ends_with('\n') {
        findings.push(Finding::stop(&file.path, None, "the last line has no newline"));
    } else if file.text.ends_with("\n\n") {
        findings.push(Finding::stop(&file.path, None, "the file ends in empty lines"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::printed;

    #[test]
    fn blanks_at_the_end_of_a_line_are_found() {
        assert_eq!(
            printed(check, "a.md", "one \ntwo\nthree\r\n"),
            ["a.md:1: the line ends in a blank", "a.md:3: the line ends in a blank"]
        );
    }

    #[test]
    fn the_end_of_a_file_is_one_newline() {
        assert_eq!(printed(check, "a.md", "one"), ["a.md: the last line has no newline"]);
        assert_eq!(printed(check, "a.md", "one\n\n"), ["a.md: the file ends in empty lines"]);
        assert_eq!(printed(check, "a.md", "one\n"), Vec::<String>::new());
        assert_eq!(printed(check, "a.md", ""), Vec::<String>::new());
    }

    #[test]
    fn recorded_data_is_left_as_it_is() {
        assert_eq!(printed(check, "a/tests/data/torn.jsonl", "{\"ts\": "), Vec::<String>::new());
    }
}
