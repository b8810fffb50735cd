//! Made-up texts: prose, code, paths, terminal output, Chinese, emoji.

use rand::RngExt as _;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;

const WORDS: [&str; 24] = [
    "the", "oak", "row", "north", "of", "water", "stands", "seven", "saplings", "and", "a", "fence", "needs", "new",
    "posts", "before", "winter", "so", "we", "measure", "each", "gap", "again", "twice",
];
const CODE: [&str; 8] = [
    "fn plant(row: &mut Row) -> Result<(), Error> {",
    "    let spacing = row.spacing_mm as f64 / 1_000.0;",
    "    if spacing < MIN && !row.tags.contains(\"wild\") {",
    "\treturn Err(Error::TooClose { at: row.at, path: \"C:\\\\trees\\\\\".into() });",
    "    }",
    "    assert_eq!(row.name, \"north\", \"row {} is not <north>\", row.name);",
    "    // the fence & the gate come later",
    "}",
];
const OUTPUT: [&str; 6] = [
    "drwxr-xr-x  2 oak oak   4096 Sep  3 08:15 rows",
    "\u{1b}[31merror\u{1b}[0m: the gap at 12,400 mm is too small",
    "test rows::north ... ok",
    "warning: unused variable: `post`\r",
    "  --> src/rows/north.rs:214:9",
    "100% [====================>] 214/214 trees",
];
const CHINESE: [&str; 5] = ["北边一排橡树，", "每棵之间两米。", "冬天之前要换", "新的篱笆桩；", "请再量一次。"];
const EMOJI: [&str; 4] = ["🌳", "🪵", "👩\u{200d}🌾", "✅"];

/// What a text is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flavour {
    Prose,
    Code,
    Output,
    Chinese,
}

/// A text of about `len` bytes.
pub(crate) fn text(rng: &mut SmallRng, flavour: Flavour, len: usize) -> String {
    let mut text = String::with_capacity(len + 80);
    while text.len() < len {
        match flavour {
            Flavour::Prose => {
                text.push_str(pick(rng, &WORDS));
                text.push_str(if rng.random_ratio(1, 14) { ".\n\n" } else { " " });
                if rng.random_ratio(1, 400) {
                    text.push_str(pick(rng, &EMOJI));
                }
            }
            Flavour::Code => line(&mut text, pick(rng, &CODE)),
            Flavour::Output => line(&mut text, pick(rng, &OUTPUT)),
            Flavour::Chinese => text.push_str(pick(rng, &CHINESE)),
        }
    }
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn pick<'a>(rng: &mut SmallRng, from: &[&'a str]) -> &'a str {
    from.choose(rng).expect("the tables are not empty")
}
