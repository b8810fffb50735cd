//! Secrets that were found, without showing them.

use crate::output::{Diagnostic, Rows};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use session_core::SessionName;
use session_core::checkpoint::CheckpointRef;
use session_store::{SecretHit, SecretScan};

/// A secret, for machines.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    session: String,
    file: String,
    line: Option<u64>,
    offset: u64,
    rule: &'static str,
    description: &'static str,
    beginning: String,
    bytes: u64,
    by_itself: bool,
}

/// A file of a checkpoint that holds a secret.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct InCheckpoint {
    session: String,
    checkpoint: String,
    path: String,
}

/// What an earlier scrub or repair has kept.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Backup {
    session: String,
    path: String,
}

/// What was found in some sessions.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) findings: Vec<Finding>,
    pub(crate) checkpoints: Vec<InCheckpoint>,
    pub(crate) backups: Vec<Backup>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Findings {
    /// Adds what was found in a session.
    pub(crate) fn add(&mut self, session: &SessionName, scan: &SecretScan) {
        let session = session.as_str();
        self.findings.extend(scan.hits.iter().map(|hit| Finding::of(session, hit)));
        self.checkpoints.extend(scan.checkpoints.iter().map(|file| {
            let checkpoint = match file.checkpoint {
                CheckpointRef::Taken(n) => format!("turn-{n}"),
                CheckpointRef::Guard(n) => format!("safety-{n}"),
            };
            InCheckpoint { session: session.to_owned(), checkpoint, path: file.path.clone() }
        }));
        let backups = scan.backups.iter().map(|path| Backup { session: session.to_owned(), path: path.clone() });
        self.backups.extend(backups);
        self.diagnostics.extend(scan.unexamined.iter().map(|(what, why)| Diagnostic {
            code: "not-examined".to_owned(),
            session: Some(session.to_owned()),
            line: None,
            offset: None,
            text: format!("{what} was not looked through: {why}"),
        }));
        self.files += scan.files;
        self.bytes += scan.bytes;
    }

    /// A row for each, those in checkpoints last.
    pub(crate) fn rows(&self) -> Rows {
        let mut rows = Rows::new(&["SESSION", "FILE", "LINE", "OFFSET", "RULE", "SECRET"]);
        let styles = [(0, Style::new().bold()), (4, Style::new().fg_color(Some(AnsiColor::Red.into())))];
        for finding in &self.findings {
            let line = finding.line.map(|line| line.to_string()).unwrap_or_default();
            let fields = vec![
                finding.session.clone(),
                finding.file.clone(),
                line,
                finding.offset.to_string(),
                finding.rule.to_owned(),
                finding.shown(),
            ];
            rows.push_styled(fields, &styles);
        }
        for file in &self.checkpoints {
            let place = format!("checkpoints/{}:{}", file.checkpoint, file.path);
            let fields = vec![file.session.clone(), place, String::new(), String::new(), String::new(), String::new()];
            rows.push_styled(fields, &styles);
        }
        rows
    }

    /// What masking them would do, a line for each file and rule.
    pub(crate) fn plan(&self) -> Vec<String> {
        let mut lines: Vec<(String, usize)> = Vec::new();
        for finding in &self.findings {
            let line = format!("mask {}: {}, {}, {}", finding.session, finding.file, finding.rule, finding.shown());
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
        let told = |(line, count): (String, usize)| if count == 1 { line } else { format!("{line}, {count} times") };
        let mut lines: Vec<String> = lines.into_iter().map(told).collect();
        lines.extend(self.in_checkpoints());
        lines
    }

    /// What stays in checkpoints.
    pub(crate) fn in_checkpoints(&self) -> Vec<String> {
        let told = |file: &InCheckpoint| {
            format!("keep {}: checkpoint {} holds a secret in {}", file.session, file.checkpoint, file.path)
        };
        self.checkpoints.iter().map(told).collect()
    }
}

impl Backup {
    /// What there is to say about it to a person.
    pub(crate) fn told(&self) -> String {
        format!("note: {}: {} holds what was there before, and was not looked through", self.session, self.path)
    }
}

impl Finding {
    fn of(session: &str, hit: &SecretHit) -> Self {
        Finding {
            session: session.to_owned(),
            file: hit.file.clone(),
            line: hit.line,
            offset: hit.offset,
            rule: hit.rule,
            description: hit.description,
            beginning: hit.beginning.clone(),
            bytes: hit.bytes,
            by_itself: hit.by_itself,
        }
    }

    /// Its beginning and its length.
    fn shown(&self) -> String {
        format!("{}… ({} bytes)", self.beginning, self.bytes)
    }
}
