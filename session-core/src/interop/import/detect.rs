//! Telling a format by what stands in a file.

use super::format::ImportFormat;
use super::value::Json;
use super::{Importer, claude, codex, gemini, openai, openhands, pi};

impl ImportFormat {
    pub(super) fn importer(self) -> Box<dyn Importer> {
        match self {
            ImportFormat::Claude => Box::<claude::Claude>::default(),
            ImportFormat::Codex => Box::<codex::Codex>::default(),
            ImportFormat::OpenAi => Box::<openai::OpenAi>::default(),
            ImportFormat::Pi => Box::<pi::Pi>::default(),
            ImportFormat::Gemini => Box::<gemini::Gemini>::default(),
            ImportFormat::OpenHands => Box::<openhands::OpenHands>::default(),
        }
    }
}

/// The format that a record tells; `None` where it could be of several, or of none.
pub(super) fn format_of(record: &Json) -> Option<ImportFormat> {
    let tells = [
        (claude::tells as fn(&Json) -> bool, ImportFormat::Claude),
        (codex::tells, ImportFormat::Codex),
        (pi::tells, ImportFormat::Pi),
        (gemini::tells, ImportFormat::Gemini),
        (openhands::tells, ImportFormat::OpenHands),
        (openai::tells, ImportFormat::OpenAi),
    ];
    tells.into_iter().find(|(tells, _)| tells(record)).map(|(_, format)| format)
}

/// A record in a few words, none of which is its content.
pub(super) fn describe(record: &Json) -> String {
    const SHOWN: usize = 8;
    match record {
        Json::Null => "null".into(),
        Json::Bool(_) => "a truth value".into(),
        Json::Raw(_) => "a number".into(),
        Json::Text(_) => "a text".into(),
        Json::List(list) => format!("a list of {}", list.len()),
        Json::Object(members) => {
            let names: Vec<String> = members.iter().take(SHOWN).map(|(name, _)| short(name)).collect();
            let more = if members.len() > SHOWN { ", …" } else { "" };
            format!("an object with {}{more}", names.join(", "))
        }
    }
}

/// The beginning of a name from a file.
fn short(name: &str) -> String {
    name.chars().take(40).collect()
}
