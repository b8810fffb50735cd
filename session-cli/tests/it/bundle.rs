//! Bundles from the command line.

use crate::support::{Ran, SESSION, Scratch, json, tree};
use std::fs;

const HISTORY: &str = concat!(
    r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:06Z","kind":"message","message":{"role":"assistant","content":"digging"}}"#,
    "\n",
);

fn oaks() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.store().join("oaks/tmp")).expect("a directory of this test");
    fs::write(scratch.store().join("oaks/history.jsonl"), HISTORY).expect("a file of this test");
    let meta = "{\"name\":\"oaks\",\"first_prompt\":\"plant three oaks\"}\n";
    fs::write(scratch.store().join("oaks/meta.json"), meta).expect("a file of this test");
    fs::write(scratch.store().join("oaks/tmp/shell-1.txt"), "three oaks\n").expect("a file of this test");
    scratch
}

#[test]
fn e03_what_goes_out_through_a_pipe_comes_in_and_goes_out_as_the_same_bytes() {
    let scratch = oaks();
    let before = tree(&scratch.store());
    let script = "set -e; $SESSION export oaks --format bundle >a.tar.zst\n\
        $SESSION export oaks -o - --format bundle | $SESSION --dir other import - -q\n\
        $SESSION --dir other export oaks -o b.tar.zst -q; cmp a.tar.zst b.tar.zst; $SESSION --dir other load oaks | wc -l";
    let ran = Ran::of(&scratch.command("sh").arg("-c").arg(script).output().expect("there is a shell"));
    let wanted = "oaks\timported\t2\tbundle\tplant three oaks\noaks\tb.tar.zst\n2\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, wanted), "{}", ran.stderr);
    assert_eq!(tree(&scratch.store()), before, "an export changes nothing");
}

#[test]
fn a_bundle_is_not_written_to_a_terminal() {
    let scratch = oaks();
    let script = format!("script -qec '{SESSION} export oaks --format bundle' /dev/null");
    let ran = Ran::of(&scratch.command("sh").arg("-c").arg(script).output().expect("there is a shell"));
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("no text for a terminal") && ran.stdout.contains("-o FILE"), "{}", ran.stdout);
}

