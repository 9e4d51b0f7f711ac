//! Programs in TypeScript: tools, files, limits, checks and records are the same as in Python.

pub mod blind;
mod calls;
mod engines;
mod errors;
mod limits;
mod observed;
mod sessions;
mod values;

use serde_json::{Value, json};
use test_support::{CodeClient, CodeResult};

/// Runs a program in TypeScript in the client's default session.
pub async fn run(client: &mut CodeClient, code: &str) -> CodeResult {
    client
        .execute(json!({"code": code, "language": "typescript"}))
        .await
}

/// Checks a program's result.
async fn check(client: &mut CodeClient, code: &str, expected: Value) {
    let ran = run(client, code).await;
    assert_eq!(
        (ran.status(), ran.result()),
        ("completed", &expected),
        "{code}\n{ran:?}"
    );
}

/// Checks what a program prints.
async fn check_printed(client: &mut CodeClient, code: &str, expected: &str) {
    let ran = run(client, code).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", expected),
        "{code}\n{ran:?}"
    );
}

/// Checks that a program fails with an error that contains each of the texts.
async fn check_fails(client: &mut CodeClient, code: &str, expected: &[&str]) {
    let ran = run(client, code).await;
    assert_ne!(ran.status(), "completed", "{code}\n{ran:?}");
    for text in expected {
        assert!(
            ran.error().contains(text),
            "{code}: no {text:?} in {}",
            ran.error()
        );
    }
}
