//! What masking changes, and what it never does.

use super::invented::{corpus, private_key};
use proptest::prelude::*;
use session_core::json::{push_string, strings};
use session_core::{Conversation, Limits};
use session_secrets::{Examined, Finder, Form, Known};

/// Words, secrets and things in between, as a text.
fn texts() -> impl Strategy<Value = String> {
    let secrets: Vec<String> = corpus().into_iter().map(|(_, text)| text.replace(['‹', '›'], "")).collect();
    let word = prop_oneof![
        4 => "[a-zäéł =:\"'\\\\/{}\\[\\],&?@*.-]{0,12}",
        1 => Just("\n".to_owned()),
        1 => Just("\\n".to_owned()),
        1 => Just("\u{fffd}😀".to_owned()),
        1 => Just(private_key()),
        4 => proptest::sample::select(secrets),
    ];
    proptest::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

/// A text in some layers of strings of JSON.
fn wrapped(text: &str, layers: usize) -> String {
    (0..layers).fold(text.to_owned(), |text, _| {
        let mut out = b"{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":".to_vec();
        push_string(&mut out, &text);
        out.push(b'}');
        String::from_utf8(out).expect("it is text")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn s02_json_stays_json_and_nothing_but_secrets_changes(text in texts(), layers in 1_usize..4) {
        let line = wrapped(&text, layers);
        let finder = Finder::new();
        let Examined { found, masked, .. } = finder.examine(line.as_bytes(), Form::Json).expect("it can tell");
        let Some(masked) = masked else {
            prop_assert!(found.is_empty());
            return Ok(());
        };
        prop_assert_eq!(masked.len(), line.len());
        prop_assert!(std::str::from_utf8(&masked).is_ok());
        // Every layer reads as JSON, with the same strings at the same places.
        prop_assert_eq!(strings(&masked), strings(line.as_bytes()));
        for (at, (old, new)) in line.bytes().zip(&masked).enumerate() {
            if old != *new {
                prop_assert!(found.iter().any(|found| found.at.contains(&at)), "byte {} of {}", at, line);
            }
        }
        // Masked is done.
        let again = finder.examine(&masked, Form::Json).expect("it can tell");
        prop_assert_eq!(again, Examined::default());
    }

    #[test]
    fn s02_the_inner_layers_stay_json_too(text in texts()) {
        let inner = wrapped(&text, 1);
        let line = wrapped(&inner, 1);
        let masked = Finder::new().examine(line.as_bytes(), Form::Json).expect("it can tell").masked;
        let Some(masked) = masked else { return Ok(()) };
        let line = [&masked[..], b"\n"].concat();
        let read = Conversation::read(&line[..], Limits::default()).expect("it is in memory");
        prop_assert_eq!(&read.defects, &[]);
        let inside = read.messages[0].content.text();
        prop_assert!(strings(inside.as_bytes()).is_some(), "{}", inside);
    }

    #[test]
    fn s02_any_bytes_are_examined_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..300) {
        let mut bytes = bytes;
        let token = super::invented::github();
        bytes.splice(at.min(bytes.len())..at.min(bytes.len()), token.bytes());
        for form in [Form::Text, Form::Json] {
            let examined = Finder::new().examine(&bytes, form).expect("it can tell");
            let masked = examined.masked.expect("the token is there");
            prop_assert_eq!(masked.len(), bytes.len());
            prop_assert!(!masked.windows(token.len()).any(|window| window == token.as_bytes()));
        }
    }
}

#[test]
fn s02_a_line_of_ten_megabytes_is_masked_like_a_short_one() {
    let token = super::invented::github();
    let text = format!("{}\n{token}\n", "three oaks and a birch\n".repeat(450_000));
    let line = wrapped(&text, 1);
    let masked = Finder::new().examine(line.as_bytes(), Form::Json).expect("it can tell").masked.expect("it is found");
    assert!(masked == line.replace(&token, &"*".repeat(40)).into_bytes());
}

/// Secrets each of which is one only behind the mask of the one before it, and the text that has all of them.
fn chain(links: usize) -> (Known, String) {
    let link = |n: usize| format!("q7Zr2LmX9aBv{n:04}");
    let mut known = Known::new();
    for n in 0..links {
        let password = if n == 0 { link(n) } else { format!("****-{}", link(n)) };
        let url = format!("https://oak:{password}@example.org/");
        known.remember(&Finder::new().examine(url.as_bytes(), Form::Text).expect("it can tell").found);
    }
    assert_eq!(known.len(), links);
    let links: Vec<String> = (0..links).map(link).collect();
    (known, links.join("-"))
}

#[test]
fn s02_a_secret_behind_a_secret_is_found_and_at_the_end_of_patience_the_whole_text_is_masked() {
    let (known, text) = chain(20);
    let masked = Finder::knowing(&known).examine(text.as_bytes(), Form::Text).expect("it can tell").masked;
    assert_eq!(masked, Some(vec![b'*'; text.len()]));
    let (known, text) = chain(70);
    let finder = Finder::knowing(&known);
    let masked = |text: &str, form| finder.examine(text.as_bytes(), form).expect("it can tell").masked;
    let with_more = format!("three oaks\t{text}\nand a birch");
    let stars = format!("***** ****\t{}\n*** * *****", "*".repeat(text.len()));
    assert_eq!(masked(&with_more, Form::Text), Some(stars.clone().into_bytes()));
    // In JSON it is the string that it stands in, whatever escapes hide the rest of it.
    let line = |inside: &str, more: &str| format!(r#"{{"role":"tool","content":"{inside}","note":"{more}"}}"#);
    for (escaped, stars) in [(r"\\u0041\u00e9\n", r"*************\n"), (r#"\"é\ud800-"#, "***********")] {
        let secret = format!("{escaped}{text}");
        let wanted = line(&format!("{stars}{}", "*".repeat(text.len())), "three oaks");
        assert_eq!(
            masked(&line(&secret, "three oaks"), Form::Json).map(String::from_utf8),
            Some(Ok(wanted)),
            "{secret}"
        );
    }
}
