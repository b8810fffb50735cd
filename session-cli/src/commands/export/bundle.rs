//! Sessions as one file.

use super::destination::Destination;
use super::written::{self, Written};
use super::{Detail, Flags, file};
use crate::commands::checkpoint::attach::{Missing, attached};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Diagnostic;
use crate::progress::Bar;
use indicatif::HumanBytes;
use serde::Serialize;
use session_checkpoint::Cancel;
use session_core::checkpoint::Checkpointer;
use session_core::{SessionName, counted};
use session_store::{BundlePlan, BundleSecrets, BundledSession, StoreError};
use std::io::{self, Write};
use std::path::PathBuf;

const ENDING: &str = "tar.zst";

/// What is told of a session in a bundle.
#[derive(Serialize)]
struct Packed {
    members: u64,
    unpacked_bytes: u64,
    redacted: u64,
}

pub(super) fn run(flags: &Flags, context: &Context, names: &[SessionName]) -> Result<Exit, Failure> {
    if flags.range.is_some() || flags.raw || flags.detail != Detail::Full {
        return Err(Failure::new(
            Exit::Usage,
            "a bundle is all of a session: --range, --raw and --detail choose a part",
        ));
    }
    let names = &if flags.lineage { with_lineage(context, names)? } else { names.to_vec() }[..];
    // One file holds them all, however many they are.
    match Destination::of(flags.output.as_deref(), 1)? {
        Destination::Stdout => to_stdout(flags, context, names),
        Destination::File(path) => to_files(flags, context, &[(path, names)]),
        place @ Destination::Directory(_) => {
            let path = |name: &SessionName| place.path(name, ENDING);
            let files: Vec<(PathBuf, &[SessionName])> = names.chunks(1).map(|one| (path(&one[0]), one)).collect();
            files.iter().try_for_each(|(path, _)| file::check(path, flags.force))?;
            place.prepare()?;
            to_files(flags, context, &files)
        }
    }
}

/// The sessions with those that they come from, and those that go on with them, each once.
fn with_lineage(context: &Context, names: &[SessionName]) -> Result<Vec<SessionName>, Failure> {
    let mut all = Vec::new();
    for name in names {
        let lineage = context.store.lineage(name)?;
        let relatives = lineage.ancestors.iter().chain([&lineage.session]).chain(&lineage.successors);
        for relative in relatives.filter(|relative| relative.exists) {
            let name = SessionName::new(relative.name.clone())?;
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    Ok(all)
}

fn to_stdout(flags: &Flags, context: &Context, names: &[SessionName]) -> Result<Exit, Failure> {
    if context.out.is_json() {
        return Err(Failure::new(Exit::Usage, "--json tells what was written to files, and there is none without -o"));
    }
    if context.out.is_terminal() {
        return Err(Failure::new(Exit::Usage, "a bundle is no text for a terminal")
            .hint("-o FILE writes it to a file; a pipe takes it too"));
    }
    let bar = Bar::new(context.out.is_quiet());
    let plan = planned(flags, context, names, &bar)?;
    write(&plan, &bar, &mut |bytes| context.out.bytes(bytes))?;
    drop(bar);
    let diagnostics = tell(context, &plan);
    Ok(exit(&diagnostics))
}

fn to_files(flags: &Flags, context: &Context, files: &[(PathBuf, &[SessionName])]) -> Result<Exit, Failure> {
    files.iter().try_for_each(|(path, _)| file::check(path, flags.force))?;
    let watch = interrupt::watch()?;
    let cancel = watch.cancel();
    let bar = Bar::new(context.out.is_quiet());
    let (mut written, mut diagnostics) = (Vec::new(), Vec::new());
    for (path, names) in files {
        let plan = planned(flags, context, names, &bar)?;
        let mut file = file::NewFile::create(path)?;
        write(&plan, &bar, &mut |bytes| {
            if cancel.is_cancelled() { Err(Failure::quiet(Exit::Interrupted)) } else { file.write(bytes) }
        })?;
        let bytes = file.publish(flags.force)?;
        diagnostics.extend(bar.aside(|| tell(context, &plan)));
        written.extend(plan.sessions().map(|session| Written {
            session: session.name.to_string(),
            path: path.display().to_string(),
            bytes,
            more: Packed { members: session.members, unpacked_bytes: session.bytes, redacted: session.masked },
        }));
    }
    drop(bar);
    written::tell(context, ("export-bundle", "bundle"), (diagnostics.is_empty(), &diagnostics), written)?;
    Ok(exit(&diagnostics))
}

fn planned<'a>(
    flags: &Flags,
    context: &'a Context,
    names: &[SessionName],
    bar: &Bar,
) -> Result<BundlePlan<'a>, Failure> {
    let secrets = if flags.no_redact { BundleSecrets::Keep } else { BundleSecrets::Mask };
    let mut plan = context.store.bundle(secrets);
    let mut bytes = 0;
    for name in names {
        let mut progress = |read: u64| {
            bytes += read;
            bar.say(|| format!("{name}, {} looked through", HumanBytes(bytes)));
        };
        let checkpoints = match secrets {
            BundleSecrets::Mask => attached(context, name, Missing::Leave, Cancel::new())?,
            BundleSecrets::Keep => None,
        };
        let checkpoints = checkpoints.as_ref().map(|attached| attached as &dyn Checkpointer);
        plan.add(name, checkpoints, &mut progress)?;
    }
    Ok(plan)
}

/// Writes a bundle to where `put` puts it.
fn write(plan: &BundlePlan<'_>, bar: &Bar, put: &mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut bytes = 0;
    let mut sink = Sink { put, failure: None };
    let written = plan.write(&mut sink, &mut |read| {
        bytes += read;
        bar.say(|| format!("{} packed", HumanBytes(bytes)));
    });
    match (written, sink.failure) {
        (Err(StoreError::BundleOutput { .. }), Some(failure)) => Err(failure),
        (written, _) => Ok(written?),
    }
}

/// What cannot be put somewhere says so as a failure of its own.
struct Sink<'a> {
    put: &'a mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    failure: Option<Failure>,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.put)(bytes).map_err(|failure| {
            self.failure = Some(failure);
            io::Error::other("it cannot be written there")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a person should know besides the bundle; what does not go along is told as diagnostics.
fn tell(context: &Context, plan: &BundlePlan<'_>) -> Vec<Diagnostic> {
    let names: Vec<&str> = plan.sessions().map(|session| session.name.as_str()).collect();
    let mut diagnostics = Vec::new();
    for session in plan.sessions() {
        let BundledSession { name, masked, succeeded_by, left_out, rewinds, .. } = session;
        if *masked > 0 {
            let places = counted(*masked, "place", "places");
            context.out.note(&format!("note: {name}: secrets at {places} are masked; --no-redact leaves them"));
        }
        if !succeeded_by.is_empty() && !names.contains(&succeeded_by.as_str()) {
            context.out.note(&format!("note: {name}: it goes on as {succeeded_by}, which is not in the bundle"));
        }
        if *rewinds {
            context.out.note(&format!("note: {name}: a rewind has not ended; the bundle has it as if none had begun"));
        }
        diagnostics.extend(left_out.iter().map(|left| Diagnostic {
            code: "left-out".to_owned(),
            session: Some(name.to_string()),
            line: None,
            offset: None,
            text: format!("{} does not go along: {}", left.path, left.why),
        }));
    }
    context.out.diagnostics(&diagnostics);
    diagnostics
}

fn exit(diagnostics: &[Diagnostic]) -> Exit {
    if diagnostics.is_empty() { Exit::Done } else { Exit::Partial }
}
