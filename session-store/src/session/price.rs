//! The session's price in its metadata, where the reference and lists look for it.

use crate::flock::Inode;
use crate::history::last_line;
use crate::part::Part;
use crate::{Result, SessionPaths, StoreError};
use session_core::{Limits, Responses, Spending};
use session_disk::open_regular;
use std::io::BufReader;

/// The usage that a history tells of, as far as it was read.
#[derive(Debug)]
pub(super) struct Priced {
    history: Inode,
    /// Where the first line begins that was not read.
    upto: u64,
    spending: Spending,
}

impl Priced {
    /// Reads what was appended since `known`, or all of it, and gives the price of all responses in US dollars; `None`
    /// where none is known. A last line without a newline is left for the next time.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub(super) fn update(known: &mut Option<Self>, paths: &SessionPaths, limits: Limits) -> Result<Option<f64>> {
        let path = paths.history();
        let (file, metadata) = open_regular(&path).map_err(StoreError::read(&path))?;
        let history = Inode::of(&metadata);
        let upto = last_line(&file, metadata.len()).map_err(StoreError::read(&path))?;
        let fits = |priced: &Priced| priced.history == history && priced.upto <= upto;
        let mut priced =
            known.take().filter(fits).unwrap_or_else(|| Priced { history, upto: 0, spending: Spending::default() });
        let rest = BufReader::new(Part { file: &file, at: priced.upto, upto });
        priced.spending.go_on(rest, limits).map_err(StoreError::read(&path))?;
        priced.upto = upto;
        let responses: Responses = priced.spending.responses().iter().sum();
        *known = Some(priced);
        Ok(responses.cost.sum())
    }
}
