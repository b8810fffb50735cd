//! Structured reports: what a turn came to, as the model submits it through a tool call.
//!
//! A report is stored nowhere of its own. It is the arguments of a call of the tool [`TOOL_NAME`] in an assistant's
//! message, and is read back from there; see [`crate::last_report`].

mod read;
mod write;

/// The tool whose arguments are a report.
#[doc(alias = "ReportToolName")]
pub const TOOL_NAME: &str = "Report";

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How the task stands, such as `completed`.
    pub task_status: String,
    /// One sentence.
    pub headline: String,
    /// The parts. `None` where the model gave no list, which is written as null.
    pub blocks: Option<Vec<Block>>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// What kind of part: `check`, `finding`, `question`, `next`, …
    pub block_type: String,
    /// Its name inside the report.
    pub id: String,
    /// One sentence.
    pub summary: String,
    /// How it stands, such as `passed`.
    pub status: String,
    /// More, as text.
    pub details: String,
    /// Files that it is about.
    pub related_files: Vec<String>,
    /// The answers that a question offers.
    pub options: Vec<Choice>,
}

/// An answer that a question offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    /// Its name inside the question.
    pub id: String,
    /// What to show.
    pub label: String,
    /// What it means.
    pub description: String,
    /// What it would do, as text.
    pub preview: String,
    /// What choosing it causes.
    pub effect: String,
    /// What the model is told when it is chosen.
    pub instruction: String,
}

impl Report {
    /// Brings a report into its stored form: texts trimmed, old names of block types replaced by today's
    /// (`verification` → `check`, `decision` → `question`, `next_step` → `next`), and a code fence around the whole of
    /// a detail or preview taken off.
    #[doc(alias = "Normalize")]
    pub fn normalize(&mut self) {
        trim(&mut self.task_status);
        trim(&mut self.headline);
        for block in self.blocks.iter_mut().flatten() {
            for text in [&mut block.block_type, &mut block.id, &mut block.summary, &mut block.status] {
                trim(text);
            }
            block.details = unfenced(&block.details);
            block.related_files.iter_mut().for_each(trim);
            if let Some((_, today)) = RENAMED.iter().find(|(old, _)| *old == block.block_type) {
                (*today).clone_into(&mut block.block_type);
            }
            for choice in &mut block.options {
                let Choice { id, label, description, preview, effect, instruction } = choice;
                [id, label, description, effect, instruction].into_iter().for_each(trim);
                *preview = unfenced(preview);
            }
        }
    }
}

const RENAMED: [(&str, &str); 3] = [("verification", "check"), ("decision", "question"), ("next_step", "next")];

fn trim(text: &mut String) {
    let trimmed = text.trim();
    if trimmed.len() != text.len() {
        *text = trimmed.to_owned();
    }
}

/// The text trimmed, without a code fence if one surrounds the whole of it.
fn unfenced(text: &str) -> String {
    let text = text.trim();
    let inner = || {
        let (language, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let is_language = language.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_'));
        rest.strip_suffix("```").filter(|_| is_language)
    };
    inner().map_or(text, str::trim).to_owned()
}
