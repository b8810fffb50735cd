//! Pictures: those that came inside a message are shown where a browser draws them and nothing else; of all others it is
//! said that they are there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use serde_json::Value;
use session_core::{Content, Image, Message};

/// Kinds of pictures that are drawn and cannot run anything, with the bytes that each begins with.
const DRAWN: [(&str, &[u8]); 4] =
    [("image/png", b"\x89PNG\r\n"), ("image/jpeg", b"\xff\xd8\xff"), ("image/gif", b"GIF8"), ("image/webp", b"RIFF")];
/// A larger picture is not put on the page, in bytes of its address.
const LARGEST: usize = 8 << 20;

/// The pictures of a message.
pub(super) fn pictures(message: &Message) -> Markup {
    let parts = match &message.content {
        Content::Text(_) => Vec::new(),
        Content::Parts(parts) => serde_json::from_str::<Vec<Value>>(parts.as_json()).unwrap_or_default(),
    };
    html! {
        @for address in parts.iter().filter_map(address) { (picture(address)) }
        @for image in &message.images { p class="image" { (note(image)) } }
    }
}

/// The address of a picture in a part of a message, as endpoints write it.
fn address(part: &Value) -> Option<&str> {
    let image = part.get("image_url")?;
    image.as_str().or_else(|| image.get("url")?.as_str())
}

fn picture(address: &str) -> Markup {
    if is_drawn(address) {
        return html! { p class="image" { img src=(address) alt="A picture in the message" loading="lazy"; } };
    }
    let kind = address.split([';', ',']).next().unwrap_or_default();
    let kind = kind.strip_prefix("data:").unwrap_or(address);
    let kind: String = kind.chars().take(200).collect();
    html! { p class="image" { "[image, not shown: " (crate::output::escape::escaped(&kind, crate::output::escape::Layout::OneLine)) "]" } }
}

/// Whether an address holds a picture of a kind that is drawn, by what it says and by how it begins.
fn is_drawn(address: &str) -> bool {
    let data = DRAWN.iter().find_map(|(kind, magic)| {
        let data = address.strip_prefix("data:")?.strip_prefix(kind)?.strip_prefix(";base64,")?;
        Some((data, magic))
    });
    data.is_some_and(|(data, magic)| {
        data.len() <= LARGEST && STANDARD.decode(data).is_ok_and(|bytes| bytes.starts_with(magic))
    })
}

/// What stands for a picture whose bytes are in a file.
fn note(image: &Image) -> String {
    let mut parts = vec![image.media_type.clone()];
    if image.width > 0 && image.height > 0 {
        parts.push(format!("{} × {}", image.width, image.height));
    }
    parts.extend(u64::try_from(image.size).ok().filter(|size| *size > 0).map(crate::output::size::words));
    parts.push(image.path.clone());
    parts.retain(|part| !part.is_empty());
    let note = format!("[image: {}]", parts.join(", "));
    crate::output::escape::escaped(&note, crate::output::escape::Layout::OneLine).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e02_only_pictures_that_cannot_run_anything_are_put_on_the_page() {
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\n");
        assert!(is_drawn(&format!("data:image/png;base64,{png}")));
        for address in [
            format!("data:image/svg+xml;base64,{png}"),
            format!("data:image/jpeg;base64,{png}"),
            format!("data:image/png,{png}"),
            format!("data:image/png;base64,{png}\" onerror=\"x"),
            "https://example.org/oak.png".to_owned(),
            "javascript:alert(1)".to_owned(),
        ] {
            assert!(!is_drawn(&address), "{address}");
            assert!(!picture(&address).into_string().contains("<img"), "{address}");
        }
    }
}
