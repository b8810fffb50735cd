//! A report as the reference prints it.

use super::{Block, Choice, Report};
use crate::json::{push_list, push_string};

impl Report {
    /// The report as one line of JSON, in the reference's order and escaping: status, headline and blocks always, in a
    /// block its type, id and summary always, everything else only where it says something.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(b"{\"task_status\":");
        push_string(&mut out, &self.task_status);
        out.extend_from_slice(b",\"headline\":");
        push_string(&mut out, &self.headline);
        out.extend_from_slice(b",\"blocks\":");
        match &self.blocks {
            Some(blocks) => push_list(&mut out, blocks, push_block),
            None => out.extend_from_slice(b"null"),
        }
        out.push(b'}');
        out
    }
}

fn push_block(out: &mut Vec<u8>, block: &Block) {
    out.push(b'{');
    members(out, true, &[("type", &block.block_type), ("id", &block.id), ("summary", &block.summary)]);
    members(out, false, &[("status", &block.status), ("details", &block.details)]);
    if !block.related_files.is_empty() {
        out.extend_from_slice(b",\"related_files\":");
        push_list(out, &block.related_files, |out, file| push_string(out, file));
    }
    if !block.options.is_empty() {
        out.extend_from_slice(b",\"options\":");
        push_list(out, &block.options, push_choice);
    }
    out.push(b'}');
}

fn push_choice(out: &mut Vec<u8>, choice: &Choice) {
    out.push(b'{');
    members(out, true, &[("id", &choice.id), ("label", &choice.label)]);
    let optional = [
        ("description", &choice.description),
        ("preview", &choice.preview),
        ("effect", &choice.effect),
        ("instruction", &choice.instruction),
    ];
    members(out, false, &optional);
    out.push(b'}');
}

/// Members in order; empty ones only if `always`.
fn members(out: &mut Vec<u8>, always: bool, members: &[(&str, &String)]) {
    for (name, text) in members {
        if always || !text.is_empty() {
            if out.last() != Some(&b'{') {
                out.push(b',');
            }
            push_string(out, name);
            out.push(b':');
            push_string(out, text);
        }
    }
}
