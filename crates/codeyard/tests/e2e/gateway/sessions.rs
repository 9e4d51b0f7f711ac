//! Files and sessions of several users at one virtual server.

use serde_json::{Value, json};

use super::actors::{ADMIN, ADMIN2, AL2, ALICE, ANA, BOB};
use super::running::Gateway;

const SCAN: &str = "\
import os
found = []
for place, below, files in os.walk('/'):
    if place == '/':
        # What all sessions read of the machine, and of Python below /opt, takes long to read.
        below[:] = [name for name in below if name not in ('proc', 'sys', 'usr', 'opt', 'lib', 'lib64', 'dev')]
    for name in files:
        try:
            with open(os.path.join(place, name), 'rb') as file:
                if b'alice' + b'-77' in file.read(1 << 20):
                    found.append(os.path.join(place, name))
        except OSError:
            pass
print(found)";

/// Writes the secret of C120 as this user.
async fn write_secret(gateway: &Gateway, id: &str) {
    let file = json!({"path": "/scratch/secret", "content": "alice-77"});
    let written = gateway.call(&ALICE, id, "fs_write", file).await;
    assert!(!written.is_error(), "{written:?}");
    gateway
        .check((&ALICE, id), "print(read_file('secret'))", "alice-77\n")
        .await;
}

#[tokio::test]
async fn c064_c069_roots_and_paths() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let roots = gateway.call(&ALICE, &id, "fs_browse", json!({"path": "/"})).await;
    let mut names = roots.names();
    names.sort_unstable();
    assert_eq!(names, ["results", "scratch", "skills", "tools"]);
    assert_eq!(roots.fields()["truncated"], false);
    for (path, error) in [
        ("/tools", "Path is a directory, not a file: /tools"),
        ("/scratch/nope", "Path not found: /scratch/nope"),
        ("/home/x", "outside the virtual filesystem"),
        ("/scratch/../../etc/passwd", "EACCES"),
    ] {
        let read = gateway
            .call(&ALICE, &id, "fs_read", json!({ "path": path }))
            .await;
        assert!(
            read.is_error() && read.error().contains(error),
            "{path}: {read:?}"
        );
    }
}

#[tokio::test]
async fn c120_a_run_cannot_read_files_of_another_user() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    write_secret(&gateway, &id).await;
    for other in [AL2, ANA, ADMIN] {
        gateway.check((&other, &id), SCAN, "[]\n").await;
        let read = gateway
            .call(&other, &id, "fs_read", json!({"path": "/scratch/secret"}))
            .await;
        assert_eq!(read.error(), "Path not found: /scratch/secret");
    }
    // A file of one server does not exist at another.
    let other = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &other), SCAN, "[]\n").await;
    gateway
        .check((&ALICE, &id), "print(read_file('secret'))", "alice-77\n")
        .await;
}

#[tokio::test]
async fn c122_a_session_is_not_reached_by_guessing() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    write_secret(&gateway, &id).await;
    let unknown = gateway
        .rest(&BOB, "POST /rpc", call("0123456789abcdef", json!({}), json!({})))
        .await;
    let session = gateway.get(&ALICE, &format!("/servers/{id}/code/sessions")).await[0]["session_id"].clone();
    for (arguments, meta) in [
        (json!({}), json!({})),
        (
            json!({"user_email": "alice@example.com", "session_id": session}),
            json!({}),
        ),
        (
            json!({"session": session}),
            json!({"user_email": "alice@example.com", "session_id": session}),
        ),
    ] {
        let refused = gateway.rest(&BOB, "POST /rpc", call(&id, arguments, meta)).await;
        assert_eq!((refused.status, refused.text()), (unknown.status, unknown.text()));
        assert_eq!(refused.status, 404);
    }
    // On a server that both reach, such fields have no effect.
    let public = gateway.cs_p().await;
    write_secret(&gateway, &public).await;
    let session = gateway
        .get(&ALICE, &format!("/servers/{public}/code/sessions"))
        .await[0]["session_id"]
        .clone();
    for (arguments, meta) in [
        (
            json!({"user_email": "alice@example.com", "session_id": session}),
            json!({}),
        ),
        (
            json!({}),
            json!({"user_email": "alice@example.com", "session_id": session, "io.codeyard/session": session}),
        ),
    ] {
        let answer = gateway
            .rest(&BOB, "POST /rpc", call(&public, arguments, meta))
            .await;
        assert!(!answer.text().contains("alice-77"), "{}", answer.text());
    }
    gateway
        .check((&ALICE, &public), "print(read_file('secret'))", "alice-77\n")
        .await;
}

/// A call whose program reads the secret.
fn call(server: &str, mut arguments: Value, meta: Value) -> Value {
    arguments["code"] = json!("print(read_file('secret'))");
    let params = json!({"server_id": server, "name": "shell_exec", "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn s0_d12_platform_admins_are_distinct() {
    let gateway = Gateway::with_stub().await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 2}}))
        .await;
    gateway
        .check((&ADMIN, &id), "write_file('mine', 'x')\nprint(1)", "1\n")
        .await;
    gateway
        .check((&ADMIN, &id), "print(list_dir())", "['mine']\n")
        .await;
    gateway
        .check_error((&ADMIN, &id), "print(1)", "Rate limit exceeded")
        .await;
    gateway.check((&ADMIN2, &id), "print(list_dir())", "[]\n").await;
    let sessions = gateway.get(&ADMIN, &format!("/servers/{id}/code/sessions")).await;
    let emails = sessions
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["user_email"].as_str().unwrap());
    assert_eq!(
        emails.collect::<Vec<_>>(),
        ["admin2@example.com", "admin@example.com"]
    );
}

#[tokio::test]
async fn two_tokens_of_a_user_share_the_files() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    write_secret(&gateway, &id).await;
    let second = gateway.new_token(&ALICE, &[]).await;
    let answer = gateway
        .rest_with(
            Some(&second),
            "POST /rpc",
            call(&id, json!({}), json!({})).to_string().as_bytes(),
        )
        .await;
    assert_eq!(
        answer.json()["result"]["structuredContent"]["output"],
        "alice-77\n",
        "{}",
        answer.text()
    );
}
