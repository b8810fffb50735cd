//! What is found, what is not, and what masking leaves.

mod invented;
mod masking;
mod not_secret;
mod secret;
mod wrapped;
