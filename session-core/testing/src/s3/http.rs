//! As much of HTTP/1.1 as a client of an object store speaks.

use super::{Object, date};
use std::io::{self, BufRead, Read as _, Write as _};
use std::net::TcpStream;

/// A request, read to its end.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) received_bytes: u64,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// The next request of a connection; `None` where the client has closed it.
    pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut received_bytes = line.len() as u64;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            received_bytes += line.len() as u64;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request { method, target, headers, body: Vec::new(), received_bytes };
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        reader.take(length).read_to_end(&mut request.body)?;
        if request.body.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        request.received_bytes += length;
        Ok(Some(request))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }
}

impl Response {
    pub(super) fn new(status: u16) -> Self {
        Response { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(super) fn of_object(object: &Object) -> Self {
        let written = date::in_header(object.written);
        let response = Response::new(200).with("ETag", &object.e_tag).with("Last-Modified", &written);
        Response { body: object.bytes.clone(), ..response }
    }

    pub(super) fn of_xml(status: u16, text: &str) -> Self {
        let response = Response::new(status).with("Content-Type", "application/xml");
        Response { body: text.as_bytes().to_vec(), ..response }
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes it; a `HEAD` is answered without the body.
    pub(super) fn write(&self, mut stream: &TcpStream, is_head: bool) -> io::Result<()> {
        let mut bytes = format!("HTTP/1.1 {} Status\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if self.status != 204 {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        if !is_head {
            bytes.extend_from_slice(&self.body);
        }
        stream.write_all(&bytes)
    }
}
