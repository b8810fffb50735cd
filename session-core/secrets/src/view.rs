//! A text with its escapes undone, and where each byte of that came from.
//!
//! A secret may stand in JSON that stands in a string of JSON. Each view undoes one layer of escapes wherever they stand,
//! whether the text around them is JSON or only has a piece of some in it.

use session_core::json::escape;
use std::borrow::Cow;
use std::ops::Range;

/// How often escapes are undone: JSON in JSON in JSON in JSON.
const LAYERS: usize = 4;

/// A text, and what it was made from.
pub(crate) struct View<'a> {
    pub(crate) text: Cow<'a, [u8]>,
    /// Where pieces begin; the last one begins at the end of the text.
    pieces: Vec<Piece>,
    /// The escapes in it, which the next layer undoes.
    escapes: Vec<Range<usize>>,
}

/// A run of bytes that stand in the original as they are here, or what one escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    at: usize,
    origin: usize,
    is_escape: bool,
}

impl<'a> View<'a> {
    /// A text as it stands.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let piece = |at| Piece { at, origin: at, is_escape: false };
        View { text: Cow::Borrowed(text), pieces: vec![piece(0), piece(text.len())], escapes: Vec::new() }
    }

    /// The text, and each view of it that undoes one layer more, as long as that changes anything.
    pub(crate) fn layers(text: &'a [u8]) -> Vec<View<'a>> {
        let mut layers = vec![View::of(text)];
        while layers.len() <= LAYERS
            && let Some(next) = layers.last_mut().and_then(View::unescaped)
        {
            layers.push(next);
        }
        layers
    }

    /// The bytes of the original that a range of this text came from.
    pub(crate) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            let start = self.start_of(range.start);
            return start..start;
        }
        let last = self.piece_of(range.end - 1);
        let end = if self.pieces[last].is_escape {
            self.pieces[last + 1].origin
        } else {
            self.pieces[last].origin + (range.end - self.pieces[last].at)
        };
        self.start_of(range.start)..end
    }

    fn start_of(&self, at: usize) -> usize {
        let piece = self.pieces[self.piece_of(at)];
        if piece.is_escape { piece.origin } else { piece.origin + (at - piece.at) }
    }

    /// The piece that a byte is in.
    fn piece_of(&self, at: usize) -> usize {
        self.pieces.partition_point(|piece| piece.at <= at) - 1
    }

    /// The text with one layer of escapes undone; `None` where there is none. Takes note of the escapes.
    fn unescaped(&mut self) -> Option<View<'static>> {
        let from = &*self.text;
        let first = memchr::memchr_iter(b'\\', from).find(|&at| escape(&from[at..]).is_some())?;
        let mut escapes = Vec::new();
        let mut builder = Builder { parent: self, text: Vec::with_capacity(from.len()), pieces: Vec::new(), piece: 0 };
        let (mut done, mut at) = (0, first);
        while let Some(next) = memchr::memchr(b'\\', &from[at..]) {
            at += next;
            let Some((c, len)) = escape(&from[at..]) else {
                at += 1;
                continue;
            };
            builder.run(done..at);
            builder.escape(at, c);
            escapes.push(at..at + len);
            at += len;
            done = at;
        }
        builder.run(done..from.len());
        let next = builder.finish();
        self.escapes = escapes;
        Some(next)
    }

    /// The escapes that a range of this text touches.
    pub(crate) fn escapes_in(&self, range: &Range<usize>) -> &[Range<usize>] {
        let first = self.escapes.partition_point(|escape| escape.end <= range.start);
        let last = self.escapes.partition_point(|escape| escape.start < range.end);
        &self.escapes[first..last.max(first)]
    }
}

/// Makes a view of a view.
struct Builder<'v, 'a> {
    parent: &'v View<'a>,
    text: Vec<u8>,
    pieces: Vec<Piece>,
    /// The parent's piece that was looked at last: ranges come in order.
    piece: usize,
}

impl Builder<'_, '_> {
    /// Takes over a range of the parent, piece by piece.
    fn run(&mut self, range: Range<usize>) {
        let pieces = &self.parent.pieces;
        let mut at = range.start;
        while at < range.end {
            while pieces[self.piece + 1].at <= at {
                self.piece += 1;
            }
            let piece = pieces[self.piece];
            let end = pieces[self.piece + 1].at.min(range.end);
            let origin = if piece.is_escape { piece.origin } else { piece.origin + (at - piece.at) };
            self.pieces.push(Piece { at: self.text.len(), origin, is_escape: piece.is_escape });
            self.text.extend_from_slice(&self.parent.text[at..end]);
            at = end;
        }
    }

    fn escape(&mut self, at: usize, c: char) {
        let origin = self.parent.start_of(at);
        self.pieces.push(Piece { at: self.text.len(), origin, is_escape: true });
        self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn finish(mut self) -> View<'static> {
        let end = self.parent.pieces.last().expect("a view has the piece at its end").origin;
        self.pieces.push(Piece { at: self.text.len(), origin: end, is_escape: false });
        View { text: Cow::Owned(self.text), pieces: self.pieces, escapes: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<String> {
        View::layers(text.as_bytes()).iter().map(|view| String::from_utf8_lossy(&view.text).into_owned()).collect()
    }

    #[test]
    fn each_layer_undoes_one_more() {
        assert_eq!(texts("plain"), ["plain"]);
        assert_eq!(texts(r"a\nb"), ["a\\nb", "a\nb"]);
        assert_eq!(texts(r"a\\nb\u0041\ud83d\ude00"), [r"a\\nb\u0041\ud83d\ude00", "a\\nbA😀", "a\nbA😀"]);
        assert_eq!(texts(r"C:\dir\ud83d\q"), [r"C:\dir\ud83d\q"]);
        assert_eq!(View::layers(r"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\n".as_bytes()).len(), LAYERS + 1);
    }

    #[test]
    fn a_range_is_told_in_bytes_of_the_original() {
        let text = br"x\\u0041\\nyz";
        let layers = View::layers(text);
        let last = &layers[2];
        assert_eq!(&*last.text, b"xA\nyz");
        let origin = |range: Range<usize>| &text[last.origin(&range)];
        assert_eq!(origin(0..1), b"x");
        assert_eq!(origin(1..2), br"\\u0041");
        assert_eq!(origin(2..3), br"\\n");
        assert_eq!(origin(3..5), b"yz");
        assert_eq!(origin(0..5), text);
    }

    proptest! {
        #[test]
        fn the_origins_of_neighbours_are_neighbours(text in r#"([a-c]|\\\\|\\n|\\u0041|\\"|é|\\){0,24}"#) {
            for view in View::layers(text.as_bytes()) {
                let mut end = 0;
                for at in 0..view.text.len() {
                    let origin = view.origin(&(at..at + 1));
                    // All bytes of one escape share an origin.
                    prop_assert!(origin.start == end || origin.end == end, "{:?} after {}", origin, end);
                    end = origin.end;
                }
                prop_assert_eq!(end, text.len());
            }
        }
    }
}
