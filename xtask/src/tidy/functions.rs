//! The length of a function: from its `fn` to its closing brace it stays under 70 lines, in tests, too.

use super::Finding;
use crate::tokens::Token;
use crate::tree::TextFile;

/// The first length that is too long.
const STOP_LINES: usize = 70;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let tokens = file.tokens();
    let mut findings = Vec::new();
    for (index, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        // The type `fn(u8)` and the `fn $name` of a macro are no functions.
        if keyword.text != "fn" || !name.text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') {
            continue;
        }
        let Some(end) = end_of(&tokens[index..]) else { continue };
        let lines = end - keyword.line + 1;
        if lines >= STOP_LINES {
            let text = format!("`{}` takes {lines} lines; a function stays under {STOP_LINES}", name.text);
            findings.push(Finding::stop(&file.path, keyword.line, text));
        }
    }
    findings
}

/// The line of a function's closing brace. `None`: it has no body.
fn end_of(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_body = false;
    for token in tokens {
        match token.text.as_str() {
            ";" if depth == 0 => return None,
            "{" => {
                is_body |= depth == 0;
                depth += 1;
            }
            "(" | "[" => depth += 1,
            "}" if depth == 1 && is_body => return Some(token.line),
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::printed;

    fn function(head: &str, lines: usize) -> String {
        format!("{head} {{\n{}}}\n", "    work();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_seventy_lines_is_found_wherever_it_stands() {
        assert_eq!(printed(check, "a.rs", &function("fn f()", 69)), Vec::<String>::new());
        assert_eq!(
            printed(check, "a.rs", &format!("\nimpl A {{\n{}}}\n", function("async fn f(a: [u8; { 3 }])", 70))),
            ["a.rs:3: `f` takes 70 lines; a function stays under 70"]
        );
        assert_eq!(
            printed(check, "a/tests/it/main.rs", &function("#[test]\nfn f()", 80)),
            ["a/tests/it/main.rs:2: `f` takes 80 lines; a function stays under 70"]
        );
    }

    #[test]
    fn what_has_no_body_is_not_measured_by_what_follows() {
        let declared = format!("trait T {{ fn f(&self); }}\ntype F = fn(u8);\nmod m {{\n{}}}\n", "use a;\n".repeat(90));
        assert_eq!(printed(check, "a.rs", &declared), Vec::<String>::new());
        assert_eq!(printed(check, "a/tests/data/a.rs", &function("fn f()", 99)), Vec::<String>::new());
    }
}
