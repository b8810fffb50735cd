//! What looks like a secret and is none.

use super::invented::{mixed, of};
use session_secrets::{Finder, Form};

fn harmless() -> Vec<String> {
    let hex = |len, seed| of(b"0123456789abcdef", len, seed);
    let uuid = format!("{}-{}-{}-{}-{}", hex(8, 1), hex(4, 2), hex(4, 3), hex(4, 4), hex(12, 5));
    let picture: String = (0..40).map(|n| mixed(76, 200 + n) + "\n").collect();
    [
        // Ids and digests.
        format!("commit {}\nAuthor: Oak", hex(40, 6)),
        format!("sha256:{}", hex(64, 7)),
        format!("key = {}", hex(40, 8)),
        format!("sourcegraph at {}", hex(40, 8)),
        format!("\"token\": \"{}\"", hex(64, 9)),
        format!("access_id={uuid} secret: {uuid}"),
        format!("api key {uuid}"),
        format!("\"integrity\": \"sha512-{}==\"", mixed(86, 10)),
        format!("checksum = \"{}\"", hex(64, 11)),
        format!("call_{} toolu_{}", mixed(24, 12), mixed(24, 13)),
        format!("data:image/png;base64,iVBORw0KGgo{}", mixed(800, 14)),
        picture,
        // Examples and placeholders.
        ["AK", "IAIOSFODNN7EXAMPLE"].concat(),
        "postgres://user:password@localhost/db".into(),
        "postgres://postgres:postgres@localhost/db".into(),
        "https://oak:${PASSWORD}@example.org, https://oak:%s@example.org, https://{user}:{pass}@example.org".into(),
        "https://example.org/?token=$TOKEN&password={password}&api_key=YOUR_API_KEY".into(),
        "password=your_password_here".into(),
        "PASSWORD=<password> password: ********".into(),
        "export API_KEY=$OTHER_KEY".into(),
        "Authorization: Bearer $TOKEN".into(),
        "Authorization: Bearer <token>".into(),
        // Code and prose.
        "let password = config.database.password2;".into(),
        "password = getpass.getpass(prompt1)".into(),
        "the password: hunting in the woods".into(),
        "fn token_count(key: &str, max_tokens: usize) -> Option<Token> { self.tokens.get(key) }".into(),
        "assert_eq!(tokens.next_key(), Some(Key::Enter));".into(),
        "primary_key = customer_id_2024".into(),
        "\"usage\":{\"input_tokens\":12345,\"output_tokens\":67890}".into(),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl oak@example".into(),
        ["-----BEG", "IN PRIV", "ATE KEY-----\n...\n-----END PRIV", "ATE KEY-----"].concat(),
        ["-----BEG", "IN CERTIFICATE-----\n", &mixed(64, 15), "\n-----END CERTIFICATE-----"].concat(),
        "http://localhost:8080/path?key=value&page=2".into(),
        "git@example.org:oak/trees.git and ssh://git@example.org:22/oak".into(),
        "error at src/main.rs:120:5: unexpected token `}`, expected `)`".into(),
        "https://example.org:443/a@b".into(),
    ]
    .into()
}

#[test]
fn ids_examples_and_code_are_no_secrets() {
    let finder = Finder::new();
    let mut wrong = Vec::new();
    for text in harmless() {
        let line = format!("{{\"role\":\"tool\",\"content\":{}}}", quoted(&text));
        for (bytes, form) in [(text.as_bytes(), Form::Text), (line.as_bytes(), Form::Json)] {
            let found = finder.examine(bytes, form).expect("it can tell").found;
            wrong.extend(found.into_iter().map(|found| format!("{}: {text}", found.rule)));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn s02_ids_and_signatures_are_not_looked_at() {
    let token = super::invented::github();
    let finder = Finder::new();
    for member in
        ["id", "tool_call_id", "call_id", "signature", "thoughtSignature", "encrypted_content", "response_id", "name"]
    {
        let line = format!(r#"{{"role":"assistant","{member}":"{token}","calls":[{{"{member}":"{token}"}}]}}"#);
        assert_eq!(finder.examine(line.as_bytes(), Form::Json).expect("it can tell").found, [], "{member}");
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    session_core::json::push_string(&mut out, text);
    String::from_utf8(out).expect("it is text")
}
