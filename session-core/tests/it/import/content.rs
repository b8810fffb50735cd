//! What a message says, in every form that a program gives it.

use super::{Outcome, read};

/// A user's content as OpenAI's endpoint takes it.
fn of(content: &str) -> Outcome {
    read(&format!("{{\"role\":\"user\",\"content\":{content}}}"))
}

/// The names of its files, and the paths and types of its pictures.
fn files(outcome: &Outcome) -> (Vec<&str>, Vec<String>) {
    let session = outcome.only();
    let pictures = session.events.iter().filter_map(|event| event.message.as_deref());
    let pictures = pictures.flat_map(|message| &message.images);
    let pictures = pictures.map(|image| format!("{} {} {}", image.path, image.media_type, image.size));
    (session.files.iter().map(|file| file.name.as_str()).collect(), pictures.collect())
}

#[test]
fn a_text_is_read_in_whichever_form_it_stands() {
    for (content, text) in [
        (r#""plant""#, "plant"),
        (r#"["plant","oaks"]"#, "plant\noaks"),
        (r#"{"type":"text","text":"plant"}"#, "plant"),
        (r#"[{"text":"plant"}]"#, "plant"),
        (r#"[{"type":"refusal","refusal":"never"}]"#, "never"),
        (r#"[{"type":"document","source":{"type":"text","data":"on oaks"}}]"#, "on oaks"),
        ("1.50", "1.50"),
        ("true", ""),
        ("null", ""),
    ] {
        let outcome = of(content);
        assert_eq!(outcome.lines(), [format!("user: {text}").trim_end()], "{content}");
        assert_eq!(outcome.all_losses(), [""; 0], "{content}");
    }
}

#[test]
fn a_picture_that_stands_elsewhere_leaves_its_address() {
    let shown = "[image: https://garden.example/oak.png]";
    for content in [
        r#"[{"type":"image_url","image_url":{"url":"https://garden.example/oak.png","detail":"low"}}]"#,
        r#"[{"type":"input_image","image_url":"https://garden.example/oak.png"}]"#,
        r#"[{"type":"image","source":{"type":"url","url":"https://garden.example/oak.png"}}]"#,
        r#"[{"type":"image","image_urls":["https://garden.example/oak.png"]}]"#,
    ] {
        let outcome = of(content);
        assert_eq!(outcome.lines(), [format!("user: {shown}")], "{content}");
        assert_eq!(files(&outcome), (vec![], vec![]), "{content}");
        assert_eq!(outcome.all_losses(), [""; 0], "{content}");
    }
    // One that the endpoint keeps has an id.
    assert_eq!(of(r#"[{"type":"input_image","file_id":"oak-1"}]"#).lines(), ["user: [image: oak-1]"]);
}

#[test]
fn bytes_become_a_file_named_after_them_and_only_a_picture_is_one_of_the_message() {
    let stem = "import-2cf24dba5fb0a30e";
    for (content, what, media_type, ending) in [
        (r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}"#, "image", "image/png", "png"),
        (r#"{"type":"input_image","image_url":"data:image/webp;base64,aGVsbG8"}"#, "image", "image/webp", "webp"),
        (r#"{"type":"image","image_urls":["data:image/gif;base64,aGVs\nbG8="]}"#, "image", "image/gif", "gif"),
        (r#"{"type":"image","mimeType":"image/jpeg","data":"aGVsbG8="}"#, "image", "image/jpeg", "jpg"),
        (r#"{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}}"#, "image", "image/png", "png"),
        (r#"{"inlineData":{"mimeType":"audio/wav","data":"aGVsbG8="}}"#, "audio", "audio/wav", "wav"),
        (r#"{"inlineData":{"mimeType":"video/mp4","data":"aGVsbG8="}}"#, "video", "video/mp4", "bin"),
        (r#"{"inlineData":{"mimeType":"application/pdf","data":"aGVsbG8="}}"#, "document", "application/pdf", "pdf"),
        (r#"{"type":"input_audio","input_audio":{"format":"mp3","data":"aGVsbG8="}}"#, "audio", "audio/mpeg", "mp3"),
        (r#"{"type":"input_audio","input_audio":{"format":"wav","data":"aGVsbG8="}}"#, "audio", "audio/wav", "wav"),
        (
            r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGVsbG8="}}"#,
            "document",
            "application/pdf",
            "pdf",
        ),
    ] {
        let outcome = of(&format!("[{content}]"));
        let note = format!("user: [{what}: {media_type}, 5 bytes, sha256:2cf24dba5fb0a30e…]");
        assert_eq!(outcome.lines(), [note], "{content}");
        let picture = format!("tmp/{stem}.{ending} {media_type} 5");
        let pictures = if what == "image" { vec![picture] } else { vec![] };
        assert_eq!(files(&outcome), (vec![format!("{stem}.{ending}").as_str()], pictures), "{content}");
        assert_eq!(outcome.only().files[0].bytes, b"hello", "{content}");
        assert_eq!((outcome.report.files, outcome.all_losses()), (1, vec![]), "{content}");
    }
}

#[test]
fn several_addresses_of_one_part_are_all_there() {
    let outcome = of(
        r#"[{"type":"image","image_urls":["https://garden.example/1.png","data:image/png;base64,aGVsbG8=","https://garden.example/3.png"]}]"#,
    );
    let note = "[image: image/png, 5 bytes, sha256:2cf24dba5fb0a30e…]";
    let expected =
        format!("user: [image: https://garden.example/1.png]\n{note}\n[image: https://garden.example/3.png]");
    assert_eq!(outcome.lines(), [expected]);
    assert_eq!(files(&outcome).0, ["import-2cf24dba5fb0a30e.png"]);
    assert_eq!(outcome.all_losses(), [""; 0]);
}

#[test]
fn a_part_that_cannot_be_shown_leaves_its_name_and_is_told() {
    for (content, text, losses, kept) in [
        (r#"[{"type":"seed","of":"oak"}]"#, "[seed]", "kept: 1 part seed @1", r#"{"type":"seed","of":"oak"}"#),
        (r#"[{"of":"oak"}]"#, "[without a type]", "kept: 1 part without a type @1", r#"{"of":"oak"}"#),
        ("[17]", "[without a type]", "kept: 1 part without a type @1", "17"),
        (
            r#"[{"type":"image","image_urls":[]}]"#,
            "[image]",
            "kept: 1 part image @1",
            r#"{"type":"image","image_urls":[]}"#,
        ),
        (r#"[{"type":"input_image","image_url":null}]"#, "[image]", "dropped: 1 image without an address @1", ""),
        (r#"[{"type":"image_url","image_url":{}}]"#, "[image]", "dropped: 1 image without an address @1", ""),
        (r#"[{"type":"image","image_urls":[7]}]"#, "[image]", "dropped: 1 image without an address @1", ""),
        (r#"[{"type":"encrypted_content","encrypted_content":"x"}]"#, "", "dropped: 1 part encrypted_content @1", ""),
        (
            r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,%%"}}]"#,
            "[image: image/png]",
            "dropped: 1 image that is not base64 @1",
            "",
        ),
    ] {
        let outcome = of(content);
        assert_eq!(outcome.lines(), [format!("user: {text}").trim_end()], "{content}");
        assert_eq!(outcome.all_losses(), [losses], "{content}");
        assert_eq!(String::from_utf8_lossy(&outcome.only().unknown).trim_end(), kept, "{content}");
    }
}
