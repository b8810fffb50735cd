//! The files under `docs/schemas`, and the validators that are made of them.
//!
//! There are two of each: as it is published, open to members that a later version adds, and closed, so that a member that
//! the program prints and no file describes is found.

use jsonschema::{Retrieve, Uri, Validator};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

/// What a document calls its form, without its name and version.
const DOCUMENT: &str = "session/";
/// Where the validators find the files: not the network.
const BASE: &str = "json-schema:///";
/// What is said of files on the disk, which others write too. It is never closed.
const TOLERANT: [&str; 2] = ["history.line.json", "meta.json"];

static OPEN: LazyLock<BTreeMap<String, Value>> = LazyLock::new(read);
static CLOSED: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| closed(&OPEN));
static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

/// Those that were made, by the file and what they allow.
type Validators = HashMap<(String, Strictness), Arc<Validator>>;

/// Whether members that no file describes are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Strictness {
    /// As it is published.
    Open,
    /// For what this version prints.
    Closed,
}

/// The directory of the files.
pub(super) fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

/// The files by their names, as they are published.
pub(crate) fn files() -> &'static BTreeMap<String, Value> {
    &OPEN
}

/// The file for a document that calls its form so.
pub(crate) fn file_of(schema: &str) -> Option<String> {
    schema.strip_prefix(DOCUMENT).map(|name| format!("{name}.json"))
}

/// What is wrong with a value, for people; nothing where it is as the file says.
pub(crate) fn errors(file: &str, strictness: Strictness, value: &Value) -> Vec<String> {
    let Some(validator) = validator(file, strictness) else {
        return vec![format!("there is no docs/schemas/{file}")];
    };
    let told = |error: jsonschema::ValidationError<'_>| format!("{file}: {}: {error}", error.instance_path());
    validator.iter_errors(value).map(told).collect()
}

fn validator(file: &str, strictness: Strictness) -> Option<Arc<Validator>> {
    let schema = files_for(strictness).get(file)?;
    let mut made = VALIDATORS.lock().expect("nobody panics while making one");
    let key = (file.to_owned(), strictness);
    let validator = made.entry(key).or_insert_with(|| {
        let options = jsonschema::options().with_retriever(Files(strictness)).with_base_uri(format!("{BASE}{file}"));
        let validator = options.should_validate_formats(true).build(schema);
        Arc::new(validator.unwrap_or_else(|error| panic!("{file}: {error}")))
    });
    Some(Arc::clone(validator))
}

fn files_for(strictness: Strictness) -> &'static BTreeMap<String, Value> {
    match strictness {
        Strictness::Open => &OPEN,
        Strictness::Closed => &CLOSED,
    }
}

/// Finds the files that another one refers to.
struct Files(Strictness);

impl Retrieve for Files {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let file = uri.as_str().strip_prefix(BASE).and_then(|name| files_for(self.0).get(name));
        file.cloned().ok_or_else(|| format!("no file for {uri}").into())
    }
}

fn read() -> BTreeMap<String, Value> {
    let entries = fs::read_dir(dir()).expect("the schemas are in the repository").map(|entry| entry.expect("readable"));
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it is text");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    named.filter(|(name, _)| name.ends_with(".json")).map(|(name, path)| (name, read(path))).collect()
}

/// The same files, in which every object has no other members than are described.
fn closed(files: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let mut parts = BTreeSet::new();
    files.values().for_each(|schema| parts_of_others(schema, &mut parts));
    let mut closed = files.clone();
    for (name, schema) in &mut closed {
        if !TOLERANT.contains(&name.as_str()) {
            close(schema, &parts);
        }
    }
    closed
}

/// The definitions that are a part of an object, which has more members than they describe.
fn parts_of_others(schema: &Value, parts: &mut BTreeSet<String>) {
    let own = |schema: &Map<String, Value>| Some(definition(schema.get("$ref")?.as_str()?));
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") || members.contains_key("required") {
                parts.extend(own(members));
            }
            let all = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
            parts.extend(all.filter_map(|one| own(one.as_object()?)));
            members.values().for_each(|member| parts_of_others(member, parts));
        }
        Value::Array(items) => items.iter().for_each(|item| parts_of_others(item, parts)),
        _ => {}
    }
}

/// The last part of a reference.
fn definition(reference: &str) -> String {
    reference.rsplit('/').next().unwrap_or(reference).to_owned()
}

fn close(schema: &mut Value, parts: &BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match (name.as_str(), member) {
                    ("$defs", Value::Object(definitions)) => {
                        for (name, definition) in definitions {
                            close(definition, parts);
                            if let (true, Value::Object(part)) = (parts.contains(name), definition) {
                                part.remove("unevaluatedProperties");
                            }
                        }
                    }
                    ("properties", Value::Object(properties)) => {
                        properties.values_mut().for_each(|property| close(property, parts));
                    }
                    (_, member) => close(member, parts),
                }
            }
            let is_object = members.get("properties").is_some_and(Value::is_object) && members.contains_key("required");
            if is_object || members.contains_key("allOf") {
                members.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, parts)),
        _ => {}
    }
}
