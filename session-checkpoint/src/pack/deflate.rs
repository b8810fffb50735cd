//! Compression, with one compressor per thread.

use libdeflater::{CompressionLvl, Compressor};
use std::cell::RefCell;

/// How an object's bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// A zlib stream of stored blocks.
    Stored,
    /// Deflate level 1.
    Fast,
}

thread_local! {
    static FAST: RefCell<Option<Compressor>> = const { RefCell::new(None) };
}

/// Appends `content` as a zlib stream to `out`.
pub(crate) fn deflate(compression: Compression, content: &[u8], out: &mut Vec<u8>) {
    match compression {
        Compression::Stored => stored(content, out),
        Compression::Fast => FAST.with_borrow_mut(|slot| {
            let compressor = slot.get_or_insert_with(|| {
                Compressor::new(CompressionLvl::new(1).expect("level 1 is one of libdeflate's"))
            });
            let start = out.len();
            out.resize(start + compressor.zlib_compress_bound(content.len()), 0);
            let len = compressor
                .zlib_compress(content, &mut out[start..])
                .expect("the buffer has the size that the compressor asked for");
            out.truncate(start + len);
        }),
    }
}

/// A zlib stream without compression: blocks of at most 65,535 bytes, each with its length and the complement of it.
fn stored(content: &[u8], out: &mut Vec<u8>) {
    const BLOCK: usize = 65_535;
    out.reserve(content.len() + content.len() / BLOCK * 5 + 16);
    out.extend_from_slice(&[0x78, 0x01]);
    let mut rest = content;
    loop {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        let len = u16::try_from(block.len()).expect("a block is at most 65,535 bytes");
        out.push(u8::from(after.is_empty()));
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    out.extend_from_slice(&libdeflater::adler32(content).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::Decompressor;

    #[test]
    fn both_ways_inflate_to_what_went_in() {
        for len in [0, 1, 65_534, 65_535, 65_536, 200_000] {
            let content: Vec<u8> = (0..len).map(|n: u32| n.to_le_bytes()[0] ^ 0x5a).collect();
            for compression in [Compression::Stored, Compression::Fast] {
                let mut packed = Vec::new();
                deflate(compression, &content, &mut packed);
                let mut back = vec![0; content.len()];
                let n = Decompressor::new().zlib_decompress(&packed, &mut back).expect("a whole zlib stream");
                assert_eq!((n, back), (content.len(), content.clone()), "{compression:?}");
            }
        }
    }
}
