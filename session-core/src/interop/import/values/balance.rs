//! Where a value ends, without reading it.

/// Where brackets and strings open and close.
#[derive(Default)]
pub(super) struct Balance {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    pub(super) fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether nothing is open.
    pub(super) fn is_even(&self) -> bool {
        self.depth == 0 && !self.in_string
    }
}

/// Whether brackets or a string stay open at the end.
pub(super) fn ends_inside(bytes: &[u8]) -> bool {
    let mut balance = Balance::default();
    bytes.iter().for_each(|byte| balance.step(*byte));
    balance.depth > 0
}
