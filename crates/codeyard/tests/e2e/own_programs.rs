//! Files written by a program: executed and loaded only with `[sandbox] exec`; libraries work either way.

use serde_json::{Value, json};
use test_support::{BridgeClient, CodeClient, Codeyard};

const EXEC: &str = "[sandbox]\nexec = true\n";
const LANDLOCK: &str = "[sandbox]\nbackend = \"landlock\"\n";
/// For a file in each place and in a workspace: executes it, executes its descriptor, and maps it as code.
const PROGRAM: &str = include_str!("own_programs/attempts.py");
/// Ordinary operations of libraries and programs in `/tmp` and `/dev/shm`.
const ORDINARY: &str = include_str!("own_programs/ordinary.py");

/// Answers of each place: to execution, to execution by descriptor, to a mapping as code; and to execution where
/// files are kept.
fn answers(places: &[&str], each: [&str; 3], kept: &[&str]) -> Value {
    let rows = |places: &[&str], each: &[&str]| {
        let rows = places.iter().map(|place| ((*place).to_owned(), json!(each)));
        Value::Object(rows.collect())
    };
    json!({"own": rows(places, &each), "kept": rows(kept, &["EACCES", "EACCES"])})
}

async fn check(settings: &str, expected: [&str; 3]) {
    let mut client = CodeClient::of(Codeyard::with_stub().unwrap().settings(settings)).await;
    // The later sessions come from the pool.
    for session in ["fresh", "second", "third"] {
        let ran = client.run_in(session, PROGRAM).await;
        let places: &[&str] = if settings.contains("landlock") {
            &["/tmp", "/home"]
        } else {
            &["/tmp", "/home", "/dev/shm"]
        };
        assert_eq!(ran.status(), "completed", "{session}: {ran:?}");
        let found: Value = serde_json::from_str(ran.stdout()).unwrap();
        assert_eq!(
            found,
            answers(places, expected, &["/workspace", "/results", "/scratch"]),
            "{session}: {ran:?}"
        );
    }
}

#[tokio::test]
async fn files_of_a_program_are_neither_executed_nor_loaded() {
    check("", ["EACCES", "EACCES", "EPERM"]).await;
}

#[tokio::test]
async fn the_setting_allows_both() {
    check(EXEC, ["allowed"; 3]).await;
}

#[tokio::test]
async fn without_namespaces_files_are_loaded_but_not_executed() {
    check(LANDLOCK, ["EACCES", "EACCES", "allowed"]).await;
    check(&format!("{LANDLOCK}exec = true\n"), ["allowed"; 3]).await;
}

#[tokio::test]
async fn the_setting_holds_on_the_bridge() {
    for (settings, expected) in [("", ["EACCES", "EACCES", "EPERM"]), (EXEC, ["allowed"; 3])] {
        let codeyard = Codeyard::new().unwrap().with_stub_definitions().unwrap();
        let mut bridge = BridgeClient::of(codeyard.settings(settings)).await;
        let ran = bridge.run(PROGRAM).await;
        let found: Value = serde_json::from_str(ran.text()).unwrap();
        assert_eq!(
            found,
            answers(&["/tmp", "/dev/shm"], expected, &["/workspace"]),
            "{ran:?}"
        );
    }
}

#[tokio::test]
async fn libraries_subprocesses_and_shells_work_without_the_setting() {
    let codeyard = Codeyard::with_stub().unwrap().managed_environment().unwrap();
    let ran = CodeClient::of(codeyard).await.run(ORDINARY).await;
    let expected =
        json!({"callback": [1, 2, 3], "processes": [0, 1, 4], "shell": "from a script\n", "queue": 7});
    assert_eq!(ran.result(), &expected, "{ran:?}");
}

#[tokio::test]
async fn the_doctor_shows_the_setting_in_effect() {
    for (settings, state, word) in [
        ("", "ok", "executing them EACCES, loading them as code EPERM"),
        (
            EXEC,
            "weaker",
            "executing them allowed, loading them as code allowed",
        ),
        (LANDLOCK, "weaker", "programs cannot execute files that they made"),
    ] {
        let codeyard = Codeyard::new().unwrap().settings(settings);
        let output = codeyard.run(["doctor", "--json"]).await.unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = report["checks"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == "exec").unwrap();
        assert_eq!(row["state"], state, "{row}");
        assert!(row["detail"].as_str().unwrap().contains(word), "{row}");
    }
}
