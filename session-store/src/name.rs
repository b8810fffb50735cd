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
pub(crate) fn generate(local: &Timestamp, rng: &mut impl rand::Rng) -> SessionName {
    let random: String = (0..LENGTH).filter_map(|_| LETTERS.choose(rng)).collect();
    let name = format!("{}-{random}", local.format("%Y-%m-%d"));
    SessionName::new(name).expect("digits, dashes and letters make a name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_letter_is_as_likely_as_the_others() {
        let now = session_core::parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
        let mut seen: HashMap<char, f64> = HashMap::new();
        for _ in 0..10_000 {
            let name = generate(&now, &mut rand::rng()).to_string();
            name[11..].chars().for_each(|letter| *seen.entry(letter).or_default() += 1.0);
        }
        assert_eq!(seen.len(), LETTERS.len());
        // 60,000 draws: a letter that is off by a quarter is off by ten standard deviations.
        let wanted = 60_000.0 / 36.0;
        assert!(seen.values().all(|count| (count / wanted - 1.0).abs() < 0.25), "{seen:?}");
    }
}
