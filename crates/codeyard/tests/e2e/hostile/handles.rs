//! Large results of objects that resist counting or printing: the host reads little and continues.

use serde_json::json;

use crate::hostile::yard::{Yard, program};

/// Most bytes of a whole answer: a handle, its beginning twice, and the rest.
const MOST: usize = 24 * 1024;

/// Checks the end of a run with such an object: the message to the model is short, and the session still works.
async fn check(yard: &mut Yard, way: &str, statuses: &[&str]) {
    let code = program("objects", &json!({"way": way}));
    let session = format!("object-{way}");
    let ran = yard
        .execute(json!({"code": code, "session": session, "timeout_ms": 4000}))
        .await;
    assert!(statuses.contains(&ran.status()), "{way}: {ran:?}");
    let answer = ran.0.to_string();
    assert!(answer.len() < MOST, "{way}: {} bytes", answer.len());
    assert!(!answer.contains("\\nr9"), "{way}: {answer}");
    if ran.status() == "completed" && ran.fields()["handle"].is_object() {
        assert_eq!(ran.fields()["handle"]["name"], "r1", "{way}");
        let kept = yard
            .execute(json!({"code": "type(runtime.result('r1')) is not None", "session": session}))
            .await;
        assert_eq!(kept.result(), &json!(true), "{way}: {kept:?}");
    }
    let next = yard.execute(json!({"code": "6 * 7", "session": session})).await;
    assert_eq!(next.result(), &json!(42), "{way}: {next:?}");
    yard.close(&session).await;
}

#[tokio::test]
async fn objects_that_lie_or_raise_get_a_short_message() {
    let mut yard = Yard::new().await;
    for way in [
        "liar", "shown", "sized", "shape", "table", "nameless", "odd", "long_key",
    ] {
        check(&mut yard, way, &["completed", "failed"]).await;
    }
    for way in ["length", "keys"] {
        check(&mut yard, way, &["failed", "completed"]).await;
    }
    yard.end().await;
}

#[tokio::test]
async fn endless_objects_end_with_the_time_limit() {
    let mut yard = Yard::new().await;
    for way in ["forever", "stuck"] {
        check(&mut yard, way, &["timed_out", "limit_exceeded", "completed"]).await;
    }
    for way in ["endless", "vast"] {
        check(&mut yard, way, &["completed", "failed", "limit_exceeded"]).await;
    }
    yard.end().await;
}

#[tokio::test]
async fn a_forged_handle_leads_nowhere() {
    let mut yard = Yard::new().await;
    let code = "import json, os\nbody = json.dumps({'t': 'done', 'id': 1, 'kept': {'name': 'r777', 'kind': 'DataFrame', 'size': '9 rows', 'sample': [1]}}).encode()\nos.write(3, len(body).to_bytes(4, 'little') + body)\nimport time; time.sleep(0)";
    let ran = yard.execute(json!({"code": code, "session": "new"})).await;
    // A program may end its own run and forge its own result, nothing more.
    assert_eq!(ran.fields()["handle"]["name"], "r777", "{ran:?}");
    yard.check_well().await;
    yard.end().await;
}
