//! What is wrong with a line: bad data that was found, as a value.

use std::fmt;

/// Where in a history something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1. `None` when reading backwards, where lines are not counted.
    pub line: Option<u64>,
    /// The first byte, from 0.
    pub offset: u64,
}

/// A line, or a part of one, that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Defect {
    /// The start of the span that it is about:
    ///
    /// - Where a JSON text could be read, that text. A repaired event has the same place in its [`crate::Record`]. White
    ///   space, a byte order mark and NUL bytes around the text are outside, also where they are the fault.
    /// - Where none could be read, the line without the white space at its ends. It is the same for a line of nothing but
    ///   a byte order mark and NUL bytes.
    /// - Of a line that was cut because events are glued to each other, the piece, without such padding.
    /// - Of a line that is too long, all of it.
    pub place: Place,
    /// How many bytes the span has. The newline is never in it.
    pub len: u64,
    /// What is wrong.
    pub fault: Fault,
    /// What it means for the reader.
    pub outcome: Outcome,
}

impl Defect {
    /// Whether data was lost: no event could be read from this span. Other spans of the line may have given some.
    pub fn is_skipped(&self) -> bool {
        self.outcome != Outcome::Repaired
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.place.line {
            write!(f, "line {line}, ")?;
        }
        write!(f, "byte {}: {}", self.place.offset, self.fault)
    }
}

/// What a defect means for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The event was kept, with a part of it replaced, left out, or found in spite of what surrounds it. A line of nothing
    /// but a byte order mark and NUL bytes has this outcome too, although it gives no event: nothing was lost.
    Repaired,
    /// No event could be read from the span.
    Skipped,
    /// No event could be read from the span, and it would have been a rollback: what is live after it is uncertain.
    SkippedRollback,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is not JSON.
    NotJson {
        /// The first byte that breaks the grammar, counted from the defect's place.
        at: u64,
        /// What was wrong there.
        what: &'static str,
    },
    /// It is JSON, but no object.
    NotAnObject,
    /// The file ends inside it.
    Torn,
    /// It is whole, but the file ends without its newline.
    Unterminated,
    /// A member has a type that it cannot have.
    WrongType {
        /// The member's name.
        field: &'static str,
    },
    /// A `\u` escape is half of a surrogate pair; it reads as U+FFFD.
    LoneSurrogate,
    /// Some bytes in a string are not UTF-8; each reads as U+FFFD.
    InvalidUtf8,
    /// A byte order mark stands before it.
    ByteOrderMark,
    /// It ends in a carriage return.
    CarriageReturn,
    /// NUL bytes surround it.
    NulPadding,
    /// Several events stand on one line.
    Glued,
    /// It is longer than the reader's bound.
    TooLong {
        /// That bound, in bytes.
        limit: u64,
    },
}

impl Fault {
    /// A stable name, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::NotJson { .. } => "not-json",
            Fault::NotAnObject => "not-an-object",
            Fault::Torn => "torn",
            Fault::Unterminated => "unterminated",
            Fault::WrongType { .. } => "wrong-type",
            Fault::LoneSurrogate => "lone-surrogate",
            Fault::InvalidUtf8 => "invalid-utf8",
            Fault::ByteOrderMark => "byte-order-mark",
            Fault::CarriageReturn => "carriage-return",
            Fault::NulPadding => "nul-padding",
            Fault::Glued => "glued",
            Fault::TooLong { .. } => "too-long",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotJson { at, what } => write!(f, "not JSON: {what}, {at} bytes in"),
            Fault::NotAnObject => f.write_str("JSON, but not an object"),
            Fault::Torn => f.write_str("torn: the file ends inside it"),
            Fault::Unterminated => f.write_str("whole, but without its newline"),
            Fault::WrongType { field } => write!(f, "{field} has the wrong type"),
            Fault::LoneSurrogate => f.write_str("half of a surrogate pair, read as U+FFFD"),
            Fault::InvalidUtf8 => f.write_str("bytes that are not UTF-8, read as U+FFFD"),
            Fault::ByteOrderMark => f.write_str("a byte order mark before it"),
            Fault::CarriageReturn => f.write_str("ends in a carriage return"),
            Fault::NulPadding => f.write_str("surrounded by NUL bytes"),
            Fault::Glued => f.write_str("several events on one line"),
            Fault::TooLong { limit } => write!(f, "longer than {limit} bytes"),
        }
    }
}

impl std::error::Error for Fault {}
