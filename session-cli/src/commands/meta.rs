//! `session meta`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, when};
use crate::target;
use serde_json::{Map, Value, json};
use session_core::{Meta, SessionName};
use session_store::Options;

/// The flags of `meta`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  session meta @\n  session meta @ model\n  session meta @ model=m1:high workspace=/srv/garden"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Fields to print, or fields to set with =VALUE
    #[arg(value_name = "KEY[=VALUE]")]
    fields: Vec<String>,
}

/// The fields, in the order in which they are printed.
const FIELDS: [&str; 11] = [
    "name",
    "created",
    "updated",
    "workspace",
    "model",
    "first_prompt",
    "title",
    "cost",
    "summary",
    "parent",
    "succeeded_by",
];

/// The fields that can be set. The others follow from what happens to the session.
const SETTABLE: [&str; 6] = ["workspace", "model", "first_prompt", "title", "summary", "cost"];

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let (set, asked): (Vec<_>, Vec<_>) = flags.fields.iter().partition(|field| field.contains('='));
    if let Some(key) = asked.iter().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(unknown(key));
    }
    let mut changed = None;
    if !set.is_empty() {
        let changes = set.iter().map(|field| change(field)).collect::<Result<Vec<_>, _>>()?;
        let session = opened(context, &flags.session, Options::default())?;
        let apply = |meta: &mut Meta| changes.iter().for_each(|(key, value)| apply(meta, key, value));
        match changes.iter().rev().find(|(key, _)| *key == "title") {
            Some((_, title)) => session.update_meta_and_title(title, apply)?,
            None => session.update_meta(apply)?,
        };
        changed = Some(SessionName::new(session.name())?);
    }
    if !set.is_empty() && asked.is_empty() && !context.out.is_json() {
        return Ok(Exit::Done);
    }
    let name = changed.map_or_else(|| target::resolve(context, &flags.session), Ok)?;
    let fields = fields(&context.store.read_meta(&name)?.meta);
    let wanted = |key: &str| asked.is_empty() || asked.iter().any(|asked| *asked == key);
    let fields: Vec<_> = fields.into_iter().filter(|(key, _)| wanted(key)).collect();
    let document: Map<String, Value> =
        [("session".to_owned(), json!(name.as_str()))].into_iter().chain(fields.clone()).collect();
    context.out.answer("meta", &document, |out| {
        let plain = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned)
        };
        if let ([(_, value)], false) = (&fields[..], asked.is_empty()) {
            return out.line(&plain(value));
        }
        let mut rows = Rows::new(&["FIELD", "VALUE"]);
        fields.iter().for_each(|(key, value)| rows.push(vec![key.clone(), plain(value)]));
        out.rows(&rows)
    })
}

fn unknown(key: &str) -> Failure {
    Failure::new(Exit::Usage, format!("there is no field {key:?}"))
        .hint(format!("the fields are {}", FIELDS.join(", ")))
}

/// A field and the value that it is to have.
fn change(field: &str) -> Result<(&str, &str), Failure> {
    let (key, value) = field.split_once('=').ok_or_else(|| unknown(field))?;
    if !SETTABLE.contains(&key) {
        return Err(Failure::new(Exit::Usage, format!("{key:?} cannot be set"))
            .hint(format!("these can: {}", SETTABLE.join(", "))));
    }
    if key == "cost" && !value.parse::<f64>().is_ok_and(f64::is_finite) {
        return Err(Failure::new(Exit::Usage, format!("{value:?} is no cost in dollars")));
    }
    Ok((key, value))
}

fn apply(meta: &mut Meta, key: &str, value: &str) {
    match key {
        "workspace" => value.clone_into(&mut meta.workspace),
        "model" => value.clone_into(&mut meta.model),
        "first_prompt" => value.clone_into(&mut meta.first_prompt),
        "summary" => value.clone_into(&mut meta.summary),
        // A title is an event too, which is not written here.
        "title" => {}
        // `change` let only numbers through.
        _ => meta.cost = value.parse().unwrap_or(meta.cost),
    }
}

/// Every field; what is not known is null.
fn fields(meta: &Meta) -> Vec<(String, Value)> {
    let text = |text: &String| if text.is_empty() { Value::Null } else { json!(text) };
    let time = |ts: &Option<session_core::Timestamp>| ts.as_ref().map_or(Value::Null, |ts| json!(when::machine(ts)));
    let cost = if meta.cost == 0.0 { Value::Null } else { json!(meta.cost) };
    let values = [
        text(&meta.name),
        time(&meta.created),
        time(&meta.updated),
        text(&meta.workspace),
        text(&meta.model),
        text(&meta.first_prompt),
        text(&meta.title),
        cost,
        text(&meta.summary),
        text(&meta.parent),
        text(&meta.succeeded_by),
    ];
    FIELDS.map(str::to_owned).into_iter().zip(values).collect()
}
