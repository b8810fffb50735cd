//! Pruning, pinning, relocating and measuring from the command line.

use crate::support::{Scratch, json, tree};
use std::fs;

const OLD: &str = concat!(
    r#"{"ts":"2025-05-01T10:00:00Z","kind":"message","message":{"role":"user","content":"plant an oak"}}"#,
    "\n"
);

/// Two old sessions.
fn old() -> Scratch {
    let scratch = Scratch::new();
    for session in ["oaks", "elms"] {
        scratch.ok(&["new", session]);
        scratch.ok_with(&["append", session], OLD);
    }
    scratch
}

#[test]
fn r01_pruning_asks_shows_the_plan_and_refuses_where_nobody_can_answer() {
    let scratch = old();
    let before = tree(&scratch.store());
    let refused = scratch.run(&["prune", "--older-than", "30d"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (6, ""));
    assert!(refused.stderr.contains("prune oaks: last used 2025-05-01T10:00:00Z"), "{}", refused.stderr);
    let dry = json(&scratch.ok(&["prune", "--older-than", "30d", "-n", "--json"]));
    assert_eq!((dry["planned"].as_array().map(Vec::len), &dry["pruned"]), (Some(2), &serde_json::json!([])));
    assert_eq!(tree(&scratch.store()), before);
    let done = json(&scratch.ok(&["prune", "--older-than", "30d", "-y", "--json"]));
    assert_eq!((&done["schema"], &done["complete"]), (&"session/prune.v1".into(), &true.into()));
    assert_eq!(done["pruned"].as_array().map(Vec::len), Some(2));
    assert_eq!(scratch.run(&["prune", "--older-than", "30d", "-y"]).code, 1);
    assert_eq!(scratch.ok(&["list"]), "");
}

#[test]
fn r01_a_setting_that_could_mean_something_else_changes_nothing() {
    let scratch = old();
    let before = tree(&scratch.store());
    for setting in [
        &["--older-than", "0"][..],
        &["--older-than", "0s"],
        &["--older-than", "-1d"],
        &["--older-than", "30"],
        &["--older-than", ""],
        &["--older-than", "2999-01-01"],
        &["--keep", "0"],
        &["--keep", "-1"],
        &["--larger-than", "30"],
        &["--larger-than", "0MB"],
        &[],
    ] {
        let ran = scratch.run(&[&["prune", "-y"], setting].concat());
        assert_eq!(ran.code, 2, "{setting:?}: {ran:?}");
    }
    assert_eq!(tree(&scratch.store()), before);
}

#[test]
fn m05_the_list_of_a_directory_names_sessions_whose_directory_is_gone() {
    let scratch = Scratch::new();
    let (here, there) = (scratch.store().with_file_name("w1"), scratch.store().with_file_name("w2"));
    fs::create_dir_all(&here).expect("it is ours");
    let text = |path: &std::path::Path| path.display().to_string();
    scratch.ok(&["new", "oaks", "--workspace", &text(&here)]);
    scratch.ok_with(&["append", "oaks"], OLD);
    fs::rename(&here, &there).expect("it is ours");
    let listed = json(&scratch.ok(&["list", &format!("--workspace={}", text(&there)), "--json"]));
    assert_eq!(listed["sessions"][0]["name"], "oaks", "the directory is known by what it is");
    let hint = &listed["diagnostics"][0];
    assert_eq!((&hint["code"], &hint["session"]), (&"workspace-gone".into(), &"oaks".into()));
    let elsewhere = json(&scratch.ok(&["list", &format!("--workspace={}", text(&scratch.store())), "--json"]));
    assert_eq!((&elsewhere["sessions"], &elsewhere["diagnostics"][0]), (&serde_json::json!([]), hint));
    let script = format!("script -qec '{} list' /dev/null", crate::support::SESSION);
    let shown = scratch.command("sh").args(["-c", &script]).current_dir(&there).output().expect("there is a shell");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(&format!("this directory was {0}; `session relocate {0} .`", text(&here))), "{shown}");
    assert_eq!(
        scratch
            .command(crate::support::SESSION)
            .args(["show", "."])
            .current_dir(&there)
            .status()
            .ok()
            .and_then(|status| status.code()),
        Some(0)
    );
    scratch.ok(&["relocate", &text(&here), &text(&there), "-y"]);
    let listed = json(&scratch.ok(&["list", &format!("--workspace={}", text(&there)), "--json"]));
    assert_eq!((&listed["sessions"][0]["name"], &listed["diagnostics"]), (&"oaks".into(), &serde_json::json!([])));
}
