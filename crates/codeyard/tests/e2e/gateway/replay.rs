//! Runs that are repeated over REST.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use test_support::PostgresServer;

use super::actors::{ADMIN, AL2, ALICE, ANA, Actor, VIC};
use super::running::{Gateway, installation};

/// Repeats a run; returns the answer.
async fn repeat(gateway: &Gateway, actor: &Actor, server: &str, run: &str) -> Value {
    let request = format!("POST /servers/{server}/code/runs/{run}/replay");
    gateway.ask(actor, &request, Value::Null, 200).await
}

async fn check_refused(gateway: &Gateway, actor: &Actor, (server, run): (&str, &str), refusal: (u16, &str)) {
    let request = format!("POST /servers/{server}/code/runs/{run}/replay");
    gateway.check_refused(actor, &request, Value::Null, refusal).await;
}

async fn runs(gateway: &Gateway, actor: &Actor, server: &str) -> Vec<Value> {
    let runs = gateway.get(actor, &format!("/servers/{server}/code/runs")).await;
    runs.as_array().unwrap().clone()
}

/// The handle of a program's run.
async fn run(gateway: &Gateway, actor: &Actor, server: &str, code: &str) -> String {
    let ran = gateway.sh(actor, server, code).await;
    ran.fields()["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn c160_c162_a_run_is_repeated_with_its_output() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let first = run(&gateway, &ALICE, &id, "print('hello from sandbox')").await;
    let again = repeat(&gateway, &ALICE, &id, &first).await;
    assert_eq!(again["output"], "hello from sandbox\n", "{again}");
    assert_eq!(again["replayed_from_run_id"], json!(first), "{again}");
    assert_ne!(again["run_id"], json!(first), "{again}");
    let listed = runs(&gateway, &ALICE, &id).await;
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(
        (&listed[0]["id"], &listed[0]["code_hash"]),
        (&again["run_id"], &listed[1]["code_hash"])
    );
    let line = gateway
        .call(&ALICE, &id, "shell_exec", json!({"code": "ls /tools"}))
        .await;
    let line_id = line.fields()["run_id"].as_str().unwrap().to_owned();
    let again = repeat(&gateway, &ALICE, &id, &line_id).await;
    assert_eq!(again["output"], line.fields()["output"], "{again}");
    let failing = run(&gateway, &ALICE, &id, "print('before')\n1 / 0").await;
    let again = repeat(&gateway, &ALICE, &id, &failing).await;
    let error = again["error"].as_str().unwrap();
    assert!(
        again["output"] == "before\n" && error.contains("ZeroDivisionError"),
        "{again}"
    );
}

#[tokio::test]
async fn c163_what_cannot_be_repeated_is_refused() {
    let gateway = Gateway::with_stub().await;
    let (of_a, other) = (gateway.cs_a(&json!({})).await, gateway.cs_a(&json!({})).await);
    let here = run(&gateway, &ALICE, &of_a, "print(1)").await;
    let elsewhere = run(&gateway, &ALICE, &other, "print(1)").await;
    for unknown in ["r-unknown", elsewhere.as_str()] {
        let expected = format!("Run not found: {unknown}");
        check_refused(&gateway, &ALICE, (&of_a, unknown), (400, &expected)).await;
    }
    check_refused(&gateway, &ALICE, ("none", &here), (400, "Server not found: none")).await;
    // A developer of the team sees only own runs.
    let expected = format!("Run not found: {here}");
    check_refused(&gateway, &AL2, (&of_a, &here), (400, &expected)).await;
    let denied = (403, "Insufficient permissions. Required: servers.use");
    check_refused(&gateway, &VIC, (&of_a, &here), denied).await;
    let gateway = Gateway::start(installation().env("CODE_EXECUTION_REPLAY_ENABLED", "false")).await;
    let id = gateway.cs_a(&json!({})).await;
    let kept = run(&gateway, &ALICE, &id, "print(1)").await;
    let disabled = (400, "Replay is disabled by configuration");
    check_refused(&gateway, &ALICE, (&id, &kept), disabled).await;
}

#[tokio::test]
async fn c164_a_repeated_run_counts_and_is_the_caller_s() {
    let gateway = Gateway::with_stub().await;
    let limited = json!({"sandbox_policy": {"max_runs_per_minute": 2}});
    let id = gateway.cs_a(&limited).await;
    let of_alice = run(&gateway, &ALICE, &id, "print(1)").await;
    // ANA administers the team, so she sees the run; what she repeats is her own run.
    let again = repeat(&gateway, &ANA, &id, &of_alice).await;
    let listed = runs(&gateway, &ANA, &id).await;
    let repeated = listed.iter().find(|run| run["id"] == again["run_id"]).unwrap();
    assert_eq!(repeated["user_email"], ANA.email, "{repeated}");
    repeat(&gateway, &ALICE, &id, &of_alice).await;
    let refused = (429, "Rate limit exceeded: max 2 runs/minute");
    check_refused(&gateway, &ALICE, (&id, &of_alice), refused).await;
}

/// Neither the database nor another file of the gateway holds a word of program, arguments, answer or output.
#[tokio::test]
async fn recordings_are_encrypted_and_need_their_key() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_p().await;
    let code = "needle = 'hay' + 'stack-1234'\nprint((await tools.stub.echo({'message': needle}))['text'])";
    let first = run(&gateway, &ADMIN, &id, code).await;
    let again = repeat(&gateway, &ADMIN, &id, &first).await;
    assert_eq!(again["output"], "haystack-1234\n", "{again}");
    let data = gateway.codeyard.data_directory();
    let key = data.join("data.key");
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for file in ["codeyard.db", "codeyard.db-wal"] {
        let bytes = fs::read(data.join(file)).unwrap_or_default();
        for word in ["haystack", "stack-1234", "needle"] {
            let found = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!found, "{word} in {file}");
        }
    }
    fs::remove_file(&key).unwrap();
    let gateway = gateway.restart().await;
    let lost = (400, "its key is not among the keys of this installation");
    check_refused(&gateway, &ADMIN, (&id, &first), lost).await;
}

