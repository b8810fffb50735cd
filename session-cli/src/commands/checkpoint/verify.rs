//! `session checkpoint verify`

use super::at::{At, name};
use super::place::Place;
use super::words;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Rows;
use crate::output::number::counted;
use crate::target;
use serde::Serialize;
use session_checkpoint::{Verification, VerifyDepth};

/// The flags of `checkpoint verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status 1 when something is damaged or missing. The other checkpoints stay usable, and the next snapshot stores \
anew what the workspace still has.\n\nExamples:\n  session checkpoint verify @\n  session checkpoint verify oaks --contents --json"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Read every content too, against its id
    #[arg(long)]
    contents: bool,
}

/// Something that a checkpoint lacks.
#[derive(Debug, Serialize)]
struct Finding {
    /// The checkpoint; of a pack that is damaged, its file.
    name: String,
    state: String,
    object: Option<String>,
    path: String,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        checkpoints: usize,
        objects: u64,
        findings: &'a [Finding],
        set_aside: Vec<String>,
    }
    let place = Place::of(context, &flags.session)?;
    let depth = if flags.contents { VerifyDepth::Contents } else { VerifyDepth::Packs };
    let mut findings = Vec::new();
    let mut document =
        Document { session: place.name.as_str(), checkpoints: 0, objects: 0, findings: &[], set_aside: vec![] };
    let readers = [(place.ours()?, false), (place.reference()?, true)];
    for (reader, is_reference) in readers.into_iter().filter_map(|(reader, is)| Some((reader?, is))) {
        let found = reader.verify(depth)?;
        document.checkpoints += found.turns.len();
        document.objects += found.objects;
        document.set_aside.extend(found.set_aside.iter().map(|path| path.display().to_string()));
        findings.extend(self::findings(&found, is_reference));
    }
    document.findings = &findings;
    context.out.answer("checkpoint-verify", &document, |out| {
        for path in &document.set_aside {
            out.note(&format!("note: {path} was found damaged and set aside"));
        }
        if findings.is_empty() {
            let checkpoints = counted(document.checkpoints as u64, "checkpoint", "checkpoints");
            out.note(&format!("{checkpoints}, {}: whole", counted(document.objects, "object", "objects")));
            return Ok(());
        }
        out.rows(&rows(&findings))
    })?;
    Ok(if findings.is_empty() { Exit::Done } else { Exit::No })
}

fn findings(found: &Verification, is_reference: bool) -> Vec<Finding> {
    let mut all = Vec::new();
    for turn in &found.turns {
        let name = match turn.name.strip_prefix("turn-").and_then(|n| n.parse().ok()) {
            Some(n) if is_reference => At::Reference(n).to_string(),
            _ => name(&turn.name),
        };
        all.extend(turn.bad.iter().map(|bad| Finding {
            name: name.clone(),
            state: words::reason(&bad.state),
            object: Some(bad.oid.to_string()),
            path: words::text(&bad.path),
        }));
    }
    all.extend(found.packs.iter().map(|pack| Finding {
        name: "pack".to_owned(),
        state: if pack.index { "damaged index".to_owned() } else { "damaged".to_owned() },
        object: None,
        path: pack.path.display().to_string(),
    }));
    all
}

fn rows(findings: &[Finding]) -> Rows {
    let mut rows = Rows::new(&["TURN", "STATE", "OBJECT", "PATH"]);
    for finding in findings {
        let object = finding.object.clone().unwrap_or_default();
        rows.push(vec![finding.name.clone(), finding.state.clone(), object, finding.path.clone()]);
    }
    rows
}
