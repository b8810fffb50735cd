//! The documents that S3 answers with.

use super::http::Response;
use super::{Object, date};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many objects a page of a list has.
const PAGE: usize = 1_000;

/// A page of the objects of a bucket (`ListObjectsV2`).
pub(super) fn listing(objects: &BTreeMap<String, Object>, bucket: &str, query: &str) -> Response {
    let parameters: BTreeMap<String, String> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), percent_decoded(value)))
        .collect();
    let of = |name: &str| parameters.get(name).cloned().unwrap_or_default();
    let (prefix, after) = (of("prefix"), of("continuation-token").max(of("start-after")));
    let matching = objects.iter().filter_map(|(key, object)| {
        let key = key.strip_prefix(bucket)?.strip_prefix('/')?;
        (key.starts_with(&prefix) && key > after.as_str()).then_some((key, object))
    });
    // What stands below a directory is one entry of the page.
    let delimiter = parameters.get("delimiter");
    let directory = |key: &str| {
        let behind = key.strip_prefix(prefix.as_str())?;
        let (name, _) = behind.split_once(delimiter?)?;
        Some(format!("{prefix}{name}/"))
    };
    let (mut contents, mut directories) = (String::new(), String::new());
    let (mut last, mut more, mut entries) = (String::new(), false, 0);
    for (key, object) in matching {
        if last.ends_with('/') && key.starts_with(&last) || after.ends_with('/') && key.starts_with(&after) {
            continue;
        }
        if entries == PAGE {
            more = true;
            break;
        }
        entries += 1;
        if let Some(directory) = directory(key) {
            write!(directories, "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", escaped(&directory))
                .expect("writing to a string cannot fail");
            last = directory;
            continue;
        }
        key.clone_into(&mut last);
        write!(
            contents,
            "<Contents><Key>{}</Key><LastModified>{}</LastModified><ETag>{}</ETag><Size>{}</Size></Contents>",
            escaped(key),
            date::in_document(object.written),
            object.e_tag,
            object.bytes.len()
        )
        .expect("writing to a string cannot fail");
    }
    let next =
        if more { format!("<NextContinuationToken>{}</NextContinuationToken>", escaped(&last)) } else { String::new() };
    let text =
        format!("<ListBucketResult><IsTruncated>{more}</IsTruncated>{next}{contents}{directories}</ListBucketResult>");
    Response::of_xml(200, &text)
}

/// That these are gone.
pub(super) fn deleted(keys: &[String]) -> Response {
    let keys: String = keys.iter().map(|key| format!("<Deleted><Key>{}</Key></Deleted>", escaped(key))).collect();
    Response::of_xml(200, &format!("<DeleteResult>{keys}</DeleteResult>"))
}

pub(super) fn missing() -> Response {
    Response::of_xml(404, "<Error><Code>NoSuchKey</Code></Error>")
}

/// That it will not, with the key of who asked: real servers say it too.
pub(super) fn refused(status: u16) -> Response {
    Response::of_xml(status, "<Error><Code>Refused</Code><AWSAccessKeyId>the key of who asked</AWSAccessKeyId></Error>")
}

/// What stands in all elements of a name.
pub(super) fn elements(text: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = text.split(&open).skip(1).filter_map(|part| part.split(&close).next());
    parts.map(|part| part.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        match (first, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = behind;
            }
            (first, _) => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
