//! The trees that are measured: made up, and the same each time.

use std::fs;
use std::path::{Path, PathBuf};

/// How large a tree is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Size {
    S,
    M,
    L,
}

impl Size {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "S" => Some(Size::S),
            "M" => Some(Size::M),
            "L" => Some(Size::L),
            _ => None,
        }
    }

    /// The one of three values that is this size's.
    pub(crate) fn pick<T>(self, small: T, medium: T, large: T) -> T {
        match self {
            Size::S => small,
            Size::M => medium,
            Size::L => large,
        }
    }

    pub(crate) fn files(self) -> u32 {
        match self {
            Size::S => 500,
            Size::M => 10_000,
            Size::L => 80_000,
        }
    }

    fn file_bytes(self) -> u32 {
        match self {
            Size::S => 10_000,
            Size::M => 12_000,
            Size::L => 7_500,
        }
    }

    pub(crate) fn rounds(self) -> u32 {
        match self {
            Size::S => 40,
            Size::M => 15,
            Size::L => 7,
        }
    }

    pub(crate) fn first_rounds(self) -> u32 {
        match self {
            Size::S => 9,
            Size::M => 3,
            Size::L => 1,
        }
    }
}

fn path(work: &Path, n: u32) -> PathBuf {
    work.join(format!("d{}/e{}/file{n}.txt", n / 400, n / 20 % 20))
}

/// Text that compresses about as well as source code.
fn text(seed: u32, bytes: u32) -> String {
    let mut x = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = String::with_capacity(bytes as usize + 16);
    while out.len() < bytes as usize {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let word = x % 2000;
        out += &format!("w{word:x}{}", if x.is_multiple_of(9) { ";\n    " } else { " " });
    }
    out
}

pub(crate) fn make(work: &Path, size: Size) {
    for n in 0..size.files() {
        let path = path(work, n);
        fs::create_dir_all(path.parent().expect("it has one")).expect("scratch");
        // Sizes from a tenth to nearly twice the mean.
        let bytes = size.file_bytes() * (1 + n % 18) / 10;
        fs::write(path, text(n, bytes)).expect("scratch");
    }
}

/// Changes files of a hot set.
pub(crate) fn edit(work: &Path, size: Size, round: u32, files: u32) {
    let step = size.files() / files.max(60).min(size.files());
    for n in 0..files {
        let at = (n + round * files) * step.max(1) % size.files();
        fs::write(path(work, at), text(at + round * 7919 + 1, size.file_bytes())).expect("scratch");
    }
}
