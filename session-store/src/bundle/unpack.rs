//! The bytes of an archive, as they are unpacked: never more of them than was allowed.

use super::{BundleFault, BundleLimits, MAGIC, is_bundle};
use std::cell::Cell;
use std::io::{self, BufRead as _, BufReader, Chain, Cursor, Read};
use std::rc::Rc;
use zstd::stream::read::Decoder;

/// The largest window that is unpacked, as a power of two: what the unpacking holds in memory. 128 MiB.
const MAX_WINDOW_LOG: u32 = 27;
/// A small archive may grow by any factor up to so much.
const FREE_BYTES: u64 = 16 << 20;
const BUFFER: usize = 128 << 10;

/// A bundle's archive, unpacked.
pub(super) struct Unpacked<'a, R: Read> {
    decoder: Decoder<'a, BufReader<Counted<R>>>,
    packed: Rc<Cell<u64>>,
    unpacked: u64,
    max_expansion: u64,
}

/// A reader with what was read of it already, and how much both have given.
pub(super) struct Counted<R> {
    reader: Chain<Cursor<Vec<u8>>, R>,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

impl<R: Read> Unpacked<'_, R> {
    pub(super) fn new(mut reader: R, limits: &BundleLimits) -> Result<Self, BundleFault> {
        let mut beginning = Vec::new();
        reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut beginning).map_err(BundleFault::of)?;
        if !is_bundle(&beginning) {
            return Err(BundleFault::NoBundle);
        }
        let packed = Rc::new(Cell::new(0));
        let counted = Counted { reader: Cursor::new(beginning).chain(reader), read: Rc::clone(&packed) };
        let reader = BufReader::with_capacity(BUFFER, counted);
        let mut decoder = Decoder::with_buffer(reader).map_err(BundleFault::of)?.single_frame();
        decoder.window_log_max(MAX_WINDOW_LOG).map_err(BundleFault::of)?;
        Ok(Unpacked { decoder, packed, unpacked: 0, max_expansion: limits.max_expansion })
    }

    /// Reads to the end of what is packed, which must be that of the file.
    pub(super) fn end(mut self) -> Result<(), BundleFault> {
        match self.decoder.read(&mut [0]).map_err(BundleFault::of)? {
            0 => {}
            _ => return Err(BundleFault::Trailing),
        }
        let mut rest = self.decoder.finish();
        if rest.fill_buf().map_err(BundleFault::of)?.is_empty() { Ok(()) } else { Err(BundleFault::Trailing) }
    }
}

impl<R: Read> Read for Unpacked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.unpacked += read as u64;
        if self.unpacked > FREE_BYTES && self.unpacked / self.max_expansion.max(1) > self.packed.get() {
            return Err(io::Error::other(BundleFault::Expands { limit: self.max_expansion }));
        }
        Ok(read)
    }
}
