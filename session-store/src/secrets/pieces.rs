//! Going through a file piece by piece, in bounded memory.

use super::files::Shape;
use session_secrets::{Finder, Form, Found};
use std::io::{self, BufRead, BufReader, Read};

/// The longest line that is looked through. What is longer is told as such.
const LONGEST_LINE: usize = 32 << 20;
/// How much of a text is looked through at once.
const WINDOW: usize = 1 << 20;
/// How much of it is looked through again with what follows: no secret of any rule is longer.
const OVERLAP: usize = 64 << 10;

/// A piece of a file. All pieces, in their order, are the file.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// Where it begins.
    pub(crate) offset: u64,
    /// Which line it is, from 1; of a file of lines only.
    pub(crate) line: Option<u64>,
    /// The secrets that lie in it.
    pub(crate) found: Vec<Found>,
    /// Why it was not looked through.
    pub(crate) unexamined: Option<String>,
}

impl Piece {
    fn of(bytes: Vec<u8>, offset: u64, line: Option<u64>, finder: &Finder, form: Form) -> Self {
        let (found, unexamined) = match finder.examine(&bytes, form) {
            Ok(examined) => (examined.found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Piece { bytes, offset, line, found, unexamined }
    }
}

/// Goes through what a reader gives.
pub(crate) fn pieces<E: From<io::Error>>(
    reader: impl Read,
    shape: Shape,
    finder: &Finder,
    visit: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = BufReader::with_capacity(crate::history::BUFFER, reader);
    match shape {
        Shape::Lines => lines(&mut reader, finder, visit),
        Shape::Document => {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            visit(Piece::of(bytes, 0, None, finder, Form::Json))
        }
        Shape::Text => text(&mut reader, finder, visit),
    }
}

fn lines<E: From<io::Error>>(
    reader: &mut impl BufRead,
    finder: &Finder,
    visit: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let (mut offset, mut line) = (0, 0);
    let mut is_inside = false;
    loop {
        let mut bytes = Vec::new();
        reader.take(LONGEST_LINE as u64).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let len = bytes.len() as u64;
        line += u64::from(!is_inside);
        let is_whole = bytes.ends_with(b"\n") || bytes.len() < LONGEST_LINE;
        let piece = if is_inside || !is_whole {
            let why = (!is_inside).then(|| format!("it is longer than {LONGEST_LINE} bytes"));
            Piece { bytes, offset, line: Some(line), found: Vec::new(), unexamined: why }
        } else {
            Piece::of(bytes, offset, Some(line), finder, Form::Json)
        };
        is_inside = !is_whole;
        offset += len;
        visit(piece)?;
    }
}

/// Looks through a window, takes the front of it, and goes on with the rest: what stands at its end may be the beginning
/// of something.
fn text<E: From<io::Error>>(
    reader: &mut impl BufRead,
    finder: &Finder,
    visit: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let mut offset = 0;
    let mut window = Vec::new();
    loop {
        let wanted = (WINDOW - window.len().min(WINDOW)) as u64 + OVERLAP as u64;
        let is_end = (&mut *reader).take(wanted).read_to_end(&mut window)? as u64 != wanted;
        if window.is_empty() {
            return Ok(());
        }
        let mut piece = Piece::of(std::mem::take(&mut window), offset, None, finder, Form::Text);
        if !is_end {
            let cut = cut(&piece);
            window = piece.bytes.split_off(cut);
            piece.found.retain(|found| found.at.end <= cut);
        }
        offset += piece.bytes.len() as u64;
        visit(piece)?;
        if is_end {
            return Ok(());
        }
    }
}

/// Where the front of a window ends: at a line's end if there is one in the overlap's stead, and in no secret.
fn cut(piece: &Piece) -> usize {
    let len = piece.bytes.len() - OVERLAP;
    let mut cut = memchr::memrchr(b'\n', &piece.bytes[..len]).map_or(len, |at| at + 1);
    while let Some(found) = piece.found.iter().find(|found| found.at.start < cut && cut < found.at.end) {
        cut = found.at.end;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(bytes: &[u8], shape: Shape) -> (Vec<u8>, Vec<u64>) {
        let (mut out, mut places) = (Vec::new(), Vec::new());
        pieces::<io::Error>(bytes, shape, &Finder::new(), &mut |mut piece| {
            assert_eq!(piece.offset, out.len() as u64);
            for found in &piece.found {
                places.push(piece.offset + found.at.start as u64);
                found.mask(&mut piece.bytes);
            }
            out.extend_from_slice(&piece.bytes);
            Ok(())
        })
        .expect("it is in memory");
        (out, places)
    }

    #[test]
    fn s01_a_secret_is_found_wherever_a_window_ends() {
        let token = ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat();
        let line = "three oaks and a birch\n";
        let window = WINDOW + OVERLAP;
        for at in [0, 5_000, WINDOW - 30, WINDOW, window - 30, window - 1, window, window + 17] {
            for filler in [line, "x "] {
                let mut text: Vec<u8> = filler.bytes().cycle().take(at).collect();
                text.push(b' ');
                text.extend_from_slice(token.as_bytes());
                text.extend_from_slice(b"\n");
                text.extend(filler.bytes().cycle().take(3 * WINDOW));
                let (out, places) = masked(&text, Shape::Text);
                assert_eq!(places, [at as u64 + 1], "{at}");
                text[at + 1..at + 1 + token.len()].fill(b'*');
                assert!(out == text, "{at}");
            }
        }
    }

    #[test]
    fn lines_are_pieces_and_one_that_is_too_long_is_told() {
        let long = vec![b'x'; LONGEST_LINE + 5];
        let bytes = [b"{}\n".as_slice(), &long, b"\n\nlast"].concat();
        let mut told = Vec::new();
        pieces::<io::Error>(&bytes[..], Shape::Lines, &Finder::new(), &mut |piece| {
            told.push((piece.line, piece.offset, piece.bytes.len(), piece.unexamined.is_some()));
            Ok(())
        })
        .expect("it is in memory");
        let len = LONGEST_LINE;
        let wanted = [
            (Some(1), 0, 3, false),
            (Some(2), 3, len, true),
            (Some(2), 3 + len as u64, 6, false),
            (Some(3), 9 + len as u64, 1, false),
            (Some(4), 10 + len as u64, 4, false),
        ];
        assert_eq!(told, wanted);
    }
}
