//! The documented programs of the bridge, unchanged.

use test_support::{BridgeClient, Codeyard, ServerDefinition};

use crate::bridge::installation;

/// Servers with the answers that a program expects.
fn canned(names: &[&str]) -> Codeyard {
    let definitions: Vec<_> = names
        .iter()
        .map(|name| (*name, ServerDefinition::canned(&format!("bridge/{name}"))))
        .collect();
    Codeyard::new()
        .unwrap()
        .definition("fixtures.json", &definitions)
        .unwrap()
}

/// Runs a program with such servers; it must succeed with exactly this text.
async fn gives(names: &[&str], program: &str, text: &str) {
    let mut client = BridgeClient::of(canned(names)).await;
    let answer = client.run_with(names, program).await;
    assert_eq!((answer.text(), answer.is_error()), (text, false), "{answer:?}");
}

#[tokio::test]
async fn inspect_servers() {
    let mut client = BridgeClient::of(installation()).await;
    let answer = client
        .run_with(&["stub"], include_str!("programs/inspect_servers.py"))
        .await;
    assert!(!answer.is_error(), "{answer:?}");
    let text = answer.text();
    for line in [
        "known: ('other', 'stub')",
        "cached: ('stub',)",
        "callable now: ('stub',)",
        "brief has schema: False | full has schema: True",
        "hits: [('stub', 'echo')]",
        "hits from cache: True",
        "--- PYTHON SANDBOX MANUAL ---",
    ] {
        assert!(text.lines().any(|own| own == line), "no {line:?} in\n{text}");
    }
    assert!(
        text.contains("same from cache: True ") && text.contains("metadata: [('stub', 'stub', "),
        "{text}"
    );
}

#[tokio::test]
async fn keep_state() {
    let mut client = BridgeClient::of(installation()).await;
    let mut said = Vec::new();
    for call in include_str!("programs/keep_state.py").split("# ---- next call\n") {
        said.push(client.run(call).await.text().to_owned());
    }
    let saved = "Tool 'spread' saved. It will be available in future sessions.";
    assert_eq!(said, ["Success (no output)", "8 kept 3.5", saved]);
}

#[tokio::test]
async fn move_issues() {
    gives(
        &["tracker", "hosting"],
        include_str!("programs/move_issues.py"),
        "moved: [41, 42]",
    )
    .await;
}

#[tokio::test]
async fn summarize_document() {
    let program = include_str!("programs/summarize_document.py");
    gives(
        &["drive", "crm"],
        program,
        "characters read: 10091 | stored: True",
    )
    .await;
}

#[tokio::test]
async fn c337_todo_files() {
    let text = "open item in /data/a.txt\nopen item in /data/c.txt\nfiles with open items: 2";
    gives(&["files"], include_str!("programs/todo_files.py"), text).await;
}
