//! Creating a session: built in staging, then renamed to its name, which must be free.

use crate::{Result, Store, staging, workspace};
use session_core::{Meta, SessionName, TitleSource, normalize_title};

/// What a session is created with. Everything may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewSession {
    /// Its name; one is generated where it is left out: the local date and six random letters or digits.
    pub name: Option<SessionName>,
    /// The directory that it works in.
    pub workspace: String,
    /// The model.
    pub model: String,
    /// The title that a person gave it. It is brought into the form of titles.
    pub title: String,
    /// The first prompt.
    pub prompt: String,
    /// The session that it was forked or compacted from.
    pub parent: Option<SessionName>,
}

/// Creates a session and gives its name.
pub(crate) fn create(store: &Store, new: &NewSession) -> Result<SessionName> {
    staging::build(store, new.name.as_ref(), |staged| {
        let mut meta = meta_of(store, staged.name(), new);
        let path = staged.paths().meta();
        store.redaction().text(&mut meta.title, &path)?;
        store.redaction().text(&mut meta.first_prompt, &path)?;
        staged.put_meta(&meta)
    })
}

fn meta_of(store: &Store, name: &SessionName, new: &NewSession) -> Meta {
    let now = Some(store.clock().utc());
    let mut meta = Meta {
        name: name.to_string(),
        created: now,
        updated: now,
        workspace: new.workspace.clone(),
        model: new.model.clone(),
        first_prompt: new.prompt.clone(),
        parent: new.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
        ..Meta::default()
    };
    let title = normalize_title(&new.title);
    if !title.is_empty() {
        crate::meta::fill_title(&mut meta, &title, TitleSource::User);
    }
    workspace::identify(&mut meta, "");
    meta
}
