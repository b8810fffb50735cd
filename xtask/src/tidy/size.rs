//! The length of a source file: 300 lines are a hint to split it, 500 a stop.

use super::Finding;
use crate::tree::TextFile;

const HINT_LINES: usize = 300;
const STOP_LINES: usize = 500;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    match file.text.lines().count() {
        lines if lines > STOP_LINES => {
            vec![Finding::stop(&file.path, None, format!("{lines} lines; no file has more than {STOP_LINES}"))]
        }
        lines if lines > HINT_LINES => {
            vec![Finding::hint(&file.path, None, format!("{lines} lines; is it one thing?"))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::printed;

    #[test]
    fn a_long_file_is_a_hint_and_a_very_long_one_a_stop() {
        let lines = |count: usize| printed(check, "src/lib.rs", &"//\n".repeat(count));
        assert_eq!(lines(300), Vec::<String>::new());
        assert_eq!(lines(301), ["src/lib.rs: hint: 301 lines; is it one thing?"]);
        assert_eq!(lines(500), ["src/lib.rs: hint: 500 lines; is it one thing?"]);
        assert_eq!(lines(501), ["src/lib.rs: 501 lines; no file has more than 500"]);
    }

    #[test]
    fn only_source_code_is_measured() {
        assert_eq!(printed(check, "Cargo.lock", &"x\n".repeat(900)), Vec::<String>::new());
        assert_eq!(printed(check, "a/tests/data/long.rs", &"x\n".repeat(900)), Vec::<String>::new());
    }
}
