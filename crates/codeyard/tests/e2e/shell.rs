//! Programs in bash: tools, files, limits, checks and records are the same as in the other languages.

mod bash;
mod blind;
mod calls;
pub mod endings;
mod limits;
mod programs;
mod sessions;

use serde_json::json;
use test_support::{CodeClient, CodeResult};

/// Runs a program in the client's default session of the shell.
pub async fn run(client: &mut CodeClient, code: &str) -> CodeResult {
    client.execute(json!({"code": code, "language": "shell"})).await
}

/// Checks what a program prints.
pub async fn check(client: &mut CodeClient, code: &str, expected: &str) {
    let ran = run(client, code).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", expected),
        "{code}\n{ran:?}"
    );
}

/// Checks the status with which a program fails, and that standard error contains each of the texts.
pub async fn check_fails(client: &mut CodeClient, code: &str, status: u8, expected: &[&str]) {
    let ran = run(client, code).await;
    assert_eq!(ran.status(), "failed", "{code}\n{ran:?}");
    let ended = format!("the program exited with status {status}");
    assert!(ran.error().contains(&ended), "{code}\n{ran:?}");
    let stderr = ran.fields()["stderr"].as_str().unwrap_or_default();
    for text in expected {
        assert!(stderr.contains(text), "{code}: no {text:?} in {stderr}");
    }
}
