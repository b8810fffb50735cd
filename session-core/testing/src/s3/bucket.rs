//! The objects, and what a request does with them.

use super::http::{Request, Response};
use super::object::Object;
use super::{Shared, xml};

impl Shared {
    /// Does what a request asks for.
    pub(super) fn answer(&mut self, request: &Request) -> Response {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let path = xml::percent_decoded(path.trim_start_matches('/'));
        let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
        let object = format!("{bucket}/{key}");
        match (request.method.as_str(), key) {
            ("GET", "") => xml::listing(&self.objects, bucket, query),
            ("POST", "") => {
                let keys = xml::elements(&String::from_utf8_lossy(&request.body), "Key");
                for key in &keys {
                    self.objects.remove(&format!("{bucket}/{key}"));
                }
                xml::deleted(&keys)
            }
            ("GET" | "HEAD", _) => match self.objects.get(&object) {
                Some(object) => self.with_version(Response::of_object(object), &object.e_tag),
                None => xml::missing(),
            },
            ("PUT", _) => self.put(object, request),
            ("DELETE", _) => {
                self.objects.remove(&object);
                Response::new(204)
            }
            _ => Response::new(400),
        }
    }

    /// Checks the condition and writes, under one lock.
    fn put(&mut self, object: String, request: &Request) -> Response {
        let there = self.objects.get(&object).map(|object| object.e_tag.as_str());
        let fits = match (request.header("if-none-match"), request.header("if-match")) {
            _ if self.ignores_conditions => true,
            (Some(_), _) => there.is_none(),
            (None, Some(wanted)) => there == Some(wanted),
            (None, None) => true,
        };
        if !fits {
            return Response::new(412);
        }
        let written = Object::new(request.body.clone());
        let response = self.with_version(Response::new(200).with("ETag", &written.e_tag), &written.e_tag);
        self.objects.insert(object, written);
        response
    }
    fn with_version(&self, response: Response, e_tag: &str) -> Response {
        match self.tells_versions {
            true => response.with("x-amz-version-id", e_tag.trim_matches('"')),
            false => response,
        }
    }
}
