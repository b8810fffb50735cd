//! A history as it is sent where secrets are masked on the way.

use super::RemoteResult;
use super::local::Local;
use crate::StoreError;
use crate::history::BUFFER;
use session_core::{Item, Meta, Redact, RedactError, redact, scan_bytes};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;

/// The history as a redactor gives it, in a file without a name. A redactor gives the same for the same line, so that a
/// copy goes on as the history does.
pub(super) fn redacted(local: Local, redactor: &dyn Redact) -> RemoteResult<Local> {
    let path = local.path().to_owned();
    let refused = |source: RedactError| StoreError::NotRedacted { event: 0, path: path.clone(), source };
    let failed = |error| StoreError::read(&path)(error);
    let dir = path.parent().unwrap_or(Path::new("."));
    let file = unnamed(dir).map_err(failed)?;
    let mut reader = BufReader::with_capacity(BUFFER, local.view().reader().take(local.bytes()));
    let mut writer = BufWriter::with_capacity(BUFFER, &file);
    let (mut line, mut bytes) = (Vec::new(), 0);
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let masked = redacted_line(redactor, &line).map_err(refused)?;
        writer.write_all(&masked).map_err(failed)?;
        bytes += masked.len() as u64;
    }
    writer.flush().map_err(failed)?;
    drop(writer);
    Ok(local.sent_as(file, bytes))
}

/// A line with its newline. One that is no text cannot be looked through, and is left out: its newline stays.
fn redacted_line<'a>(redactor: &dyn Redact, line: &'a [u8]) -> Result<Cow<'a, [u8]>, RedactError> {
    let (text, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
    let Ok(text) = str::from_utf8(text) else { return Ok(Cow::Borrowed(end)) };
    let mut items = scan_bytes(text.as_bytes());
    let masked = match (items.next(), items.next()) {
        (Some(Item::Record(record)), None) => redact::line(redactor, &record.event, text)?,
        _ => redactor.text(text)?,
    };
    Ok(match masked {
        Cow::Borrowed(_) => Cow::Borrowed(line),
        Cow::Owned(masked) => Cow::Owned([masked.as_bytes(), end].concat()),
    })
}

/// Masks the texts of metadata.
pub(super) fn meta(meta: &mut Meta, redactor: &dyn Redact, path: &Path) -> RemoteResult<()> {
    let refused = |source| StoreError::NotRedacted { event: 0, path: path.to_owned(), source };
    for text in [&mut meta.title, &mut meta.first_prompt, &mut meta.summary] {
        if let Cow::Owned(masked) = redactor.text(text).map_err(refused)? {
            *text = masked;
        }
    }
    Ok(())
}

/// A file that goes with its descriptor.
fn unnamed(dir: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(nix::libc::O_TMPFILE).open(dir)
}
