//! Chats of Gemini CLI.

use super::read;
use session_core::interop::import::LossFate;

const GEMINI: &str = r#"{"id":"2","timestamp":"2026-01-02T03:04:06Z","type":"gemini","model":"g1","content":"digging","thoughts":[{"subject":"Soil","description":"is wet"}],"tokens":{"input":10,"output":2,"cached":3,"thoughts":4,"tool":1,"total":17},"toolCalls":[{"id":"c1","name":"dig","args":{"deep":1},"status":"success","timestamp":"2026-01-02T03:04:07Z","displayName":"Dig","result":[{"functionResponse":{"id":"c1","response":{"output":"dug"}}}]},{"id":"c2","name":"dig","args":{},"status":"cancelled","result":[{"functionResponse":{"response":{"error":"stopped"}}}]},{"id":"c3","name":"dig","args":{},"status":"executing"}]}"#;

#[test]
fn a_document_has_calls_and_results_in_one_record() {
    let file = format!(
        "{{\"sessionId\":\"s1\",\"projectHash\":\"h\",\"startTime\":\"2026-01-02T03:04:05Z\",\"summary\":\"Oaks\",\"messages\":[\n\
         {{\"id\":\"1\",\"type\":\"user\",\"content\":\"plant\"}},\n{GEMINI},\n\
         {{\"id\":\"3\",\"type\":\"info\",\"content\":\"update\"}},{{\"id\":\"4\",\"type\":\"error\",\"content\":\"no net\"}},\
         {{\"id\":\"5\",\"type\":\"dream\"}}]}}"
    );
    let outcome = read(&file);
    let expected = [
        "user: plant",
        "settings: g1",
        r#"assistant: digging (thinks: **Soil**
is wet) [c1 dig {"deep":1}] [c2 dig {}] [c3 dig {}]"#,
        "tool: dug <c1 dig>",
        "tool: stopped <c2 dig> error=true interrupted=true",
        r#"x.usage: cached=3 input=11 model="g1" output=6 reasoning=4 response="2""#,
        "notice: update",
        "notice: error: no net",
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.only().title, "Oaks");
    assert_eq!(outcome.losses(LossFate::Kept), ["1 record dream @1"]);
}

#[test]
fn lines_and_patches_give_what_they_say_at_last() {
    let file = concat!(
        "{\"sessionId\":\"s1\",\"projectHash\":\"h\",\"startTime\":\"2026-01-02T03:04:05Z\"}\n",
        "{\"id\":\"1\",\"type\":\"user\",\"content\":\"plnat\"}\n",
        "{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"what\"}\n",
        "{\"id\":\"1\",\"type\":\"user\",\"content\":\"plant\"}\n",
        "{\"$set\":{\"summary\":\"Oaks\",\"lastUpdated\":\"2026-01-02T03:04:09Z\"}}\n",
        "{\"$rewind\":1}\n",
    );
    let outcome = read(file);
    assert_eq!(outcome.lines(), ["user: plant", "assistant: what"]);
    assert_eq!(outcome.only().title, "Oaks");
    assert_eq!(outcome.losses(LossFate::Kept), ["1 patch @6"]);
    let all = "{\"$set\":{\"messages\":[{\"id\":\"9\",\"type\":\"user\",\"content\":\"new\"}]}}\n";
    assert_eq!(read(&format!("{file}{all}")).lines(), ["user: new"]);
}

