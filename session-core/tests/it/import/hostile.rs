//! No input makes an importer panic, and whatever it gives can be written and read again.

#[path = "check.rs"]
pub(crate) mod check;

use proptest::prelude::*;

/// One line of each shape that an importer looks into.
const SEEDS: [&str; 12] = [
    r#"{"type":"assistant","uuid":"a","sessionId":"s","isSidechain":false,"timestamp":"2026-01-02T03:04:05Z","message":{"id":"r","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"n","input":{}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}],"usage":{"input_tokens":1}}}"#,
    r#"{"type":"user","uuid":"b","parentUuid":"a","sessionId":"s","isSidechain":false,"message":{"role":"user","content":"x"}}"#,
    r#"{"type":"user","uuid":"c","parentUuid":"a","sessionId":"s","isSidechain":false,"message":{"role":"user","content":"y"}}"#,
    r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}"#,
    r#"{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":1e300}}"}}"#,
    r#"{"timestamp":"t","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":18446744073709551615}}"#,
    r#"{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/w"}"#,
    r#"{"type":"message","id":"b","parentId":"b","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"x"}]}}"#,
    r#"{"sessionId":"a","projectHash":"b","startTime":"t","messages":[{"id":"1","type":"gemini","content":"x","toolCalls":[{"id":"c","args":{},"result":[{}]}],"tokens":{"input":18446744073709551615,"tool":1}}]}"#,
    r#"{"id":"1","type":"user","content":"x"}"#,
    r#"{"$rewindTo":"1"}"#,
    r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":{}}}]},{"role":"tool","content":"x"}]}"#,
];

proptest! {
    #[test]
    fn bytes_of_any_kind_are_read_to_their_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check::check(&bytes);
    }

    #[test]
    fn lines_of_every_format_in_any_order_and_with_any_damage_are_read_to_their_end(
        lines in proptest::collection::vec(0..SEEDS.len(), 1..6),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<proptest::sample::Index>(),
        glue in any::<bool>(),
    ) {
        let lines: Vec<&str> = lines.into_iter().map(|line| SEEDS[line]).collect();
        let mut bytes = lines.join(if glue { "" } else { "\n" }).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check::check(&bytes);
        bytes.truncate(cut.index(bytes.len() + 1));
        check::check(&bytes);
    }
}
