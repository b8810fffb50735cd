//! Links in a session that is sent or brought in: nothing is read or written through them.

use super::{Machine, on_s3};
use session_store::StoreError;
use session_store::remote::RemoteError;
use session_testing::s3::S3;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn s03_a_path_of_a_copy_leads_nowhere_else() {
    let server = S3::start();
    let (oak, elm) = (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")));
    oak.create("demo");
    oak.says("demo", "one");
    fs::write(oak.path("demo").join("tmp/out"), "output").expect("there is room");
    oak.push("demo").expect("it can be sent");
    let outside = elm.root().join("outside");
    fs::create_dir(&outside).expect("it is new");
    elm.create("demo");
    fs::remove_dir(elm.path("demo").join("tmp")).expect("it is empty");
    symlink(&outside, elm.path("demo").join("tmp")).expect("there is room");
    elm.pull("demo").expect_err("the directory is a link");
    assert!(fs::read_dir(&outside).expect("it is there").next().is_none());
}

#[test]
fn s03_what_is_remembered_of_a_copy_is_not_kept_behind_a_link() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    oak.create("demo");
    oak.says("demo", "one");
    oak.push("demo").expect("it can be sent");
    let (outside, remembered) = (oak.root().join("outside"), oak.path("demo").join(".remote"));
    fs::rename(&remembered, &outside).expect("it was made");
    symlink(&outside, &remembered).expect("the name is free");
    let before = crate::scratch::picture(&outside);
    oak.says("demo", "two");
    for refused in [oak.push("demo"), oak.pull("demo")] {
        let refused = refused.expect_err("the directory is a link");
        assert!(matches!(refused, RemoteError::Store(StoreError::Escapes { .. })), "{refused}");
    }
    assert_eq!(crate::scratch::picture(&outside), before);
}
