//! What the files are like.

use super::published::{dir, files};
use super::{Strictness, errors};
use serde_json::{Map, Value, json};
use std::fs;

/// What is said of files on the disk, where nothing has to be there.
const TOLERANT: [&str; 2] = ["history.line.json", "meta.json"];

/// Gives every schema below one, with the path to it.
fn each(path: &str, schema: &Value, look: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    look(path, members);
    for (name, member) in members {
        match (name.as_str(), member) {
            ("properties" | "$defs", Value::Object(schemas)) => {
                schemas.iter().for_each(|(name, schema)| each(&format!("{path}/{name}"), schema, look));
            }
            ("items" | "then" | "else" | "additionalProperties", schema) => each(path, schema, look),
            ("anyOf" | "allOf", Value::Array(schemas)) => schemas.iter().for_each(|schema| each(path, schema, look)),
            _ => {}
        }
    }
}

#[test]
fn every_file_is_a_schema_of_the_draft_that_it_names_and_says_what_it_is_about() {
    for (name, schema) in files() {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert!(jsonschema::meta::is_valid(schema), "{name}");
        assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}");
        if let Some(verb) = name.strip_suffix(".v1.json") {
            assert_eq!(schema["properties"]["schema"]["const"], format!("session/{verb}.v1"), "{name}");
        }
    }
}

#[test]
fn every_member_is_described_and_has_to_be_there() {
    let mut missing = Vec::new();
    for (file, schema) in files() {
        each(file, schema, &mut |path, members| {
            let Some(properties) = members.get("properties").and_then(Value::as_object) else { return };
            let is_known = |property: &Value| {
                property.is_boolean() || ["description", "$ref"].iter().any(|word| property.get(word).is_some())
            };
            let bare = properties.iter().filter(|(_, property)| !is_known(property));
            missing.extend(bare.map(|(name, _)| format!("{path}/{name}: not described")));
            // A schema that asks whether another one holds describes nothing.
            let is_optional = TOLERANT.contains(&file.as_str()) || (file == "meta.v1.json" && path == file);
            let required = members.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let is_left_out = |name: &&String| !is_optional && *name != "schema" && !required.contains(&json!(name));
            missing.extend(properties.keys().filter(is_left_out).map(|name| format!("{path}/{name}: not required")));
        });
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn a_document_may_have_more_members_and_not_fewer() {
    let whole =
        json!({"schema": "session/title.v1", "complete": true, "diagnostics": [], "session": "oaks", "title": null});
    let told = |strictness, value: &Value| errors("title.v1.json", strictness, value).len();
    assert_eq!((told(Strictness::Open, &whole), told(Strictness::Closed, &whole)), (0, 0));
    for member in ["schema", "complete", "diagnostics", "session", "title"] {
        let mut less = whole.clone();
        less.as_object_mut().expect("it is one").remove(member);
        assert!(told(Strictness::Open, &less) > 0, "without {member}");
    }
    let mut more = whole.clone();
    more["colour"] = json!("green");
    assert_eq!(told(Strictness::Open, &more), 0);
    assert!(told(Strictness::Closed, &more) > 0, "what this version prints is described");
    let mut other = whole;
    other["schema"] = json!("session/list.v1");
    assert!(told(Strictness::Open, &other) > 0);
    assert_eq!(errors("no-such.v1.json", Strictness::Open, &other), ["there is no docs/schemas/no-such.v1.json"]);
}

#[test]
fn the_page_names_every_file() {
    let page = fs::read_to_string(dir().join("README.md")).expect("it is there");
    for name in files().keys() {
        assert!(page.contains(&format!("[{name}]({name})")), "{name} is not in the list");
    }
}
