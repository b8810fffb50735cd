//! `session lineage`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows};
use crate::target;
use serde::Serialize;
use session_store::Relative;

/// The flags of `lineage`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The oldest parent comes first; each session says how it came from the one before it. Exit status 3 where a session \
of the chain does not exist, or links lead back to where they came from.\n\nExamples:\n  session lineage @\n  session lineage oaks --json"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    chain: Vec<Member<'a>>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    origin: &'static str,
    relation: &'static str,
    exists: bool,
    title: Option<&'a str>,
}

impl<'a> Member<'a> {
    fn of(relation: &'static str, relative: &'a Relative) -> Self {
        let Relative { name, origin, exists, title, .. } = relative;
        Member { name, origin: origin.as_str(), relation, exists: *exists, title: title.as_deref() }
    }
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let lineage = context.store.lineage(&name)?;
    let ancestors = lineage.ancestors.iter().map(|one| Member::of("ancestor", one));
    let own = [Member::of("self", &lineage.session)];
    let successors = lineage.successors.iter().map(|one| Member::of("successor", one));
    let chain: Vec<Member<'_>> = ancestors.chain(own).chain(successors).collect();
    let diagnostic = |code: &str, session: &str, text: String| Diagnostic {
        code: code.to_owned(),
        session: Some(session.to_owned()),
        line: None,
        offset: None,
        text,
    };
    let back =
        |link: &session_store::LinkLoop| diagnostic("link-loop", &link.from, format!("it leads back to {}", link.to));
    let mut diagnostics: Vec<_> = lineage.loops.iter().map(back).collect();
    let missing = chain.iter().filter(|member| !member.exists);
    diagnostics.extend(missing.map(|member| diagnostic("missing", member.name, "there is no such session".to_owned())));
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        let document = Document { session: name.as_str(), chain };
        context.out.document("lineage", diagnostics.is_empty(), &diagnostics, &document)?;
    } else {
        let mut rows = Rows::new(&["NAME", "ORIGIN", "RELATION", "TITLE"]);
        for member in &chain {
            let words = [member.name, member.origin, member.relation, member.title.unwrap_or_default()];
            rows.push(words.map(str::to_owned).to_vec());
        }
        context.out.rows(&rows)?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}
