//! Names for sessions that nobody named.

use rand::seq::IndexedRandom as _;
use session_core::{SessionName, Timestamp};

const LETTERS: [char; 36] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w',
    'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
];
const LENGTH: usize = 6;

/// A name for a session that is created now: the local date and six random letters or digits, each as likely as the
/// others. The name is free only in all likelihood: [`crate::Store::create`] claims one.
#[doc(alias = "GenerateSessionName")]
pub(crate) fn generate(local: &Timestamp, rng: &mut impl rand::Rng) -> SessionName {
    let random: String = (0..LENGTH).filter_map(|_| LETTERS.choose(rng)).collect();
    let name = format!("{}-{random}", local.format("%Y-%m-%d"));
    SessionName::new(name).expect("digits, dashes and letters make a name")
}
