//! Tokens that were broken over two lines, as terminals do.

use crate::rules::{Rules, WordHit};
use std::ops::Range;

/// Lines that one token goes over, at most.
const LINES: usize = 6;

/// The shortest word that a token is known by when it is broken.
const WORD: usize = 3;

/// Where rules find a token in a text once its lines are joined: the rule's number, and the parts.
///
/// Only a token that begins with a word of its rule and reaches to the end of its line is tried, and only one whose end
/// is the end of what stands on the last line counts.
pub(crate) fn wrapped(rules: &Rules, text: &[u8], hits: &[WordHit]) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut found = Vec::new();
    for &hit in hits {
        if hit.start > 0 && is_token(text[hit.start - 1]) {
            continue;
        }
        let lines = lines_from(text, hit.start);
        if lines.len() < 2 || lines[0].len() <= WORD {
            continue;
        }
        let joined: Vec<u8> = lines.iter().flat_map(|line| &text[line.clone()]).copied().collect();
        for &n in rules.of_word(hit) {
            let rule = &rules.rules[n];
            if rule.is_generic() || !rules.find(rule, &text[lines[0].clone()]).is_empty() {
                continue;
            }
            let whole = rules.find(rule, &joined).into_iter().find(|secret| secret.start == 0);
            found.extend(whole.and_then(|secret| parts(&lines, secret.len())).map(|parts| (n, parts)));
        }
    }
    found
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}

/// The token at a place, and what stands at the beginning of each line after it as long as nothing else does.
fn lines_from(text: &[u8], start: usize) -> Vec<Range<usize>> {
    let token = |start: usize| start..start + text[start..].iter().take_while(|&&byte| is_token(byte)).count();
    let mut lines = vec![token(start)];
    while lines.len() < LINES {
        let end = lines.last().map_or(start, |line| line.end);
        let newline = match &text[end..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => break,
        };
        let indented = text[end + newline..].iter().take_while(|&&byte| byte == b' ').count();
        let next = token(end + newline + indented);
        if next.is_empty() {
            break;
        }
        lines.push(next);
    }
    lines
}

/// The parts of lines that make a secret of a length, if it ends where one of the later lines does.
fn parts(lines: &[Range<usize>], len: usize) -> Option<Vec<Range<usize>>> {
    let mut left = len;
    for (n, line) in lines.iter().enumerate() {
        left = left.checked_sub(line.len())?;
        if left == 0 {
            return (n > 0).then(|| lines[..=n].to_vec());
        }
    }
    None
}
