//! Reports, from the arguments of their calls and as they are printed.

use session_core::report::{Block, Choice, Report};

/// The report as it is printed, with one block of these members.
fn printed(block: &str) -> Option<String> {
    let report = Report::from_arguments(&format!(r#"{{"headline":"planted","blocks":[{{{block}}}]}}"#))?;
    let text = String::from_utf8(report.to_json()).expect("JSON is text");
    let inner =
        text.strip_prefix(r#"{"task_status":"","headline":"planted","blocks":[{"type":"","id":"","summary":"""#);
    Some(inner.and_then(|text| text.strip_suffix("}]}")).unwrap_or_else(|| panic!("{text}")).to_owned())
}

#[test]
fn the_files_of_a_block_are_a_list_of_texts_or_the_arguments_are_no_report() {
    for (files, wanted) in [
        (
            r#""related_files":["beds/oak.md"," beds/birch.md\n"]"#,
            Some(r#","related_files":["beds/oak.md","beds/birch.md"]"#),
        ),
        (r#""Related_Files":["a \u003c b"]"#, Some(r#","related_files":["a \u003c b"]"#)),
        (r#""related_files":[null,"beds/oak.md"]"#, Some(r#","related_files":["","beds/oak.md"]"#)),
        (r#""related_files":["a","b","c"],"related_files":["d",null]"#, Some(r#","related_files":["d","b"]"#)),
        (r#""related_files":["a"],"related_files":null"#, Some("")),
        (r#""related_files":[]"#, Some("")),
        (r#""related_files":null"#, Some("")),
        (r#""related_files":["beds/oak.md",5]"#, None),
        (r#""related_files":[["beds/oak.md"]]"#, None),
        (r#""related_files":[{"path":"beds/oak.md"}]"#, None),
        (r#""related_files":[true]"#, None),
        (r#""related_files":"beds/oak.md""#, None),
    ] {
        assert_eq!(printed(files).as_deref(), wanted, "{files}");
    }
}

#[test]
fn a_report_is_printed_with_everything_that_it_says_and_reads_back() {
    let text = |text: &str| text.to_owned();
    let choice = Choice {
        id: text("deep"),
        label: text("Dig deeper"),
        description: text("two spits"),
        preview: text("dig --deep"),
        effect: text("takes a day"),
        instruction: text("dig two spits deep"),
    };
    let plain = Choice { id: text("stop"), label: text("Stop"), ..Choice::default() };
    let question = Block {
        block_type: text("question"),
        id: text("q1"),
        summary: text("how deep?"),
        status: text("open"),
        details: text("there are stones"),
        related_files: vec![text("beds/north.md"), text("beds/south.md")],
        options: vec![choice, plain],
    };
    let bare = Block { block_type: text("check"), ..Block::default() };
    let report = Report { task_status: text("blocked"), headline: text("stones"), blocks: Some(vec![question, bare]) };
    let printed = String::from_utf8(report.to_json()).expect("JSON is text");
    let wanted = concat!(
        r#"{"task_status":"blocked","headline":"stones","blocks":[{"type":"question","id":"q1","summary":"how deep?","#,
        r#""status":"open","details":"there are stones","related_files":["beds/north.md","beds/south.md"],"#,
        r#""options":[{"id":"deep","label":"Dig deeper","description":"two spits","preview":"dig --deep","#,
        r#""effect":"takes a day","instruction":"dig two spits deep"},{"id":"stop","label":"Stop"}]},"#,
        r#"{"type":"check","id":"","summary":""}]}"#,
    );
    assert_eq!(printed, wanted);
    assert_eq!(Report::from_arguments(&printed), Some(report));
}

#[test]
fn arguments_without_a_headline_or_a_block_are_no_report() {
    let headline = |text: &str| Report { headline: text.into(), ..Report::default() };
    let empty = || Report { blocks: Some(vec![Block::default()]), ..Report::default() };
    for (arguments, wanted) in [
        (r#"{"headline":"planted"}"#, Some(headline("planted"))),
        (r#"{"headline":"planted","blocks":null,"mood":["calm"]}"#, Some(headline("planted"))),
        (r#"{"headline":"planted","blocks":[{}],"blocks":null}"#, Some(headline("planted"))),
        (r#"{"blocks":[{}]}"#, Some(empty())),
        (r#"{"blocks":[null]}"#, Some(empty())),
        (r#"{"blocks":[]}"#, None),
        (r#"{"task_status":"completed"}"#, None),
        (r#"{"headline":""}"#, None),
        (r#"{"headline":5}"#, None),
        (r#"{"headline":"planted","blocks":{}}"#, None),
        (r#"{"headline":"planted","blocks":["a"]}"#, None),
        (r#"{"headline":"planted","blocks":[{"options":[5]}]}"#, None),
        (r#"{"headline":"planted"} and more"#, None),
        (r#"{"headline":"plan"#, None),
        (r#"["planted"]"#, None),
        ("null", None),
        ("", None),
    ] {
        assert_eq!(Report::from_arguments(arguments), wanted, "{arguments}");
    }
}
