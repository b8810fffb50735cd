//! Histories that look like those of real agents.

use crate::text::{Flavour, text};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

/// How large the lines of a history are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As in real sessions: half of the lines below 450 bytes, one in ten above 2 KB, one in a hundred above 6 KB; about
    /// 1 KB on average.
    Real,
    /// Every message a few words, so that a line has about 170 bytes.
    Small,
}

/// The lines of an endless history, the same for the same seed: turns of a user, an assistant and its tools, with the
/// settings, notices and rollbacks between them.
#[derive(Debug)]
pub struct Histories {
    rng: SmallRng,
    shape: Shape,
    /// Seconds since the start of the history.
    seconds: u64,
    events: u64,
    /// The call that a tool is still to answer.
    open_call: Option<(String, &'static str)>,
}

impl Histories {
    /// A history of a shape.
    pub fn new(seed: u64, shape: Shape) -> Self {
        Histories { rng: SmallRng::seed_from_u64(seed), shape, seconds: 0, events: 0, open_call: None }
    }

    /// A whole history of at least `bytes` bytes, ended by a newline.
    pub fn of_bytes(seed: u64, shape: Shape, bytes: usize) -> Vec<u8> {
        let mut history = Vec::with_capacity(bytes + 64 * 1024);
        let mut lines = Histories::new(seed, shape);
        while history.len() < bytes {
            lines.push_line(&mut history);
        }
        history
    }

    /// Appends the next line, newline included.
    pub fn push_line(&mut self, history: &mut Vec<u8>) {
        let event = self.event();
        // The reference escapes these three, too; raw they can stand only inside strings.
        for byte in event.bytes() {
            match byte {
                b'<' => history.extend_from_slice(b"\\u003c"),
                b'>' => history.extend_from_slice(b"\\u003e"),
                b'&' => history.extend_from_slice(b"\\u0026"),
                byte => history.push(byte),
            }
        }
        history.push(b'\n');
    }

    /// An event, its members in the order in which they are written.
    fn event(&mut self) -> String {
        self.events += 1;
        self.seconds += self.rng.random_range(0..30);
        let ts = self.time();
        let event = |kind: &str, rest: &str| format!(r#"{{"ts":"{ts}","kind":"{kind}",{rest}}}"#);
        let settings =
            |tools: &str| event("settings", &format!(r#""model":"acorn-4","merge_thinking":false,"tools":{tools}"#));
        if self.events == 1 {
            return settings(r#"["shell","edit"]"#);
        }
        if let Some((id, tool)) = self.open_call.take() {
            let (content, ms) = (quoted(&self.text()), self.rng.random_range(1..20_000));
            let message = format!(r#"{{"role":"tool","content":{content},"name":"{tool}","tool_call_id":"{id}"}}"#);
            return event("tool_result", &format!(r#""message":{message},"tool":"{tool}","ms":{ms}"#));
        }
        match self.rng.random_range(0..100) {
            0 => event("rollback", &format!(r#""dropped":{}"#, self.rng.random_range(1..4))),
            1 => event("notice", r#""text":"the turn was interrupted""#),
            2 => settings(r#"["shell"]"#),
            n @ 3..30 => {
                let (role, content) = (if n < 15 { "user" } else { "assistant" }, quoted(&self.text()));
                event("message", &format!(r#""message":{{"role":"{role}","content":{content}}}"#))
            }
            _ => event("message", &format!(r#""message":{}"#, self.call())),
        }
    }

    fn call(&mut self) -> String {
        let mut message = r#"{"role":"assistant""#.to_owned();
        for (name, chance, len) in [("content", 2, 90), ("reasoning_content", 4, 400)] {
            if self.rng.random_ratio(1, chance) {
                let text = quoted(&text(&mut self.rng, Flavour::Prose, len));
                message += &format!(r#","{name}":{text}"#);
            }
        }
        let id = format!("call_{:016x}", self.rng.random::<u64>());
        let tool = if self.rng.random_ratio(1, 3) { "edit" } else { "shell" };
        let arguments = quoted(&format!(r#"{{"path":"src/rows/north.rs","text":{}}}"#, quoted(&self.text())));
        let function = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        message += &format!(r#","tool_calls":[{{"id":"{id}","type":"function","function":{function}}}]}}"#);
        self.open_call = Some((id, tool));
        message
    }

    fn text(&mut self) -> String {
        let len = match self.shape {
            Shape::Small => self.rng.random_range(5..60),
            Shape::Real => match self.rng.random_range(0..100) {
                0..62 => self.rng.random_range(5..120),
                62..90 => self.rng.random_range(120..1_200),
                90..99 => self.rng.random_range(1_200..6_000),
                _ => self.rng.random_range(6_000..40_000),
            },
        };
        let flavour = match self.rng.random_range(0..100) {
            0..3 => Flavour::Chinese,
            3..40 => Flavour::Prose,
            40..75 => Flavour::Code,
            _ => Flavour::Output,
        };
        text(&mut self.rng, flavour, len)
    }

    fn time(&mut self) -> String {
        let (days, seconds) = (self.seconds / 86_400, self.seconds % 86_400);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let (year, month, day) = (2020 + days / 336, 1 + days / 28 % 12, 1 + days % 28);
        let nanos: u32 = self.rng.random_range(1..1_000_000_000);
        let fraction = format!("{nanos:09}");
        let fraction = fraction.trim_end_matches('0');
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction}Z")
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text has a JSON form")
}

#[cfg(test)]
mod tests {
    use super::{Histories, Shape};
    use serde_json::Value;

    #[test]
    fn the_same_seed_gives_the_same_history() {
        let history = |seed| Histories::of_bytes(seed, Shape::Real, 100_000);
        assert_eq!(history(1), history(1));
        assert_ne!(history(1), history(2));
    }

    #[test]
    fn lines_are_json_and_have_the_sizes_of_real_ones() {
        let history = Histories::of_bytes(3, Shape::Real, 3_000_000);
        let mut sizes: Vec<usize> = Vec::new();
        for line in history.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let event: Value = serde_json::from_slice(line).expect("it is JSON");
            assert!(event["ts"].is_string() && event["kind"].is_string(), "{event}");
            sizes.push(line.len());
        }
        sizes.sort_unstable();
        let (median, mean) = (sizes[sizes.len() / 2], history.len() / sizes.len());
        assert!((300..600).contains(&median) && (800..1_500).contains(&mean), "median {median}, mean {mean}");
    }
}
