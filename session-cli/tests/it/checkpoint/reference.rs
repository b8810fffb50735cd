//! The repository of the reference: listed, compared, restored from, and never written.

use super::{Garden, Node, fingerprint};
use std::fs;
use std::path::PathBuf;

/// Makes the repository as the reference does: a bare repository, turn 0 for the beginning, each turn a commit of the
/// workspace with its own map and copies of external files beside it.
struct Reference<'a> {
    garden: &'a Garden,
    outside: PathBuf,
}

impl<'a> Reference<'a> {
    fn new(garden: &'a Garden) -> Self {
        let store = garden.store();
        fs::create_dir_all(store.join("external-files")).expect("scratch");
        fs::write(store.join("external-files.json"), "{}").expect("scratch");
        let outside = garden.work().with_file_name("outside.conf");
        let reference = Reference { garden, outside };
        reference.git(&["init", "-q", "--bare", store.join(".git").to_str().expect("text")], None);
        fs::write(store.join(".git/info/exclude"), "vendor/*\n*.log\n").expect("scratch");
        reference
    }

    fn git(&self, words: &[&str], work_tree: Option<PathBuf>) {
        let mut git = self.garden.scratch.command("git");
        for (name, value) in
            [("AUTHOR_NAME", "r"), ("AUTHOR_EMAIL", "r@r"), ("COMMITTER_NAME", "r"), ("COMMITTER_EMAIL", "r@r")]
        {
            git.env(format!("GIT_{name}"), value);
        }
        if let Some(tree) = work_tree {
            git.arg(format!("--git-dir={}", self.garden.store().join(".git").display()));
            git.arg(format!("--work-tree={}", tree.display())).current_dir(tree);
        }
        let output = git.args(words).output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    fn track(&self) {
        let map = serde_json::json!({"0001-outside.conf": {"original_path": self.outside, "first_tracked_turn": 1}});
        fs::write(self.garden.store().join("external-files.json"), map.to_string()).expect("scratch");
    }

    fn turn(&self, n: u32) {
        let copy = self.garden.store().join("external-files/0001-outside.conf");
        if self.outside.exists() {
            fs::copy(&self.outside, copy).expect("scratch");
        }
        let (work, store) = (self.garden.work(), self.garden.store());
        self.git(&["add", "-A"], Some(work.clone()));
        self.git(&["add", "-Af", "external-files", "external-files.json"], Some(store));
        self.git(&["commit", "-q", "--allow-empty", "-m", &format!("turn-{n}")], Some(work.clone()));
        self.git(&["tag", "-f", &format!("turn-{n}")], Some(work));
    }
}

/// Turns 0 to 2, with an external file from turn 1 on.
fn garden() -> (Garden, PathBuf) {
    let garden = Garden::new();
    let reference = Reference::new(&garden);
    garden.write("a", "0\n");
    reference.turn(0);
    fs::write(&reference.outside, "one").expect("scratch");
    reference.track();
    garden.write("a", "1\n");
    reference.turn(1);
    fs::write(&reference.outside, "two").expect("scratch");
    garden.write("a", "2\n");
    garden.write("c", "new\n");
    reference.turn(2);
    let outside = reference.outside.clone();
    (garden, outside)
}

/// What is the reference's in the session's checkpoints.
fn theirs(garden: &Garden) -> Vec<(PathBuf, Node)> {
    let all = fingerprint(&garden.store(), true);
    let is_theirs = |path: &PathBuf| {
        let rel = path.strip_prefix(garden.store()).expect("it is below");
        rel.starts_with(".git") || rel.starts_with("external-files") || rel.starts_with("external-files.json")
    };
    all.into_iter().filter(|(path, _)| is_theirs(path)).collect()
}

#[test]
fn turns_of_the_reference_are_listed_shown_and_compared_and_nothing_is_made_for_it() {
    let (garden, outside) = garden();
    let before = fingerprint(&garden.scratch.store(), true);
    let list = garden.ok(&["list", "oaks"]);
    let column: Vec<&str> = list.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(column, ["reference:0", "reference:1", "reference:2"]);
    let document = garden.json(&["list", "oaks"]);
    assert_eq!(document["reference_externals"], serde_json::json!([outside]));
    assert!(garden.ok(&["show", "oaks", "reference:2"]).contains("M\ta\t\nA\tc\t\n"));
    assert!(garden.ok(&["diff", "oaks", "reference:0", "reference:1", "--", "a"]).contains("-0\n+1\n"));
    assert_eq!(garden.ok(&["diff", "oaks", "reference:2", "disk", "--stat"]), "");
    garden.write("a", "3\n");
    assert_eq!(garden.ok(&["diff", "oaks", "reference:2", "--stat"]), "a\t1\t1\tM\n");
    garden.write("a", "2\n");
    let plan = garden.ok(&["restore", "oaks", "reference:1", "-n"]);
    let outside = outside.canonicalize().expect("it is there");
    assert_eq!(plan, format!("write {}\nwrite a\ndelete c\n", outside.display()));
    assert_eq!(garden.run(&["verify", "oaks", "--contents"]).code, 0);
    assert!(garden.json(&["du", "oaks"])["reference_bytes"].as_u64() > Some(0));
    assert_eq!(fingerprint(&garden.scratch.store(), true), before);
    let codes = [["show", "oaks", "reference:7"], ["show", "oaks", "1"]].map(|words| garden.run(&words).code);
    assert_eq!((codes, garden.run(&["diff", "oaks", "reference:1", "latest"]).code), ([1, 1], 2));
}

#[test]
fn a_turn_of_the_reference_is_restored_with_its_external_files_and_taken_back() {
    let (garden, outside) = garden();
    let (before, repository) = (fingerprint(&garden.work(), false), theirs(&garden));
    let ran = garden.run(&["restore", "oaks", "reference:1", "-y"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "reference:1\t1\t2\t1\t0\t0\n"), "{ran:?}");
    assert_eq!((garden.read("a"), garden.exists("c")), ("1\n".to_owned(), false));
    assert_eq!(fs::read_to_string(&outside).expect("it is there"), "one");
    assert!(
        !garden.exists("external-files.json") && !garden.exists("external-files"),
        "they are none of the workspace's"
    );
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!(fingerprint(&garden.work(), false), before);
    assert_eq!(fs::read_to_string(&outside).expect("it is there"), "two");
    assert_eq!(theirs(&garden), repository);
}

#[test]
fn c03_what_the_reference_never_held_is_not_deleted_and_an_edit_by_hand_stops_it() {
    let (garden, _) = garden();
    garden.write("vendor/lib", "excluded by its rules");
    garden.write("x.log", "excluded by its rules");
    garden.write("later", "made since");
    garden.write("external-files.json", "the workspace's own");
    let plan = garden.ok(&["restore", "oaks", "reference:1", "-n"]);
    for path in ["vendor/lib", "x.log", "later", "external-files.json"] {
        assert!(plan.contains(&format!("keep {path}: ")), "{plan}");
    }
    garden.write("a", "by hand");
    assert_eq!(garden.run(&["restore", "oaks", "reference:1", "-y"]).code, 6);
    garden.ok(&["restore", "oaks", "reference:1", "-y", "--force"]);
    for path in ["vendor/lib", "x.log", "later", "external-files.json"] {
        assert!(garden.exists(path), "{path}");
    }
    assert_eq!((garden.read("a"), garden.exists("c")), ("1\n".to_owned(), false));
}
