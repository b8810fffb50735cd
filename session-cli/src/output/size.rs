//! Numbers of bytes for people.

/// In the largest unit that fits.
pub(crate) fn words(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}

/// In at most five cells, for tables with many columns: `512`, `4.0K`, `80K`, `1.2M`, by powers of 1024.
pub(crate) fn brief(bytes: u64) -> String {
    let mut number = bytes as f64;
    for unit in ["", "K", "M", "G", "T", "P", "E"] {
        // One that would be rounded up to a digit more is told in the next unit.
        if number < 999.5 || unit == "E" {
            let digits = usize::from(!unit.is_empty() && number < 9.95);
            return format!("{number:.digits$}{unit}");
        }
        number /= 1024.0;
    }
    unreachable!("the last unit takes every number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_number_is_no_wider_than_five_cells() {
        let told = [0, 1, 999, 1000, 4096, 81_920, 1_023_487, 1_023_488, 1 << 30, u64::MAX].map(brief);
        assert_eq!(told, ["0", "1", "999", "1.0K", "4.0K", "80K", "999K", "1.0M", "1.0G", "16E"]);
    }
}
