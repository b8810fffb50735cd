//! Restores beside turns, and beside other sessions in the same workspace.

use super::Garden;
use std::thread;
use std::time::Duration;

#[test]
fn c30_only_mine_leaves_what_another_session_changed_and_names_what_both_did() {
    let garden = Garden::new();
    garden.session("birches");
    for name in ["a", "b", "mine"] {
        garden.write(name, "0");
    }
    garden.create();
    garden.ok(&["create", "birches"]);
    garden.write("mine", "oaks");
    garden.write("a", "oaks");
    garden.create();
    garden.ok(&["create", "birches", "--by-others"]);
    garden.write("b", "birches");
    garden.write("a", "oaks and birches");
    garden.ok(&["create", "birches"]);
    let plan = garden.ok(&["restore", "oaks", "1", "--only-mine", "-n"]);
    let wanted = "write mine\nkeep b: not mine\nconflict a: edited since\n\
                  also changed by birches, turn 3: a\nalso changed by birches, turn 3: b\n";
    assert_eq!(plan, wanted);
    assert_eq!(garden.run(&["restore", "oaks", "1", "--only-mine", "-y"]).code, 6);
    let ran = garden.run(&["restore", "oaks", "1", "--only-mine", "-y", "--keep-mine"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        (garden.read("mine"), garden.read("a"), garden.read("b")),
        ("0".into(), "oaks and birches".into(), "birches".into())
    );
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!(garden.read("mine"), "oaks");
    let document = garden.json(&["restore", "oaks", "1", "--only-mine", "-n"]);
    assert_eq!(document["plan"]["also_changed_by"][0]["session"], "birches");
}

#[test]
fn a_restore_is_refused_beside_the_turn_of_another_and_allowed_inside_its_own() {
    let garden = Garden::new();
    garden.write("a", "1");
    garden.create();
    garden.write("a", "2");
    garden.create();
    let in_turn =
        garden.scratch.ok(&["turn", "oaks", "--", "sh", "-c", "session checkpoint restore oaks 1 -y -- a && cat a"]);
    assert!(in_turn.ends_with("\n1"), "{in_turn}");
    let in_lock =
        garden.scratch.ok(&["lock", "oaks", "--", "sh", "-c", "session checkpoint restore oaks 2 -y -- a && cat a"]);
    assert!(in_lock.ends_with("\n2"), "{in_lock}");
    let mut turn = garden.scratch.command(crate::support::SESSION);
    turn.args(["turn", "oaks", "--", "sh", "-c", "echo >.up; until [ -e .over ]; do sleep 0.02; done"]);
    let mut turn = turn.spawn().expect("the program was built");
    let up = (0..1_000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        garden.exists(".up")
    });
    let ran = garden.run(&["restore", "oaks", "1", "-y", "--", "a"]);
    let undo = garden.run(&["undo", "oaks", "-y"]);
    garden.write(".over", "");
    assert!(turn.wait().expect("it ends").success() && up);
    assert!(ran.code == 5 && ran.stderr.contains("locked by"), "{ran:?}");
    assert_eq!((undo.code, garden.read("a")), (5, "2".to_owned()));
    garden.ok(&["restore", "oaks", "1", "-y", "--wait", "10s", "--", "a"]);
}
