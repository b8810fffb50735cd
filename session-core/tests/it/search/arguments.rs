//! Searching what stands in the arguments of calls.

use super::{exact, found};
use session_core::search::TextKind;
use session_core::{Event, Message, ToolCall};

/// A history of one call with these arguments.
fn called(arguments: String) -> Vec<u8> {
    let call = ToolCall { name: "Dig".into(), arguments, ..ToolCall::default() };
    let message = Message { tool_calls: [call].into(), ..Message::assistant("") };
    let mut history = Vec::new();
    Event { message: Some(Box::new(message)), ..Event::default() }.encode(&mut history);
    history
}

#[test]
fn what_stands_in_the_arguments_of_a_call_is_a_text_and_not_json() {
    let history = called(r#"{"path":"a","text":"if \"wild\" {\n\tplant();\n}","\u006f":"\u0061corn"}"#.into());
    let args = |text: &str| vec![(1, TextKind::Args, text.to_owned())];
    assert_eq!(found(&history, exact("if \"wild\" {")), args("if \"wild\" {"));
    assert_eq!(found(&history, exact("{\n\tplant();")), args("if \"wild\" {\n\tplant();"));
    assert_eq!(found(&history, exact("acorn")), args("acorn"));
    assert_eq!(found(&history, exact("\"path\":"))[0].1, TextKind::Args);
}

#[test]
fn what_is_found_in_the_arguments_as_they_stand_is_one_hit_whatever_escapes_are_beside_it() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"Dig","arguments":"{\"a\":\"oak\",\"b\":\"\\u006fak\"}"}}]}"#;
    let history = format!("{{\"kind\":\"message\",\"message\":{call}}}\n");
    assert_eq!(found(history.as_bytes(), exact("oak")).len(), 1);
}

#[test]
fn every_string_in_the_arguments_of_a_call_is_a_text_however_deep_it_stands_up_to_a_bound() {
    let found = |arguments: String| found(&called(arguments), exact("acorn")).into_iter().map(|(.., text)| text);
    let one = |arguments: &str| found(arguments.to_owned()).collect::<Vec<_>>();
    for (arguments, wanted) in [
        (r#"["\u0061corn"]"#, &["acorn"][..]),
        (r#"{"beds":[["an oak",{"seeds":["\u0061corn\u0073"]}]]}"#, &["acorns"]),
        (r#"[1,-2.5,true,null,{},[],"\u0061corn"]"#, &["acorn"]),
        (r#"{"depth":12,"wet":false,"by":null,"seed":"\u0061corn"}"#, &["acorn"]),
        (r#"["\u0061corn one","\u0061corn two"]"#, &["acorn one"]),
        (r#"["\u0061corn","#, &["acorn"]),
        (r#"["\u0061corn" "\u0061corn two"]"#, &["acorn"]),
        (r#"[no,"\u0061corn"]"#, &[]),
        (r#"{"\u0061corn":1}"#, &[]),
    ] {
        assert_eq!(one(arguments), wanted, "{arguments}");
    }
    let nested = |depth: usize| format!("{}\"\\u0061corn\"{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(found(nested(64)).count(), 1);
    assert_eq!(found(nested(65)).count(), 0);
    assert_eq!(found(format!(r#"[{},"\u0061corn behind"]"#, nested(64))).collect::<Vec<_>>(), ["acorn behind"]);
    let objects = |depth: usize| format!("{}\"\\u0061corn\"{}", r#"{"in":"#.repeat(depth), "}".repeat(depth));
    assert_eq!((found(objects(64)).count(), found(objects(65)).count()), (1, 0));
}