/// The number of keys in the gateway's file.
fn keys(gateway: &Gateway) -> usize {
    let file = gateway.codeyard.data_directory().join("data.key");
    fs::read_to_string(file).unwrap().lines().count()
}

#[tokio::test]
async fn keys_are_rotated_under_a_running_gateway() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let mut recorded = Vec::new();
    let check = async |recorded: &[String]| {
        for (number, run) in recorded.iter().enumerate() {
            let again = repeat(&gateway, &ALICE, &id, run).await;
            assert_eq!(again["output"], format!("{number}\n"), "{again}");
        }
    };
    for number in 0..5 {
        recorded.push(run(&gateway, &ALICE, &id, &format!("print({number})")).await);
    }
    check(&recorded[..1]).await;
    // The list waits until all is written.
    runs(&gateway, &ALICE, &id).await;
    let rotated = gateway.command(&["keys", "rotate"]).await;
    assert!(
        rotated.code == 0 && rotated.out.contains("encrypted again: 6 recordings"),
        "{rotated:?}"
    );
    assert_eq!(keys(&gateway), 2, "the replaced key stays");
    check(&recorded[..2]).await;
    recorded.push(run(&gateway, &ALICE, &id, "print(5)").await);
    runs(&gateway, &ALICE, &id).await;
    let rotated = gateway.command(&["keys", "rotate", "--json"]).await;
    let rotated: Value = serde_json::from_str(&rotated.out).unwrap();
    // Six runs, and three that were repeated.
    let told = (
        &rotated["encrypted"],
        &rotated["unreadable"],
        &rotated["removed_keys"],
    );
    assert_eq!(told, (&json!(9), &json!(0), &json!(1)), "{rotated}");
    assert_eq!(keys(&gateway), 2);
    check(&recorded).await;
}

#[tokio::test]
async fn keys_of_the_variable_are_rotated_by_their_order() {
    let [old, new] = [1_u8, 2].map(|byte| STANDARD.encode([byte; 32]));
    let gateway = Gateway::start(installation().env("CODEYARD_DATA_KEY", &old)).await;
    let id = gateway.cs_a(&json!({})).await;
    let first = run(&gateway, &ALICE, &id, "print(1)").await;
    let both = format!("{new} {old}");
    let gateway = gateway.restart_with("CODEYARD_DATA_KEY", &both).await;
    let rotated = gateway.command(&["keys", "rotate"]).await;
    let told = [
        "encrypted again: 1 recording",
        "no longer needed: key 2 of CODEYARD_DATA_KEY",
    ];
    assert!(told.iter().all(|told| rotated.out.contains(told)), "{rotated:?}");
    let gateway = gateway.restart_with("CODEYARD_DATA_KEY", &new).await;
    let again = repeat(&gateway, &ALICE, &id, &first).await;
    assert_eq!(again["output"], "1\n", "{again}");
}

#[tokio::test]
async fn a_key_that_others_may_read_is_refused_at_the_start() {
    let codeyard = installation();
    let key = codeyard.data_directory().join("data.key");
    fs::create_dir_all(codeyard.data_directory()).unwrap();
    fs::write(&key, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = test_support::run(&codeyard, &["serve", "--listen", "127.0.0.1:0"], "").await;
    assert!(
        refused.code != 0 && refused.err.contains("chmod 600"),
        "{refused:?}"
    );
}

/// The gateway warns of its own key file on Postgres, and of a key that it lacks.
#[tokio::test]
async fn processes_with_keys_of_their_own_are_warned() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let on_postgres = || installation().env("CODEYARD_DATABASE_URL", &url);
    let own = "other processes on this database need the same key: set CODEYARD_DATA_KEY";
    let foreign = "encrypted with a key that this process does not have";
    let first = Gateway::start(on_postgres()).await;
    assert!(first.logged(own).is_some() && first.logged(foreign).is_none());
    let id = first.cs_a(&json!({})).await;
    run(&first, &ALICE, &id, "print(1)").await;
    runs(&first, &ALICE, &id).await;
    let second = Gateway::start(on_postgres()).await;
    assert!(second.logged(own).is_some() && second.logged(foreign).is_some());
    let key = fs::read_to_string(first.codeyard.data_directory().join("data.key")).unwrap();
    let third = Gateway::start(on_postgres().env("CODEYARD_DATA_KEY", key.trim())).await;
    assert!(third.logged(own).is_none() && third.logged(foreign).is_none());
}
