//! Writing in pieces of one size.
//!
//! How a stream is cut into writes can show in what a compressor makes of it. Here it is always cut in the same places.

use std::io::{self, Write};

const PIECE: usize = 128 << 10;

/// Passes on what it is given in pieces of one size, the last one shorter.
pub(super) struct Even<W: Write> {
    to: W,
    piece: Vec<u8>,
}

impl<W: Write> Even<W> {
    pub(super) fn new(to: W) -> Self {
        Even { to, piece: Vec::with_capacity(PIECE) }
    }

    /// Passes on the last piece, and gives the writer back.
    pub(super) fn end(mut self) -> io::Result<W> {
        self.to.write_all(&self.piece)?;
        Ok(self.to)
    }
}

impl<W: Write> Write for Even<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE {
            self.to.write_all(&self.piece)?;
            self.piece.clear();
        }
        Ok(taken)
    }

    /// Nothing is passed on early.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