#[test]
fn the_workspace_is_the_first_directory_that_was_told_last() {
    let header = |rest: &str| {
        format!("{{\"sessionId\":\"s1\",\"projectHash\":\"h\",\"startTime\":\"2026-01-02T03:04:05Z\"{rest}}}\n")
    };
    let asked = "{\"id\":\"1\",\"type\":\"user\",\"content\":\"plant\"}\n";
    let patch = "{\"$set\":{\"directories\":[\"/shed\"]}}\n";
    for (file, workspace) in [
        (format!("{}{asked}", header("")), ""),
        (format!("{}{asked}", header(r#","directories":[]"#)), ""),
        (format!("{}{asked}", header(r#","directories":["/garden","/shed"]"#)), "/garden"),
        (format!("{}{asked}{patch}", header(r#","directories":["/garden"]"#)), "/shed"),
    ] {
        let outcome = read(&file);
        assert_eq!((outcome.only().workspace.as_str(), outcome.lines()), (workspace, vec!["user: plant".into()]));
        assert_eq!(outcome.all_losses(), [""; 0], "{file}");
    }
}

#[test]
fn a_response_of_a_tool_is_its_output_its_error_or_all_of_it() {
    for (result, told) in [
        (r#"{"functionResponse":{"response":{"output":"dug"}}}"#, "dug <c1 dig>"),
        (r#"{"functionResponse":{"response":{"error":"a stone"}}}"#, "a stone <c1 dig> error=true"),
        (r#"{"functionResponse":{"response":{"depth":1.50,"soil":"wet"}}}"#, r#"{"depth":1.50,"soil":"wet"} <c1 dig>"#),
        (r#"{"functionResponse":{"response":{"output":{"depth":2}}}}"#, r#"{"output":{"depth":2}} <c1 dig>"#),
        (r#"{"text":"dug"}"#, "dug <c1 dig>"),
        (
            r#"{"functionResponse":{"response":{"output":"dug"}}},{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}}"#,
            "dug\n[image: image/png, 5 bytes, sha256:2cf24dba5fb0a30e…] <c1 dig>",
        ),
    ] {
        let outcome = read(&format!(
            "{{\"sessionId\":\"s1\",\"projectHash\":\"h\",\"startTime\":\"2026-01-02T03:04:05Z\",\"messages\":[{{\"id\":\"1\",\
             \"type\":\"gemini\",\"content\":\"\",\"toolCalls\":[{{\"id\":\"c1\",\"name\":\"dig\",\"args\":{{}},\"result\":[{result}]}}]}}]}}"
        ));
        assert_eq!(outcome.lines(), ["assistant: [c1 dig {}]", &format!("tool: {told}")], "{result}");
        assert_eq!(outcome.all_losses(), [""; 0], "{result}");
    }
}

#[test]
fn a_rewind_takes_back_the_record_that_it_names_and_all_behind_it() {
    let header = "{\"sessionId\":\"s1\",\"projectHash\":\"h\",\"startTime\":\"2026-01-02T03:04:05Z\"}\n";
    let says =
        |id: u32, kind: &str, text: &str| format!("{{\"id\":\"{id}\",\"type\":\"{kind}\",\"content\":\"{text}\"}}\n");
    let rewind = |id: &str| format!("{{\"$rewindTo\":\"{id}\"}}\n");
    let begun = [
        header.into(),
        says(1, "user", "plant"),
        says(2, "gemini", "what"),
        says(3, "user", "brches"),
        says(4, "gemini", "no"),
        says(3, "user", "birches"),
    ]
    .concat();
    let told = ["user: plant", "assistant: what", "user: birches", "assistant: no"];
    // An id that was taken back is free again.
    let outcome = read(&[begun.clone(), rewind("3"), says(3, "user", "oaks"), says(4, "info", "dry")].concat());
    assert_eq!(outcome.lines(), [&told[..], &["rollback: 2", "user: oaks", "notice: dry"]].concat());
    assert_eq!(outcome.all_losses(), [""; 0]);
    // Twice, the second time to before the first; and to where nothing was said.
    let twice = [begun.clone(), rewind("4"), says(5, "user", "oaks"), rewind("2"), says(6, "info", "dry")].concat();
    let expected = [&told[..], &["rollback: 1", "user: oaks", "rollback: 3", "notice: dry"]].concat();
    assert_eq!(read(&twice).lines(), expected);
    assert_eq!(read(&[twice, rewind("6")].concat()).lines(), expected);
    // Without the record, Gemini CLI goes on with an empty conversation.
    let outcome = read(&[begun, rewind("9"), says(5, "user", "oaks")].concat());
    assert_eq!(outcome.lines(), [&told[..], &["rollback: 4", "user: oaks"]].concat());
    assert_eq!(outcome.all_losses(), ["repaired: 1 rewind to a record that is not there: all is taken back @7"]);
}
