//! The formats that can be imported.

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImportFormat {
    /// Sessions of Claude Code, `~/.claude/projects/<project>/<id>.jsonl`.
    Claude,
    /// Rollouts of Codex, `~/.codex/sessions/<date>/rollout-*.jsonl`, of both generations.
    Codex,
    /// Chats as OpenAI's endpoint takes them, in the containers that programs put them in.
    OpenAi,
    /// Sessions of pi, `~/.pi/agent/sessions/<project>/*.jsonl`.
    Pi,
    /// Chats of Gemini CLI, `~/.gemini/tmp/<project>/chats/session-*.json`.
    Gemini,
    /// Folders of events of the OpenHands SDK.
    OpenHands,
}

impl ImportFormat {
    /// Every format.
    pub const ALL: [ImportFormat; 6] = [
        ImportFormat::Claude,
        ImportFormat::Codex,
        ImportFormat::OpenAi,
        ImportFormat::Pi,
        ImportFormat::Gemini,
        ImportFormat::OpenHands,
    ];

    /// Its name on the command line and in metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            ImportFormat::Claude => "claude",
            ImportFormat::Codex => "codex",
            ImportFormat::OpenAi => "openai",
            ImportFormat::Pi => "pi",
            ImportFormat::Gemini => "gemini",
            ImportFormat::OpenHands => "openhands",
        }
    }
}