#[test]
fn e03_a_bad_bundle_says_which_file_and_member_and_leaves_no_store() {
    let scratch = oaks();
    scratch.ok(&["export", "oaks", "-o", "oaks.tar.zst"]);
    let whole = fs::read(scratch.work().join("oaks.tar.zst")).expect("it was written");
    fs::write(scratch.work().join("cut.tar.zst"), &whole[..whole.len() - 20]).expect("a file of this test");
    let ran = scratch.run(&["--dir", "other", "import", "cut.tar.zst"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("cut.tar.zst") && ran.stderr.contains("it was cut off"), "{}", ran.stderr);
    let ran = scratch.run(&["--dir", "other", "import", "oaks.tar.zst", "--max-bytes", "100B", "--json"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let done = json(&ran.stdout);
    assert_eq!((&done["complete"], &done["files"][0]["refused"]), (&false.into(), &true.into()));
    assert_eq!(done["diagnostics"][0]["code"], "unreadable");
    for (format, code) in [("bundle", 2), ("claude", 2)] {
        fs::write(scratch.work().join("x.jsonl"), "17\n").expect("a file of this test");
        assert_eq!(scratch.run(&["--dir", "other", "import", "x.jsonl", "--format", format]).code, code);
    }
    assert!(!scratch.work().join("other").exists());
}

#[test]
fn e03_importing_again_is_told_and_a_taken_name_gives_another() {
    let scratch = oaks();
    scratch.ok(&["export", "oaks", "-o", "oaks.tar.zst"]);
    let planned = scratch.ok(&["import", "-n", "-q", "oaks.tar.zst"]);
    assert_eq!(planned, "-\tplanned\t2\tbundle\tplant three oaks\n");
    let came = scratch.run(&["import", "oaks.tar.zst"]);
    assert_eq!(came.stdout, "oaks-2\timported\t2\tbundle\tplant three oaks\n");
    assert!(came.stderr.contains("note: oaks is oaks-2 here\n"), "{}", came.stderr);
    let before = tree(&scratch.store());
    let again = scratch.run(&["import", "oaks.tar.zst"]);
    assert_eq!((again.code, again.stdout.as_str()), (1, "oaks-2\tknown\t2\tbundle\tplant three oaks\n"));
    assert_eq!(tree(&scratch.store()), before);
    let taken = scratch.run(&["import", "--name", "oaks", "oaks.tar.zst"]);
    assert_eq!(taken.code, 1, "what is known is known by whatever name");
    scratch.ok(&["export", "oaks", "oaks-2", "-o", "both.tar.zst"]);
    assert_eq!(scratch.run(&["import", "--name", "elms", "both.tar.zst"]).code, 2);
}

#[test]
fn e03_several_sessions_go_into_one_file_or_a_file_each() {
    let scratch = oaks();
    scratch.ok(&["new", "elms"]);
    assert_eq!(scratch.ok(&["export", "oaks", "elms", "-o", "t.tar.zst"]), "oaks\tt.tar.zst\nelms\tt.tar.zst\n");
    let each = scratch.ok(&["export", "oaks", "elms", "--format", "bundle", "-o", "each/"]);
    assert_eq!(each, "oaks\teach/oaks.tar.zst\nelms\teach/elms.tar.zst\n");
    let ran = scratch.run(&["export", "oaks", "-o", "t.tar.zst"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    for part in [&["--raw"][..], &["--range", "1..2"], &["--detail", "prompts"]] {
        assert_eq!(scratch.run(&[&["export", "oaks", "-o", "u.tar.zst"], part].concat()).code, 2, "{part:?}");
    }
    assert!(!scratch.work().join("u.tar.zst").exists());
    assert_eq!(scratch.run(&["export", "birches", "-o", "u.tar.zst"]).code, 4);
}

#[test]
fn e03_a_lineage_goes_into_a_bundle_on_request() {
    let scratch = oaks();
    scratch.ok(&["fork", "oaks", "birches"]);
    scratch.ok_with(&["compact", "birches", "elms", "--summary", "-"], "three oaks were planted");
    let own = scratch.run(&["export", "birches", "-o", "one.tar.zst"]);
    assert_eq!(own.stderr, "note: birches: it goes on as elms, which is not in the bundle\n");
    let all = scratch.run(&["export", "birches", "--lineage", "-o", "all.tar.zst"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    assert_eq!(all.stdout, "oaks\tall.tar.zst\nbirches\tall.tar.zst\nelms\tall.tar.zst\n");
    scratch.ok(&["--dir", "other", "import", "all.tar.zst"]);
    assert_eq!(scratch.ok(&["--dir", "other", "lineage", "oaks"]), scratch.ok(&["lineage", "oaks"]));
    assert_eq!(scratch.run(&["export", "birches", "--lineage"]).code, 2);
}

#[test]
fn s01_a_bundle_is_masked_unless_told_otherwise() {
    let scratch = oaks();
    let secret = "https://oak:Birch-and-9-elms@example.org/";
    let line = format!("{{\"role\":\"user\",\"content\":\"{secret}\"}}");
    scratch.ok_with(&["append", "oaks"], &line);
    let masked = scratch.run(&["export", "oaks", "-o", "masked.tar.zst"]);
    assert_eq!(masked.stderr, "note: oaks: secrets at 1 place are masked; --no-redact leaves them\n");
    scratch.ok(&["export", "oaks", "-o", "kept.tar.zst", "--no-redact"]);
    for (file, dir, is_there) in [("masked.tar.zst", "a", false), ("kept.tar.zst", "b", true)] {
        scratch.ok(&["--dir", dir, "import", file]);
        assert_eq!(scratch.ok(&["--dir", dir, "load", "oaks"]).contains(secret), is_there, "{file}");
    }
}

#[test]
fn e03_a_link_is_left_out_and_told() {
    let scratch = oaks();
    std::os::unix::fs::symlink("/etc/passwd", scratch.store().join("oaks/tmp/link")).expect("a file of this test");
    let ran = scratch.run(&["export", "oaks", "-o", "oaks.tar.zst"]);
    assert_eq!(ran.code, 3);
    assert_eq!(ran.stderr, "warning: oaks: tmp/link does not go along: it is a symbolic link\n");
}
