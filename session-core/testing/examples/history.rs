//! Writes a made-up history to standard output: `cargo run -p session-testing --example history -- MEGABYTES [SEED]`.

use session_testing::{Histories, Shape};
use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>().unwrap_or(1));
    let (megabytes, seed) = (args.next().unwrap_or(1), args.next().unwrap_or(7));
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut lines = Histories::new(seed, Shape::Real);
    let (mut line, mut written) = (Vec::new(), 0);
    while written < megabytes << 20 {
        line.clear();
        lines.push_line(&mut line);
        written += line.len() as u64;
        out.write_all(&line)?;
    }
    out.flush()
}
