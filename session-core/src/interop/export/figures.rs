//! What a conversation, or a turn of it, comes to in numbers.

use crate::{Event, Role, Timestamp, Usage};
use std::ops::AddAssign;

/// Numbers of a conversation or of a turn. `None` is unknown, which is not 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// When its first event happened.
    pub first: Option<Timestamp>,
    /// When its last event happened.
    pub last: Option<Timestamp>,
    /// Messages of every role.
    pub messages: u64,
    /// Messages of the user.
    pub prompts: u64,
    /// Messages of the assistant.
    pub replies: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Calls that failed, as far as their results say ([`crate::is_failure`]).
    pub failures: u64,
    /// Rollbacks, shown or not.
    pub rollbacks: u64,
    /// Messages that reached a turn while it ran.
    pub steered: u64,
    /// Snapshots of the workspace that were taken or restored.
    pub checkpoints: u64,
    /// How long the model took to answer, in milliseconds.
    pub model_ms: Option<u64>,
    /// How long tools took, in milliseconds.
    pub tools_ms: Option<u64>,
    /// How long it waited inside its turns for something else, such as a permission, in milliseconds.
    pub waiting_ms: Option<u64>,
    /// Tokens of requests, those from a cache included.
    pub input: Option<u64>,
    /// Tokens of requests that came from a cache.
    pub cached: Option<u64>,
    /// Tokens of responses, those of reasoning included.
    pub output: Option<u64>,
    /// The price in US dollars, as far as it is known.
    pub cost: Option<f64>,
}

impl Figures {
    /// The time that is accounted for, in milliseconds.
    pub fn worked_ms(&self) -> Option<u64> {
        sum(sum(self.model_ms, self.tools_ms), self.waiting_ms)
    }

    /// Tokens of requests and responses.
    pub fn tokens(&self) -> Option<u64> {
        sum(self.input, self.output)
    }

    pub(super) fn seen(&mut self, ts: Timestamp) {
        self.first = self.first.or(Some(ts));
        self.last = self.last.max(Some(ts));
    }

    pub(super) fn usage(&mut self, usage: &Usage) {
        self.input = sum(self.input, usage.input);
        self.cached = sum(self.cached, usage.cached);
        self.output = sum(self.output, usage.output);
        self.cost = either(self.cost, usage.cost, |a, b| a + b);
    }

    /// Accounts for the time from the message before to this one.
    pub(super) fn took(&mut self, event: &Event, role: &Role, gap_ms: u64) {
        let (model, tools, waiting) = match role {
            Role::Assistant => (gap_ms, 0, 0),
            Role::Tool => match u64::try_from(event.ms) {
                // A result that says how long its tool ran: what is more was spent before it was allowed to.
                Ok(ms @ 1..) => (0, ms.min(gap_ms), gap_ms.saturating_sub(ms)),
                _ => (0, gap_ms, 0),
            },
            Role::System | Role::User | Role::Missing | Role::Other(_) => (0, 0, gap_ms),
        };
        self.model_ms = sum(self.model_ms, Some(model));
        self.tools_ms = sum(self.tools_ms, Some(tools));
        self.waiting_ms = sum(self.waiting_ms, Some(waiting));
    }
}

impl AddAssign<&Figures> for Figures {
    fn add_assign(&mut self, other: &Figures) {
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
        self.messages += other.messages;
        self.prompts += other.prompts;
        self.replies += other.replies;
        self.calls += other.calls;
        self.failures += other.failures;
        self.rollbacks += other.rollbacks;
        self.steered += other.steered;
        self.checkpoints += other.checkpoints;
        self.model_ms = sum(self.model_ms, other.model_ms);
        self.tools_ms = sum(self.tools_ms, other.tools_ms);
        self.waiting_ms = sum(self.waiting_ms, other.waiting_ms);
        self.input = sum(self.input, other.input);
        self.cached = sum(self.cached, other.cached);
        self.output = sum(self.output, other.output);
        self.cost = either(self.cost, other.cost, |a, b| a + b);
    }
}

/// The sum of what is known.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    either(a, b, u64::saturating_add)
}

fn either<T>(a: Option<T>, b: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (one, None) | (None, one) => one,
    }
}
