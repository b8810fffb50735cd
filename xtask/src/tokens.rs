//! Rust source as a flat list of tokens with line numbers.
//!
//! Rules look at tokens rather than text: a word in a comment or a string is not a use of it, and no way of
//! spacing or breaking lines hides one.

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// An identifier, a punctuation character, a bracket, or a literal as it is spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// The 1-based line it starts on.
    pub(crate) line: usize,
}

/// The tokens of a source file. Comments are dropped; a doc comment becomes a `doc` attribute.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>> {
    let stream: TokenStream = source.parse().map_err(|error| anyhow!("not readable as Rust: {error}"))?;
    let mut flat = Vec::new();
    flatten(stream, &mut flat);
    Ok(flat)
}

/// The lines on which the tokens `pattern` follow each other.
pub(crate) fn lines_of(tokens: &[Token], pattern: &[&str]) -> Vec<usize> {
    let matches = |window: &&[Token]| window.iter().map(|token| token.text.as_str()).eq(pattern.iter().copied());
    tokens.windows(pattern.len()).filter(matches).map(|window| window[0].line).collect()
}

fn flatten(stream: TokenStream, flat: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let text = match tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                flat.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), flat);
                flat.push(Token { text: close.to_owned(), line: group.span_close().start().line });
                continue;
            }
            TokenTree::Ident(ident) => ident.to_string(),
            TokenTree::Punct(punct) => punct.as_char().to_string(),
            TokenTree::Literal(literal) => literal.to_string(),
        };
        flat.push(Token { text, line });
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::{lines_of, tokens};

    #[test]
    fn comments_and_strings_hold_no_tokens_and_lines_are_counted() {
        let source = "// todo!()\n/// todo!()\nfn f() {\n    let _ = \"todo!()\"; /* todo!() */\n    todo ! ();\n}\n";
        let tokens = tokens(source).expect("it is Rust");
        assert_eq!(lines_of(&tokens, &["todo", "!"]), [5]);
    }

    #[test]
    fn text_that_is_not_rust_is_an_error() {
        assert!(tokens("fn f( {").is_err());
    }
}
