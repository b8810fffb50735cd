//! What is told of a request that failed.
//!
//! A store may answer with a document that names the key, or holds the text that was signed. None of that is told: only
//! what was asked, the status, and what the network said.

use super::RemoteError;
use super::error::Refused;
use std::error::Error;

/// The longest text.
const MAX_CHARS: usize = 300;

/// A request that failed.
pub(super) fn refused(doing: &'static str, object: &str, error: &object_store::Error) -> RemoteError {
    RemoteError::Request { doing, object: object.to_owned(), source: Refused::new(told(error)) }
}

/// An error and its causes, without the bodies of answers.
pub(super) fn told(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = without_body(&error.to_string());
        // An outer error as a rule says what the inner ones do.
        if !text.is_empty() && !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    parts.join(": ").chars().take(MAX_CHARS).collect()
}

/// A text up to where a document begins, and without what follows a `?` in an address.
fn without_body(text: &str) -> String {
    let upto = text.find(['<', '{']).unwrap_or(text.len());
    let words = text[..upto].split_whitespace().map(|word| match word.split_once('?') {
        Some((address, _)) if address.contains("://") => address,
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ").trim_end_matches([':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_answers_is_not_told() {
        let body = "Server returned non-2xx status code: 403 Forbidden: <Error><AWSAccessKeyId>AKIA</AWSAccessKeyId>";
        let error = object_store::Error::Generic { store: "S3", source: body.into() };
        assert_eq!(told(&error), "Generic S3 error: Server returned non-2xx status code: 403 Forbidden");
        let signed = "Error performing GET https://host/b/k?X-Amz-Signature=abc in 3ms";
        assert_eq!(without_body(signed), "Error performing GET https://host/b/k in 3ms");
    }
}
