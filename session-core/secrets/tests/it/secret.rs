//! Each kind of secret is found, where it is and under its name.

use super::invented::{corpus, private_key};
use session_secrets::{Finder, Form, Known};

/// A text without the marks around its secret, and the secret.
fn unmarked(text: &str) -> (String, String) {
    let (before, rest) = text.split_once('‹').expect("the secret is marked");
    let (secret, after) = rest.split_once('›').expect("the secret is marked");
    ([before, secret, after].concat(), secret.to_owned())
}

#[test]
fn s01_a_secret_of_every_kind_is_found_and_masked() {
    let finder = Finder::new();
    let mut wrong = Vec::new();
    for (rule, text) in corpus() {
        let (text, secret) = unmarked(&text);
        let examined = finder.examine(text.as_bytes(), Form::Text).expect("it can tell");
        let told: Vec<(&str, &str)> =
            examined.found.iter().map(|found| (found.rule, &text[found.at.clone()])).collect();
        if told != [(rule, secret.as_str())] {
            wrong.push(format!("{rule}: {text}: {told:?}"));
            continue;
        }
        let masked = examined.masked.expect("something was found");
        assert_eq!(String::from_utf8(masked).expect("it is text"), text.replace(&secret, &"*".repeat(secret.len())));
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn s01_the_same_in_a_string_of_json() {
    let finder = Finder::new();
    let mut wrong = Vec::new();
    for (rule, text) in corpus() {
        let (text, secret) = unmarked(&text);
        let line = format!(r#"{{"role":"tool","content":"a\n{}\nb"}}"#, text.replace('"', "\\\""));
        let examined = finder.examine(line.as_bytes(), Form::Json).expect("it can tell");
        let told: Vec<(&str, &str)> =
            examined.found.iter().map(|found| (found.rule, &line[found.at.clone()])).collect();
        if told != [(rule, secret.as_str())] {
            wrong.push(format!("{rule}: {line}: {told:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn s01_a_private_key_is_found_whole_and_cut_off() {
    let key = private_key();
    let finder = Finder::new();
    let cases = [
        format!("x\n{key}\ny"),
        format!("x\n{}\n[3 lines left out]\ny", &key[..400]),
        key.replace('\n', "\\n"),
        key.replace('\n', "\\\\n"),
    ];
    for text in cases {
        let examined = finder.examine(text.as_bytes(), Form::Text).expect("it can tell");
        assert_eq!(examined.found.len(), 1, "{text}: {:?}", examined.found);
        let masked = String::from_utf8(examined.masked.expect("something was found")).expect("it is text");
        let left: String = masked.chars().filter(char::is_ascii_alphanumeric).collect();
        assert!(left.len() < 24 && !left.contains("PRIVATE"), "{masked}");
        assert_eq!(masked.matches("\\n").count(), text.matches("\\n").count());
        assert_eq!(masked.lines().count(), text.lines().count());
    }
}

#[test]
fn a_secret_that_is_known_is_found_without_its_context() {
    let (text, secret) = unmarked("DB_PASSWORD=‹Oaks-and-8-birches›");
    let mut known = Known::new();
    known.remember(&Finder::new().examine(text.as_bytes(), Form::Text).expect("it can tell").found);
    assert_eq!(known.len(), 1);
    let alone = format!("it printed {secret}, and x{secret}x");
    assert_eq!(Finder::new().examine(alone.as_bytes(), Form::Text).expect("it can tell").found, []);
    let found = Finder::knowing(&known).examine(alone.as_bytes(), Form::Text).expect("it can tell").found;
    assert_eq!(found.len(), 1, "not as a part of a longer word: {found:?}");
    assert_eq!((found[0].rule, found[0].at.start, found[0].by_itself), ("password-assignment", 11, true));
}

#[test]
fn a_password_that_may_be_a_word_is_not_looked_for_by_itself() {
    let mut known = Known::new();
    let text = b"postgres://oak:birch@db.example.org/";
    known.remember(&Finder::new().examine(text, Form::Text).expect("it can tell").found);
    assert!(known.is_empty());
}
