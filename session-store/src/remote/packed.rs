//! Bytes as objects hold them: compressed, and named by the SHA-256 of what they were.

use super::sha::{Sha, Sum};
use super::{RemoteError, RemoteResult};
use std::io::{self, Read, Write};

/// How hard is tried to make them small.
const LEVEL: i32 = 3;
const BUFFER: usize = 128 << 10;
/// What compressing may add to bytes that cannot be made smaller.
const OVERHEAD: u64 = 4 << 10;

/// Bytes, compressed.
#[derive(Debug)]
pub(super) struct Packed {
    /// Of the bytes as they were.
    pub(super) sha: Sha,
    /// How many they were.
    pub(super) bytes: u64,
    pub(super) body: Vec<u8>,
}

/// The longest object that holds so many bytes.
pub(super) fn max_packed(bytes: u64) -> u64 {
    bytes + bytes / 64 + OVERHEAD
}

/// Compresses what a reader gives, with a checksum of zstd's own.
pub(super) fn pack(mut from: impl Read) -> io::Result<Packed> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    let (mut sum, mut bytes, mut buffer) = (Sum::default(), 0, vec![0; BUFFER]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        sum.add(&buffer[..read]);
        bytes += read as u64;
        encoder.write_all(&buffer[..read])?;
    }
    Ok(Packed { sha: sum.end(), bytes, body: encoder.finish()? })
}

/// Decompresses an object, hands its bytes on, and says at its end whether they are those that were wanted. What was
/// handed on before must not be used otherwise.
pub(super) fn unpack(
    object: &str,
    body: &[u8],
    (sha, bytes): (Sha, u64),
    mut to: impl FnMut(&[u8]) -> RemoteResult<()>,
) -> RemoteResult<()> {
    let corrupt = |what: String| RemoteError::Corrupt { object: object.to_owned(), what };
    let mut decoder = zstd::Decoder::with_buffer(body).map_err(|error| corrupt(error.to_string()))?;
    let (mut sum, mut found, mut buffer) = (Sum::default(), 0_u64, vec![0; BUFFER]);
    loop {
        let read = match decoder.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => return Err(corrupt(error.to_string())),
        };
        found += read as u64;
        if found > bytes {
            return Err(corrupt(format!("it holds more than {bytes} bytes")));
        }
        sum.add(&buffer[..read]);
        to(&buffer[..read])?;
    }
    let is = sum.end();
    if found != bytes {
        return Err(corrupt(format!("it holds {found} bytes and not {bytes}")));
    }
    if is != sha {
        return Err(corrupt(format!("its SHA-256 is {is}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(body: &[u8], wanted: (Sha, u64)) -> RemoteResult<Vec<u8>> {
        let mut bytes = Vec::new();
        unpack("x", body, wanted, |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    #[test]
    fn what_was_packed_is_unpacked_and_no_changed_byte_passes() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(|n| (n.wrapping_mul(n) / 7).to_le_bytes()).collect();
        let packed = pack(&text[..]).expect("memory can be read");
        assert!(packed.body.len() as u64 <= max_packed(packed.bytes));
        assert_eq!(unpacked(&packed.body, (packed.sha, packed.bytes)).expect("it is whole"), text);
        for at in (0..packed.body.len()).step_by(packed.body.len() / 97) {
            let mut body = packed.body.clone();
            body[at] ^= 0x20;
            let changed = unpacked(&body, (packed.sha, packed.bytes));
            // A bit that says nothing, such as one of the header that only gives a hint, may change.
            assert!(changed.is_err() || changed.is_ok_and(|bytes| bytes == text), "byte {at}");
        }
        assert!(unpacked(&packed.body[..packed.body.len() / 2], (packed.sha, packed.bytes)).is_err(), "cut off");
        assert!(unpacked(&packed.body, (packed.sha, packed.bytes - 1)).is_err(), "more than was promised");
        assert!(unpacked(&packed.body, (Sha::of(b"x"), packed.bytes)).is_err(), "something else");
    }
}
