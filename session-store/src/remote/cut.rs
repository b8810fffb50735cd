//! Into which segments a history is cut, and which of them are put together when more of it comes.
//!
//! Each push adds a segment. If that were all, a session of a thousand turns would be a thousand objects: too many to
//! fetch, and too many to name in a manifest. So segments of one size class are put together as soon as there are
//! [`FAN`] of them, and make one of the next class, as in a log-structured merge tree. A byte is sent again once a class,
//! that is five times over the life of a long session; the manifest names at most `FAN - 1` segments of each class,
//! and the large ones, which are never touched again.

use std::ops::Range;

/// How many segments of one class make one of the next.
const FAN: usize = 8;
/// The upper bounds of the classes, in bytes of history. A segment of the last bound or more stays as it is.
const CLASSES: [u64; 5] = [4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20];
/// The longest segment.
pub(super) const MAX_SEGMENT: u64 = 32 << 20;

/// Which segments stay, and what becomes of the rest of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cutting {
    /// How many of the segments that there are stay, from the first.
    pub(super) keep: usize,
    /// The segments to send after them.
    pub(super) send: Vec<Range<u64>>,
}

/// Cuts a history that is now `bytes` long. `lengths` are those of the segments that there are of it.
pub(super) fn cut(lengths: &[u64], bytes: u64) -> Cutting {
    let covered: u64 = lengths.iter().sum();
    if bytes <= covered {
        return Cutting { keep: lengths.len(), send: Vec::new() };
    }
    let mut keep = lengths.len();
    let mut from = covered;
    loop {
        let class = class_of(bytes - from);
        // Smaller ones that stand before a larger one would never meet their like.
        let mut first = keep;
        while first > 0 && class_of(lengths[first - 1]) < class {
            first -= 1;
        }
        // Too many of its own class.
        let mut alike = first;
        while alike > 0 && class < CLASSES.len() && class_of(lengths[alike - 1]) == class {
            alike -= 1;
        }
        if first - alike + 1 >= FAN {
            first = alike;
        }
        if first == keep {
            break;
        }
        from -= lengths[first..keep].iter().sum::<u64>();
        keep = first;
    }
    Cutting { keep, send: pieces(from, bytes) }
}

fn class_of(bytes: u64) -> usize {
    CLASSES.iter().position(|bound| bytes < *bound).unwrap_or(CLASSES.len())
}

/// Cuts a range into as few pieces of about one length as the longest segment allows.
fn pieces(from: u64, to: u64) -> Vec<Range<u64>> {
    let count = (to - from).div_ceil(MAX_SEGMENT);
    let at = |n: u64| from + u64::try_from(u128::from(to - from) * u128::from(n) / u128::from(count)).unwrap_or(0);
    (0..count).map(|n| at(n)..at(n + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pushes of these lengths: the segments at the end, how many bytes were sent, and the most segments at any time.
    fn pushed(pushes: impl IntoIterator<Item = u64>) -> (Vec<u64>, u64, usize) {
        let (mut lengths, mut bytes, mut sent, mut most) = (Vec::<u64>::new(), 0, 0, 0);
        for push in pushes {
            bytes += push;
            let cutting = cut(&lengths, bytes);
            let from: u64 = lengths[..cutting.keep].iter().sum();
            assert_eq!(cutting.send.first().map(|piece| piece.start), (push > 0).then_some(from));
            assert!(cutting.send.windows(2).all(|pair| pair[0].end == pair[1].start));
            lengths.truncate(cutting.keep);
            for piece in &cutting.send {
                assert!(!piece.is_empty() && piece.end - piece.start <= MAX_SEGMENT, "{piece:?}");
                lengths.push(piece.end - piece.start);
                sent += piece.end - piece.start;
            }
            assert_eq!(lengths.iter().sum::<u64>(), bytes, "every byte is in one segment");
            most = most.max(lengths.len());
        }
        (lengths, sent, most)
    }

    #[test]
    fn ten_thousand_small_pushes_leave_few_segments_and_send_each_byte_a_few_times() {
        let (lengths, sent, most) = pushed([1_000; 10_000]);
        assert!(most <= 40, "{most}");
        assert!(lengths.len() <= 40, "{lengths:?}");
        assert!(sent <= 7 * 10_000_000, "{sent}");
    }

    #[test]
    fn a_large_history_is_cut_once_and_stays_cut() {
        let (lengths, sent, _) = pushed([500 << 20]);
        assert_eq!((lengths.len(), sent), (16, 500 << 20));
        let cutting = cut(&lengths, (500 << 20) + 1_000);
        let new = 500 << 20..(500 << 20) + 1_000;
        assert_eq!(cutting, Cutting { keep: 16, send: Vec::from([new]) });
    }

    #[test]
    fn nothing_new_sends_nothing() {
        assert_eq!(cut(&[5, 7], 12), Cutting { keep: 2, send: Vec::new() });
        assert_eq!(cut(&[], 0), Cutting { keep: 0, send: Vec::new() });
    }

    proptest! {
        #[test]
        fn whatever_is_pushed_segments_stay_few(pushes in prop::collection::vec(0..3_000_000_u64, 1..300)) {
            let total: u64 = pushes.iter().sum();
            let (_, sent, most) = pushed(pushes);
            let large = usize::try_from(total / CLASSES[4]).expect("a small number");
            prop_assert!(most <= CLASSES.len() * FAN + large + 1, "{most} segments");
            prop_assert!(sent <= total * 16, "{sent} bytes for {total}");
        }
    }
}
