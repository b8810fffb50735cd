//! What a message says, in all the forms that programs give it: a string, or a list of typed parts.

use super::draft::Draft;
use super::imported::ImportedFile;
use super::out::Out;
use super::value::Json;
use crate::{Image, Message, Role};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest as _, Sha256};

/// With or without padding, as programs write it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A text, and the pictures that stand in it.
#[derive(Default)]
pub(super) struct Said {
    texts: Vec<String>,
    images: Vec<Image>,
}

/// A part of a message's content, as far as all formats agree on it.
enum Part<'a> {
    Text(&'a str),
    /// Bytes in base64, or where they are.
    Inline {
        what: &'static str,
        media_type: &'a str,
        data: &'a str,
    },
    Elsewhere {
        what: &'static str,
        url: &'a str,
    },
    /// Pictures that are elsewhere.
    Pictures(&'a [Json]),
    /// Left out on purpose.
    Nothing,
    Unknown,
}

impl Said {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Said { texts: vec![text.into()], images: Vec::new() }
    }

    /// Reads a content. Parts of a type that is not known leave a note, are kept, and are counted.
    pub(super) fn read(content: &Json, draft: &mut Draft, out: &mut Out) -> Self {
        let mut said = Said::default();
        match content {
            Json::Text(text) => said.push_text(text),
            Json::List(parts) => parts.iter().for_each(|part| said.push(part, draft, out)),
            Json::Object(_) => said.push(content, draft, out),
            Json::Null | Json::Bool(_) => {}
            Json::Raw(number) => said.push_text(number),
        }
        said
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.texts.push(text.to_owned());
    }

    /// Reads one part.
    pub(super) fn push(&mut self, part: &Json, draft: &mut Draft, out: &mut Out) {
        match kind_of(part) {
            Part::Text(text) => self.push_text(text),
            Part::Inline { what, media_type, data } => self.push_file(what, media_type, data, draft, out),
            Part::Elsewhere { what, url } => self.push_address(what, url, draft, out),
            Part::Pictures(urls) => urls.iter().for_each(|url| self.push_address("image", url.text(), draft, out)),
            Part::Nothing => out.drop_one(&format!("part {}", part.get("type").text())),
            Part::Unknown => {
                let name = part.get("type").as_text().unwrap_or("without a type");
                self.texts.push(format!("[{name}]"));
                out.keep(draft, &format!("part {name}"), part);
            }
        }
    }

    /// Leaves a note of where a file is; an address that has all of it in it is one.
    fn push_address(&mut self, what: &str, url: &str, draft: &mut Draft, out: &mut Out) {
        match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            Some((media_type, data)) => self.push_file(what, media_type, data, draft, out),
            None if url.is_empty() => {
                out.drop_one(&format!("{what} without an address"));
                self.texts.push(format!("[{what}]"));
            }
            None => self.texts.push(format!("[{what}: {url}]")),
        }
    }

    /// Keeps a file, and leaves a note of it.
    fn push_file(&mut self, what: &str, media_type: &str, data: &str, draft: &mut Draft, out: &mut Out) {
        let letters: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let Ok(bytes) = BASE64.decode(letters) else {
            out.drop_one(&format!("{what} that is not base64"));
            self.texts.push(format!("[{what}: {media_type}]"));
            return;
        };
        let digest: String = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let size = bytes.len();
        self.texts.push(format!("[{what}: {media_type}, {size} bytes, sha256:{digest}…]"));
        let name = format!("import-{digest}.{}", suffix(media_type));
        if what == "image" {
            let (path, size) = (format!("{}/{name}", crate::layout::TMP), i64::try_from(size).unwrap_or(i64::MAX));
            self.images.push(Image { path, media_type: media_type.to_owned(), size, ..Image::default() });
        }
        if draft.session.files.iter().all(|file| file.name != name) {
            draft.session.files.push(ImportedFile { name, bytes });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.iter().all(String::is_empty) && self.images.is_empty()
    }

    /// The text, its parts joined.
    pub(super) fn joined(&self, with: &str) -> String {
        self.texts.join(with)
    }

    /// A message of it, its parts on lines of their own.
    pub(super) fn message(self, role: Role) -> Message {
        Message { images: self.images.into(), ..Message::new(role, self.texts.join("\n")) }
    }

    /// Adds it to what a message says already, a blank line between.
    pub(super) fn join(self, message: &mut Message) {
        let text = self.texts.join("\n\n");
        join_texts(&mut message.content, &text);
        message.images.extend(self.images);
    }
}

fn join_texts(content: &mut crate::Content, text: &str) {
    let before = content.text().into_owned();
    *content = join(&before, text, "\n\n").into();
}

/// Two texts, and what stands between them if both say something.
pub(super) fn join(before: &str, text: &str, between: &str) -> String {
    let between = if before.is_empty() || text.is_empty() { "" } else { between };
    format!("{before}{between}{text}")
}

fn kind_of(part: &Json) -> Part<'_> {
    if let Some(text) = part.as_text() {
        return Part::Text(text);
    }
    let file = |what, media_type: &'static str, data| Part::Inline { what, media_type, data };
    match part.get("type").text() {
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" | "inputText" => {
            Part::Text(part.get("text").text())
        }
        "refusal" => Part::Text(part.get("refusal").text()),
        "image" | "document" => {
            let what = if part.get("type").text() == "image" { "image" } else { "document" };
            let source = part.get("source");
            match (source.get("type").text(), part.get("data")) {
                (_, Json::Text(data)) => Part::Inline { what, media_type: part.get("mimeType").text(), data },
                ("text", _) => Part::Text(source.get("data").text()),
                ("base64", _) => {
                    Part::Inline { what, media_type: source.get("media_type").text(), data: source.get("data").text() }
                }
                ("url", _) => Part::Elsewhere { what, url: source.get("url").text() },
                _ => match part.get("image_urls").list() {
                    [] => Part::Unknown,
                    urls => Part::Pictures(urls),
                },
            }
        }
        "image_url" | "input_image" => {
            let urls = [part.get("image_url"), part.at(&["image_url", "url"]), part.get("file_id")];
            Part::Elsewhere { what: "image", url: urls.into_iter().find_map(Json::as_text).unwrap_or_default() }
        }
        "input_audio" => match part.at(&["input_audio", "format"]).text() {
            "mp3" => file("audio", "audio/mpeg", part.at(&["input_audio", "data"]).text()),
            _ => file("audio", "audio/wav", part.at(&["input_audio", "data"]).text()),
        },
        "encrypted_content" => Part::Nothing,
        "" => match (part.get("text"), part.get("inlineData")) {
            (Json::Text(text), _) => Part::Text(text),
            (_, inline @ Json::Object(_)) => {
                let (media_type, data) = (inline.get("mimeType").text(), inline.get("data").text());
                Part::Inline { what: what_is(media_type), media_type, data }
            }
            _ => Part::Unknown,
        },
        _ => Part::Unknown,
    }
}

/// What a file of a type is called where nothing else says it.
fn what_is(media_type: &str) -> &'static str {
    let kinds = ["image", "audio", "video"];
    let kind = media_type.split_once('/').and_then(|(kind, _)| kinds.into_iter().find(|known| *known == kind));
    kind.unwrap_or("document")
}

/// How the name of a file of a type ends. What a browser would run is not among these.
fn suffix(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "application/pdf" => "pdf",
        "audio/wav" => "wav",
        "audio/mpeg" => "mp3",
        _ => "bin",
    }
}
