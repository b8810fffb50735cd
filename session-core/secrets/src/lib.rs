//! Secrets in texts and in the JSON of a session's history: finding them, and masking them in place.
//!
//! What an agent reads, prints and is told holds tokens, keys and passwords, and its history keeps them. This crate knows
//! what they look like: by the rules of gitleaks, which it brings along as data, and some of its own (`data/README.md`).
//! A text is looked through as it stands, and once more for each layer of escapes that it has, so that a token in JSON in
//! a string of JSON is found; what base64 encodes is decoded; a token that a terminal has broken over lines is joined.
//!
//! ```
//! use session_secrets::{Finder, Form};
//! let text = "curl 'https://example.org/?user=oak&password=hunter2'";
//! let examined = Finder::new().examine(text.as_bytes(), Form::Text)?;
//! assert_eq!(examined.found[0].rule, "url-query-secret");
//! assert_eq!(examined.masked.as_deref(), Some(&b"curl 'https://example.org/?user=oak&password=*******'"[..]));
//! # Ok::<(), session_secrets::SecretsError>(())
//! ```
//!
//! # What it promises
//!
//! - **Masking changes no length and no other byte.** Each byte of a secret becomes an asterisk, white space in it stays;
//!   offsets of lines and positions in logs stay true. JSON stays JSON, in every layer.
//! - **Masked is done.** Nothing is found in what was masked; masking again changes nothing.
//! - **What is no text stays.** In JSON, ids, names, signatures and encrypted content are not looked at.
//! - **A secret is not printed.** [`Secret`] shows its beginning and its length, whoever prints it.
//!
//! # What it deliberately does not do
//!
//! - It asks no provider whether a token is valid, and touches no file, clock or network.
//! - It does not know words. A password is found where something says that it is one, or by [`Known`].
//!
//! # Modules, in reading order
//!
//! | to read | what is there |
//! | --- | --- |
//! | `finder` | [`Finder`], which does the whole |
//! | `rules`, `entropy` | what a secret looks like |
//! | `view`, `base64`, `wrapped` | what it may be wrapped in |
//! | `texts` | which strings of JSON are text |
//! | `mask`, `secret`, `known` | what becomes of it |
//! | `redactor` | the core's `Redact`, for exporters and writers |

mod base64;
mod entropy;
mod finder;
mod found;
mod known;
mod mask;
mod redactor;
mod rules;
mod secret;
mod texts;
mod view;
mod wrapped;

pub use finder::{Examined, Finder, Form};
pub use found::Found;
pub use known::Known;
pub use redactor::Redactor;
pub use secret::Secret;

/// Why nothing can be said about a text, which may hold secrets then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// Masking would break the JSON.
    #[error("masking the secrets would break the JSON that they stand in")]
    BrokenJson,
    /// Masking would break a character.
    #[error("masking the secrets would break a character")]
    BrokenText,
}
