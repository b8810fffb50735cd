//! Colours of terminal output, kept on a page.
//!
//! A terminal's parser is not used: it swallows whatever follows a sequence that is never ended, and a page must not hide
//! what somebody wrote. Only whole sequences that set a style count, those that move the cursor or clear are dropped, and
//! everything else is shown as text.

use crate::output::escape::{Layout, escaped};
use maud::{Markup, html};
use std::ops::Range;

/// A text, and how its parts look.
#[derive(Debug, Default)]
pub(super) struct Styled {
    text: String,
    /// Up to which byte a style reaches.
    runs: Vec<(usize, Style)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    fore: Option<u8>,
    back: Option<u8>,
    /// One bit for each of [`EFFECTS`].
    effects: u8,
}

/// The class of each effect, with the numbers that switch it on and off.
const EFFECTS: [(&str, u16, u16); 6] =
    [("bold", 1, 22), ("dim", 2, 22), ("italic", 3, 23), ("under", 4, 24), ("inverse", 7, 27), ("struck", 9, 29)];
/// No sequence that means something is longer.
const LONGEST: usize = 64;

impl Styled {
    /// Reads the output of a program. A carriage return ends a line.
    pub(super) fn of(output: &str) -> Self {
        let output = output.replace("\r\n", "\n").replace('\r', "\n");
        let (mut styled, mut style) = (Styled::default(), Style::default());
        let mut rest = output.as_str();
        while let Some(at) = rest.find("\u{1b}[") {
            let Some((parameters, last, length)) = sequence(&rest[at + 2..]) else {
                styled.push(&rest[..at + 2], style);
                rest = &rest[at + 2..];
                continue;
            };
            styled.push(&rest[..at], style);
            if last == 'm' {
                style.set(parameters);
            }
            rest = &rest[at + 2 + length..];
        }
        styled.push(rest, style);
        styled
    }

    /// A text without colours.
    pub(super) fn plain(text: &str) -> Self {
        let mut styled = Styled::default();
        styled.push(&text.replace("\r\n", "\n"), Style::default());
        styled
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        self.text += &escaped(text, Layout::Lines);
        match self.runs.last_mut().filter(|(_, last)| *last == style) {
            Some((upto, _)) => *upto = self.text.len(),
            None => self.runs.push((self.text.len(), style)),
        }
    }

    /// A part of it, as it looks.
    pub(super) fn markup(&self, part: Range<usize>) -> Markup {
        let mut from = part.start;
        let after = self.runs.partition_point(|(upto, _)| *upto <= part.start);
        let runs = self.runs[after..].iter().map_while(|(upto, style)| {
            let piece = from..(*upto).min(part.end);
            from = piece.end;
            (piece.start < piece.end).then(|| (&self.text[piece], style.classes()))
        });
        html! {
            @for (text, classes) in runs {
                @if classes.is_empty() { (text) } @else { span class=(classes) { (text) } }
            }
        }
    }
}

/// The parameters of a sequence, its last byte, and how long it is; `None` for what is none.
fn sequence(text: &str) -> Option<(&str, char, usize)> {
    let is_parameter = |byte: &u8| matches!(byte, b' '..=b'?');
    let end = text.bytes().take(LONGEST).take_while(is_parameter).count();
    let last = char::from(*text.as_bytes().get(end)?);
    matches!(last, '@'..='~').then(|| (&text[..end], last, end + 1))
}

impl Style {
    fn set(&mut self, parameters: &str) {
        let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u16>().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Style::default(),
                30..=37 | 90..=97 => self.fore = colour(number),
                40..=47 | 100..=107 => self.back = colour(number - 10),
                38 => self.fore = extended(&mut numbers),
                48 => self.back = extended(&mut numbers),
                39 => self.fore = None,
                49 => self.back = None,
                number => {
                    for (bit, (_, on, off)) in EFFECTS.iter().enumerate() {
                        if number == *on {
                            self.effects |= 1 << bit;
                        } else if number == *off {
                            self.effects &= !(1 << bit);
                        }
                    }
                }
            }
        }
    }

    fn classes(self) -> String {
        let mut classes = Vec::new();
        classes.extend(self.fore.map(|colour| format!("f{colour}")));
        classes.extend(self.back.map(|colour| format!("b{colour}")));
        let effects = EFFECTS.iter().enumerate().filter(|(bit, _)| self.effects & (1 << bit) != 0);
        classes.extend(effects.map(|(_, (class, ..))| (*class).to_owned()));
        classes.join(" ")
    }
}

/// One of the sixteen, from the number that sets it as the foreground.
fn colour(number: u16) -> Option<u8> {
    u8::try_from(if number >= 90 { number - 90 + 8 } else { number - 30 }).ok()
}

/// A colour of many, as the nearest of the sixteen: they can be read on a light page and on a dark one, which a colour
/// that was chosen for a terminal cannot.
fn extended(numbers: &mut impl Iterator<Item = u16>) -> Option<u8> {
    let mut next = || numbers.next().and_then(|number| u8::try_from(number).ok());
    match next()? {
        5 => match next()? {
            index @ ..16 => Some(index),
            index @ 16..232 => {
                let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
                let index = index - 16;
                Some(nearest([level(index / 36), level(index / 6 % 6), level(index % 6)]))
            }
            index => Some(nearest([8 + 10 * (index - 232); 3])),
        },
        2 => Some(nearest([next()?, next()?, next()?])),
        _ => None,
    }
}

fn nearest(wanted: [u8; 3]) -> u8 {
    const SIXTEEN: [[u8; 3]; 16] = [
        [0, 0, 0],
        [205, 0, 0],
        [0, 205, 0],
        [205, 205, 0],
        [0, 0, 238],
        [205, 0, 205],
        [0, 205, 205],
        [229, 229, 229],
        [127, 127, 127],
        [255, 0, 0],
        [0, 255, 0],
        [255, 255, 0],
        [92, 92, 255],
        [255, 0, 255],
        [0, 255, 255],
        [255, 255, 255],
    ];
    let distance =
        |colour: &[u8; 3]| -> u32 { colour.iter().zip(wanted).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum() };
    (0..16).min_by_key(|index| distance(&SIXTEEN[usize::from(*index)])).unwrap_or(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> String {
        let styled = Styled::of(output);
        styled.markup(0..styled.text().len()).into_string()
    }

    #[test]
    fn colours_are_kept_and_the_cursor_is_not_moved() {
        assert_eq!(shown("a\x1b[1;31mb\x1b[0mc"), "a<span class=\"f1 bold\">b</span>c");
        assert_eq!(
            shown("\x1b[2K\x1b[1Ga\x1b[38;5;196mb\x1b[39m\x1b[48;2;0;0;230mc"),
            "a<span class=\"f9\">b</span><span class=\"b4\">c</span>"
        );
        assert_eq!(shown("1%\r2%\r\n"), "1%\n2%\n");
    }

    #[test]
    fn e02_what_a_terminal_would_swallow_is_shown() {
        assert_eq!(shown("\x1b]0;title never ended <b>"), "\\x1b]0;title never ended &lt;b&gt;");
        assert_eq!(shown("\x1b[12"), "\\x1b[12");
        assert_eq!(shown("\x1bPa\u{202e}b\x07"), "\\x1bPa\\u{202e}b\\x07");
    }

    #[test]
    fn a_part_looks_as_it_does_in_the_whole() {
        let styled = Styled::of("ab\x1b[32mcd\x1b[0mef");
        assert_eq!(styled.markup(3..5).into_string(), "<span class=\"f2\">d</span>e");
        assert_eq!(styled.markup(0..0).into_string(), "");
    }
}
