//! What every verb is given: the store, and where to print.

use crate::failure::Failure;
use crate::global::Global;
use crate::output::{Colour, Out};
use session_store::{Options, Store};

/// The directory under the user's cache directory that listing keeps its counts in.
const CACHE_DIR: &str = "session-store";

/// What every verb is given.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) out: Out,
}

impl Context {
    /// Opens the store that the flags name. Nothing is created by that.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let store = match &global.dir {
            Some(dir) => Store::open_at(dir),
            None => Store::open_default()?,
        };
        let store = match dirs::cache_dir() {
            Some(dir) => store.with_cache_dir(dir.join(CACHE_DIR)),
            None => store,
        };
        let out = Out::new(global.json, global.color, global.quiet, global.no_pager);
        if global.verbose {
            out.note(&format!("store: {}", store.base_dir().display()));
        }
        Ok(Context { store, out })
    }

    /// The store that a shell's completion asks about, which knows no flags; none where there is no home.
    pub(crate) fn for_completion() -> Option<Self> {
        let store = match std::env::var_os("KVIT_CODER_SESSIONS_DIR") {
            Some(dir) => Store::open_at(dir),
            None => Store::open_default().ok()?,
        };
        Some(Context { store, out: Out::new(false, Colour::Never, true, true) })
    }

    /// The store with other options.
    pub(crate) fn store_with(&self, options: Options) -> Store {
        self.store.clone().with_options(options)
    }
}
