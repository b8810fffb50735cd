//! Chats as OpenAI's endpoint takes them, in every container.

use super::{line, read};
use session_core::interop::import::LossFate;

const ASKED: &str = r#"{"role":"user","content":"plant"}"#;
const ANSWERED: &str = r#"{"role":"assistant","content":"done"}"#;

#[test]
fn the_list_is_found_wherever_it_stands() {
    for file in [
        format!("[{ASKED},{ANSWERED}]"),
        format!("{ASKED}\n{ANSWERED}\n"),
        format!("{{\"messages\":[{ASKED},{ANSWERED}]}}"),
        format!("{{\"traj\":[{ASKED},{ANSWERED}],\"reward\":1}}"),
        format!("{{\"trajectory\":[{{\"action\":\"ls\"}}],\"history\":[{ASKED},{ANSWERED}]}}"),
        format!("{{\"conversation\":[{ASKED},{ANSWERED}]}}"),
        format!("{{\"input\":[{ASKED},{ANSWERED}]}}"),
        format!("{{\n  \"conversations\": [\n    [{ASKED},\n {ANSWERED}]]}}"),
        format!("{{\"messages\":[{ASKED}],\"response\":{{\"choices\":[{{\"message\":{ANSWERED}}}]}}}}"),
    ] {
        let outcome = read(&file);
        assert_eq!(outcome.lines(), ["user: plant", "assistant: done"], "{file}");
        assert!(outcome.report.is_complete(), "{file}");
    }
}

#[test]
fn many_conversations_in_one_file_are_many_sessions() {
    let one = format!("[{ASKED},{ANSWERED}]");
    let held = format!("{{\"messages\":{one}}}");
    for file in [
        format!("[{}]", vec![one.as_str(); 200].join(",")),
        format!("[{}]", vec![held.as_str(); 200].join(",\n")),
        format!("{one}\n").repeat(200),
        format!("{held}\n").repeat(200),
        format!("{{\"conversations\":[{}]}}", vec![one.as_str(); 200].join(",")),
        format!("{{\"history\":[{}]}}", vec![held.as_str(); 200].join(",")),
    ] {
        let outcome = read(&file);
        assert_eq!((outcome.sessions.len(), outcome.report.messages), (200, 400));
        let lines = |events: &[session_core::Event]| events.iter().map(line).collect::<Vec<_>>();
        assert!(outcome.sessions.iter().all(|session| lines(&session.events) == ["user: plant", "assistant: done"]));
    }
}

#[test]
fn every_form_of_a_call_and_of_its_result() {
    let file = [
        r#"{"role":"developer","content":[{"type":"text","text":"be"},{"type":"text","text":"brief"}]}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"dig","arguments":"{\"deep\": 1}"}},{"id":"c2","function":{"name":"dig","arguments":{"b":1,"a":2}}}],"reasoning_content":"hm"}"#,
        r#"{"role":"tool","tool_call_id":"c2","content":"two"}"#,
        r#"{"role":"tool","tool_call_ids":["c1"],"content":"one"}"#,
        r#"{"role":"assistant","content":"","function_call":{"name":"look","arguments":"{"},"thinking_blocks":[{"thinking":"wait"}]}"#,
        r#"{"role":"function","name":"look","content":"seen"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"dig","arguments":"{}"}}],"refusal":"no","agent":"main"}"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"again"}"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"too often"}"#,
    ];
    let outcome = read(&file.join("\n"));
    let expected = [
        "system: be\nbrief",
        r#"assistant: (thinks: hm) [c1 dig {"deep": 1}] [c2 dig {"b":1,"a":2}]"#,
        "tool: one <c1 dig>",
        "tool: two <c2 dig>",
        "assistant: (thinks: wait) [call-1 look {] odd_arguments=true",
        "tool: seen <call-1 look>",
        r#"assistant: no [c1#2 dig {}] call_ids={"c1#2":"c1"}"#,
        r#"tool: again <c1#2 dig> call_id="c1""#,
        "tool: too often <c1 > orphan=true",
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 agent of a message @7"]);
}

#[test]
fn a_logged_request_has_its_model_its_price_and_its_answer() {
    let file = format!(
        "{{\"messages\":[{ASKED}],\"response\":{{\"id\":\"r1\",\"model\":\"m1\",\"choices\":[{{\"message\":{ANSWERED}}}],\"usage\":\
         {{\"prompt_tokens\":7,\"completion_tokens\":2}}}},\"cost\":0.5,\"tools\":[]}}"
    );
    let outcome = read(&file);
    let expected = [
        "settings: m1",
        "user: plant",
        "assistant: done",
        r#"x.usage: cost=0.5 input=7 model="m1" output=2 response="r1""#,
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 tools beside the messages @1"]);
}

#[test]
fn what_no_endpoint_takes_is_not_guessed_at() {
    let foreign = [
        r#"{"role":"narrator","content":"once"}"#,
        r#"{"content":"who says this"}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}"#,
        "17",
    ];
    for record in foreign {
        let outcome = read(&format!("[{ASKED},{record}]"));
        assert!(outcome.report.has_unknown(), "{record}");
    }
}

#[test]
fn conversations_in_a_container_have_their_own_facts_and_the_rest_is_counted() {
    let held = |id: &str, asked: &str| {
        let facts = format!("\"id\":\"{id}\",\"title\":\"{asked}\",\"model\":\"m1\",\"seed\":7");
        format!("{{{facts},\"messages\":[{{\"role\":\"user\",\"content\":\"{asked}\"}}]}}")
    };
    let (oaks, birches) = (held("s1", "oaks"), held("s2", "birches"));
    let outcome =
        read(&format!("{{\"model\":\"m0\",\"conversations\":[{oaks},17,{birches},{{\"x\":1}}],\"tools\":[]}}"));
    let told: Vec<_> = outcome.sessions.iter().map(|session| (session.id.as_str(), session.title.as_str())).collect();
    assert_eq!(told, [("s1", "oaks"), ("s2", "birches")]);
    for (session, asked) in outcome.sessions.iter().zip(["oaks", "birches"]) {
        let lines: Vec<_> = session.events.iter().map(line).collect();
        assert_eq!(lines, ["settings: m1".to_owned(), format!("user: {asked}")]);
    }
    let losses = [
        "dropped: 2 seed beside the messages @1",
        "unknown: 2 element that is no conversation @1",
        "dropped: 1 model beside the conversations @1",
        "dropped: 1 tools beside the conversations @1",
    ];
    assert_eq!(outcome.all_losses(), losses);
}

#[test]
fn what_a_custom_tool_takes_is_a_text_and_wrapped_as_one() {
    for (call, told) in [
        (r#"{"id":"c1","type":"custom","custom":{"name":"dig","input":"*** here"}}"#, r#"dig {"input":"*** here"}"#),
        (
            r#"{"id":"c1","type":"custom","custom":{"name":"dig","input":"{\"deep\":1}"}}"#,
            r#"dig {"input":"{\"deep\":1}"}"#,
        ),
        (r#"{"id":"c1","name":"dig","arguments":{"deep":1}}"#, r#"dig {"deep":1}"#),
    ] {
        let outcome = read(&format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{call}]}}"));
        assert_eq!(outcome.lines(), [format!("assistant: [c1 {told}]")], "{call}");
        assert_eq!(outcome.all_losses(), [""; 0], "{call}");
    }
}
