//! What every verb is given: the store, and where to print.

use crate::failure::Failure;
use crate::global::Global;
use crate::output::{Colour, Out};
use session_store::{Options, Store};
use std::ffi::OsString;
use std::path::{self, Path};

/// The directory under the user's cache directory that listing keeps its counts in.
const CACHE_DIR: &str = "session-store";

/// The variable that names the directory of all sessions, where no flag does.
const STORE_VAR: &str = "KVIT_CODER_SESSIONS_DIR";

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
            Some(dir) => at(dir)?,
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
        let store = match std::env::var_os(STORE_VAR) {
            Some(dir) => at(Path::new(&dir)).ok()?,
            None => Store::open_default().ok()?,
        };
        Some(Context { store, out: Out::new(false, Colour::Never, true, true) })
    }

    /// What a command must have in its environment to find the same store, wherever it goes.
    pub(crate) fn store_variable(&self) -> (&'static str, OsString) {
        (STORE_VAR, self.store.base_dir().as_os_str().to_owned())
    }

    /// The store with other options.
    pub(crate) fn store_with(&self, options: Options) -> Store {
        self.store.clone().with_options(options)
    }
}

/// The store at a directory. Its path is absolute, so that whatever is made of it, and handed on to a command or to a
/// model, leads there from every other directory too.
fn at(dir: &Path) -> Result<Store, Failure> {
    let dir = path::absolute(dir).map_err(|error| Failure::input("the current directory", &error))?;
    Ok(Store::open_at(dir))
}
