//! Secrets in JSON in JSON, in base64, over two lines.

use super::invented::{github, mixed};
use session_core::json::{push_string, strings};
use session_secrets::{Finder, Form};

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text);
    String::from_utf8(out).expect("it is text")
}

fn masked(text: &str, form: Form) -> String {
    let examined = Finder::new().examine(text.as_bytes(), form).expect("it can tell");
    String::from_utf8(examined.masked.unwrap_or_else(|| panic!("nothing was found in {text}"))).expect("it is text")
}

#[test]
fn s01_json_in_json_in_json_is_looked_through_and_stays_json_in_every_layer() {
    let token = github();
    let inner = format!("{{\"env\":\"A=1\\n{token}\\n\",\"path\":\"C:\\\\new\"}}");
    let middle = format!("{{\"stdout\":{},\"n\":[1,2]}}", quoted(&inner));
    let outer = format!("{{\"role\":\"tool\",\"content\":{}}}", quoted(&middle));
    for (text, form) in [(&inner, Form::Json), (&middle, Form::Json), (&outer, Form::Json), (&outer, Form::Text)] {
        assert_eq!(masked(text, form), text.replace(&token, &"*".repeat(40)));
        assert!(strings(masked(text, form).as_bytes()).is_some());
    }
}

#[test]
fn s01_base64_in_json_in_json_is_decoded_and_encoded_again() {
    let token = github();
    let config = format!("{{\"user\":\"oak\",\"auth\":\"{token}\",\"trees\":3}}");
    let inner = format!("{{\"blob\":\"{}\"}}", base64(config.as_bytes()));
    let outer = format!("{{\"role\":\"tool\",\"content\":{}}}", quoted(&inner));
    let wanted = base64(config.replace(&token, &"*".repeat(40)).as_bytes());
    assert_eq!(masked(&outer, Form::Json), outer.replace(&base64(config.as_bytes()), &wanted));
}

#[test]
fn s01_base64_that_was_broken_over_lines_is_decoded_and_broken_again() {
    let token = github();
    let config = format!("USER=oak\nTREES=three\nTOKEN={token}\nBIRDS=many, and all of them sing\nWOOD=beech\n");
    let broken = |config: &str, newline: &str| {
        let letters = base64(config.as_bytes());
        let lines: Vec<&str> =
            (0..letters.len()).step_by(76).map(|at| &letters[at..letters.len().min(at + 76)]).collect();
        format!("$ base64 .env{newline}{}{newline}", lines.join(newline))
    };
    let without = config.replace(&token, &"*".repeat(40));
    for newline in ["\n", "\r\n", "\n  "] {
        assert_eq!(masked(&broken(&config, newline), Form::Text), broken(&without, newline));
        let line = |text: &str| format!("{{\"content\":{}}}", quoted(&broken(text, newline)));
        assert_eq!(masked(&line(&config), Form::Json), line(&without));
    }
}

#[test]
fn s01_two_secrets_in_one_encoded_text_are_two() {
    let config = format!("a={} b={}", github(), ["gl", "pat-", &mixed(20, 3)].concat());
    let text = format!("x {} y", base64(config.as_bytes()));
    let found = Finder::new().examine(text.as_bytes(), Form::Text).expect("it can tell").found;
    let rules: Vec<&str> = found.iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["github-pat", "gitlab-pat"]);
}

#[test]
fn s01_a_token_that_was_broken_over_lines_is_joined() {
    let token = github();
    for newline in ["\n", "\r\n", "\n    "] {
        let text = format!("echo {}{newline}{} done", &token[..21], &token[21..]);
        let wanted = format!("echo {}{newline}{} done", "*".repeat(21), "*".repeat(19));
        assert_eq!(masked(&text, Form::Text), wanted);
        let line = format!("{{\"content\":{}}}", quoted(&text));
        assert_eq!(masked(&line, Form::Json), format!("{{\"content\":{}}}", quoted(&wanted)));
    }
    let other = format!("the prefix {}\nand words", &token[..12]);
    assert_eq!(Finder::new().examine(other.as_bytes(), Form::Text).expect("it can tell").found, []);
}

#[test]
fn a_secret_is_not_looked_for_across_two_strings() {
    let token = github();
    let line = format!(r#"{{"a":"{}","b":"{}"}}"#, &token[..20], &token[20..]);
    assert_eq!(Finder::new().examine(line.as_bytes(), Form::Json).expect("it can tell").found, []);
}

#[test]
fn a_member_of_json_says_what_its_value_is() {
    let line = format!(r#"{{"kind":"x.note","x":{{"api_key":"{}"}}}}"#, mixed(32, 21));
    assert_eq!(masked(&line, Form::Json), line.replace(&mixed(32, 21), &"*".repeat(32)));
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for n in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * n)) as usize & 63];
            out.push(if n <= group.len() { char::from(letter) } else { '=' });
        }
    }
    out
}
