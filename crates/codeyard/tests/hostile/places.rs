//! Every place that is not the session's own: nothing there is made, changed, linked or moved, and who crashes is lost.

use serde_json::json;

use crate::control::Control;
use crate::table::Outside::{Allowed, Untested};
use crate::table::{Inside, Rows};
use crate::yard::{Guest, Yard};

const EVERYWHERE: Guest = Guest {
    name: "everywhere",
    control: Control::Plain,
    rows: &[Rows {
        inside: Inside::Is("EROFS|EACCES|EPERM|ENOENT|EXDEV"),
        outside: Allowed,
        attempts: &[
            "make",
            "make_link",
            "write",
            "touch",
            "change_mode",
            "truncate",
            "move_own",
            "link",
            "link_by_descriptor",
            "exchange",
        ],
    }],
};

const CRASH: Guest = Guest {
    name: "crash",
    control: Control::Plain,
    rows: &[
        Rows {
            inside: Inside::Is("SIGSEGV"),
            outside: Untested("it crashes everywhere"),
            attempts: &["crash"],
        },
        Rows {
            inside: Inside::Is("none"),
            outside: Untested("whether the machine keeps images is its own business"),
            attempts: &["image"],
        },
    ],
};

#[tokio::test]
async fn nothing_is_made_or_changed_in_any_place_but_ones_own() {
    let mut yard = Yard::new().await;
    // The control has one directory of its own to change.
    let own = tempfile::tempdir().unwrap();
    let file = own.path().join("file");
    std::fs::write(&file, "own").unwrap();
    yard.check(EVERYWHERE, json!({"directory": own.path(), "file": file}))
        .await;
    yard.end().await;
}

#[tokio::test]
async fn who_crashes_is_lost_and_leaves_no_image() {
    let mut yard = Yard::new().await;
    yard.check(CRASH, json!({"own": false})).await;
    let ran = yard.run("crash", json!({"own": true})).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("failed", "crash: SIGSEGV\nimage: none\n"),
        "{ran:?}"
    );
    assert!(ran.error().contains("SandboxLost"), "{ran:?}");
    yard.check_well().await;
    yard.end().await;
}
