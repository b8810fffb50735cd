//! How surprising a text is.

/// Shannon's entropy of the bytes, in bits a byte: 0 for one letter repeated, 4 for hexadecimal digits at random.
pub(crate) fn bits(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let len = bytes.len() as f64;
    let share = |&count: &u32| f64::from(count) / len;
    -counts.iter().filter(|&&count| count > 0).map(share).map(|share| share * share.log2()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn repetition_has_none_and_variety_has_much() {
        assert!(bits(b"aaaaaaaa").abs() < 1e-9);
        assert!((bits(b"abababab") - 1.0).abs() < 1e-9);
        assert!((bits(b"0123456789abcdef") - 4.0).abs() < 1e-9);
    }
}
