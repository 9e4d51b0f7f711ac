//! Other ways into the kernel, and crashes: a crashed session is lost with a message, and leaves no core image.

use serde_json::json;

use crate::hostile::table::{Rows, rows};
use crate::hostile::yard::{Yard, probe};

const CRASH: &[Rows] = &[rows("SIGSEGV", &["crash"]), rows("none", &["image"])];

#[tokio::test]
async fn a_crashed_session_is_lost_and_leaves_no_core_image() {
    let mut yard = Yard::new().await;
    yard.check("crash", CRASH, json!({"own": false})).await;
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

#[tokio::test]
async fn other_ways_into_the_kernel_end_the_process() {
    let mut yard = Yard::new().await;
    for door in ["int80", "x32"] {
        let code = probe("x32-i386", &json!({"door": door}));
        let ran = yard.execute(json!({"code": code, "session": "new"})).await;
        assert_eq!(ran.status(), "failed", "{ran:?}");
        assert!(ran.error().contains("SandboxLost"), "{ran:?}");
        assert_eq!(ran.fields()["session_state"], "lost");
        let printed = ran.stdout();
        assert!(printed.ends_with("entering\n"), "{door}: {printed}");
        yard.check_well().await;
    }
    yard.end().await;
}
