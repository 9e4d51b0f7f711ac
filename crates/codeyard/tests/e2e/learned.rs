//! Types learned from results of tools that declare none: shown in descriptions, stored without values, deleted on
//! request.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, CommandOutput, ServerDefinition, run};

/// The description of `crm.find` after two customers were found.
const OBSERVED: &str =
    "find() -> {id: int, name: str, owner: {email: str, teamName: str}, phone?: str}  # observed in 2 calls";
const UNKNOWN: &str = "find() -> Text";

fn with_crm(fixture: &str) -> Codeyard {
    let crm = ServerDefinition::canned(&format!("learned/{fixture}"));
    Codeyard::new().unwrap().server("crm", &crm)
}

/// Another installation on the same data.
fn beside(codeyard: &Codeyard, fixture: &str) -> Codeyard {
    with_crm(fixture).data(codeyard.data_directory())
}

async fn call(codeyard: &Codeyard, tool: &str, arguments: Value) {
    let ended = run(codeyard, &["call", tool, &arguments.to_string()], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
}

async fn find_both(codeyard: &Codeyard) {
    for id in [1, 2] {
        call(codeyard, "crm.find", json!({"id": id})).await;
    }
}

/// Checks the end of the tool's signature on the command line.
async fn check_shown(codeyard: &Codeyard, expected: &str) {
    let ended = run(codeyard, &["tools", "show", "crm.find"], "").await;
    assert!(
        ended.out.contains(&format!("tools.crm.{expected}\n")),
        "{expected}: {ended:?}"
    );
}

async fn learned(codeyard: &Codeyard, args: &[&str]) -> CommandOutput {
    run(codeyard, &[&["tools", "learned"], args].concat(), "").await
}

/// The rows of `tools learned --json`.
async fn rows(codeyard: &Codeyard) -> Vec<Value> {
    let ended = learned(codeyard, &["--json"]).await;
    ended.json()["tools"].as_array().unwrap().clone()
}

/// Whether any file below the directory holds these bytes.
fn holds(directory: &Path, text: &str) -> bool {
    std::fs::read_dir(directory).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn observed_types_are_shown_wherever_a_tool_is_described() {
    let codeyard = with_crm("crm");
    check_shown(&codeyard, UNKNOWN).await;
    find_both(&codeyard).await;
    check_shown(&codeyard, OBSERVED).await;
    let mut client = CodeClient::of(codeyard).await;
    let found = client
        .search(json!({"query": "find customer", "detail": "full"}))
        .await;
    let tool = found["structuredContent"]["tools"][0].to_string();
    for part in ["phone: str", "observed in 2 calls", "teamName"] {
        assert!(tool.contains(part), "{part}: {tool}");
    }
    let looked = client
        .run("from mcp import runtime\nreturn [runtime.describe('crm.find'), open('/tools/crm/find.py').read()]")
        .await;
    let (described, file) = (&looked.result()[0], looked.result()[1].to_string());
    assert_eq!(described["observedCalls"], 2, "{looked:?}");
    assert_eq!(
        described["observedSchema"]["properties"]["phone"],
        json!({"type": "string"})
    );
    assert!(file.contains("observed in 2 calls"), "{file}");
}

#[tokio::test]
async fn a_session_learns_from_its_own_programs() {
    let mut client = CodeClient::of(with_crm("crm")).await;
    client
        .run("for n in [1, 2]:\n    await tools.crm.find(id=n)")
        .await;
    let mut told = String::new();
    for _ in 0..200 {
        let found = client.search(json!({"query": "find customer"})).await;
        told = found["structuredContent"]["tools"][0]["signature"].to_string();
        if told.contains("observed in 2 calls") {
            return;
        }
    }
    panic!("{told}");
}

#[tokio::test]
async fn no_value_is_kept() {
    let codeyard = with_crm("crm");
    find_both(&codeyard).await;
    call(&codeyard, "crm.find", json!({"id": 4})).await;
    call(&codeyard, "crm.by_day", json!({})).await;
    call(&codeyard, "crm.note", json!({})).await;
    let shapes: Vec<Value> = rows(&codeyard)
        .await
        .into_iter()
        .map(|row| row["schema"].clone())
        .collect();
    assert_eq!(shapes.len(), 3, "{shapes:?}");
    let days = json!({"type": "object", "additionalProperties":
        {"type": "object", "additionalProperties": {"type": "integer"}}});
    assert!(
        shapes.contains(&days) && shapes.contains(&json!({"type": "string"})),
        "{shapes:?}"
    );
    let data = codeyard.data_directory();
    assert!(holds(&data, "teamName"));
    for value in ["canary", "2024-01-31"] {
        assert!(!holds(&data, value), "{value} is kept");
    }
}

#[tokio::test]
async fn nothing_is_learned_from_an_error() {
    let codeyard = with_crm("crm");
    run(&codeyard, &["call", "crm.find", "{\"id\": 99}"], "").await;
    assert_eq!(rows(&codeyard).await, Vec::<Value>::new());
    let ended = learned(&codeyard, &[]).await;
    assert_eq!(ended.code, 0);
    assert!(ended.err.contains("nothing has been learned yet"), "{ended:?}");
}

#[tokio::test]
async fn a_new_definition_starts_fresh_and_the_old_types_stay() {
    let codeyard = with_crm("crm");
    find_both(&codeyard).await;
    let next = beside(&codeyard, "crm-next");
    // The call also refreshes the list, so that the old definition is not shown.
    call(&next, "crm.find", json!({"id": 1})).await;
    check_shown(
        &next,
        "find() -> {id: int, name: str, owner: {email: str, teamName: str}}  # observed in 1 call",
    )
    .await;
    let calls: Vec<Value> = rows(&next).await.iter().map(|row| row["calls"].clone()).collect();
    assert_eq!(calls, [json!(2), json!(1)]);
}

#[tokio::test]
async fn deleted_types_are_not_written_back_by_a_running_process() {
    let codeyard = with_crm("crm");
    let mut client = CodeClient::of(with_crm("crm").data(codeyard.data_directory())).await;
    client
        .run("for n in [1, 2]:\n    await tools.crm.find(id=n)")
        .await;
    // Each look starts a program, so there are few.
    let mut looks = 0..200;
    while rows(&codeyard).await.is_empty() {
        assert!(looks.next().is_some(), "no shape is kept");
    }
    let refused = run(&codeyard, &["tools", "forget", "crm.find"], "").await;
    assert!(refused.code != 0 && refused.err.contains("--yes"), "{refused:?}");
    let forgot = run(&codeyard, &["tools", "forget", "crm", "--yes"], "").await;
    assert_eq!(forgot.out, "forgot the results of 1 tool\n", "{forgot:?}");
    let found = client
        .run("import time\nfrom mcp import runtime\nend = time.monotonic() + 20\nwhile time.monotonic() < end:\n    found = str(await runtime.search('find customer'))\n    if 'observed' not in found:\n        return True")
        .await;
    assert_eq!(found.result(), &json!(true), "{found:?}");
    client.run("await tools.crm.note()").await;
    client.mcp.finish().await.unwrap();
    let tools: Vec<Value> = rows(&codeyard)
        .await
        .iter()
        .map(|row| row["tool"].clone())
        .collect();
    assert!(!tools.contains(&json!("find")), "{tools:?}");
    let wrong = run(&codeyard, &["tools", "forget", "crm.find", "--yes"], "").await;
    assert!(
        wrong.code != 0 && wrong.err.contains("nothing was learned about `crm.find`"),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn processes_on_one_directory_add_up() {
    let codeyard = with_crm("crm");
    let (one, other) = (beside(&codeyard, "crm"), beside(&codeyard, "crm"));
    let calls = |codeyard: Codeyard, id: u8| async move {
        let mut client = CodeClient::of(codeyard).await;
        client
            .run(&format!("for n in range(20):\n    await tools.crm.find(id={id})"))
            .await;
        client.mcp.finish().await.unwrap();
    };
    tokio::join!(calls(one, 1), calls(other, 2));
    let rows = rows(&codeyard).await;
    assert_eq!((rows.len(), &rows[0]["calls"]), (1, &json!(40)), "{rows:?}");
    check_shown(&codeyard, &OBSERVED.replace("2 calls", "40 calls")).await;
}

#[tokio::test]
async fn the_same_call_of_many_processes_confirms_nothing() {
    let codeyard = with_crm("crm");
    for _ in 0..7 {
        call(&codeyard, "crm.find", json!({"id": 1})).await;
    }
    let rows = rows(&codeyard).await;
    assert_eq!(
        (&rows[0]["calls"], &rows[0]["steady"]),
        (&json!(7), &json!(0)),
        "{rows:?}"
    );
}

#[tokio::test]
async fn a_result_that_differs_is_an_event_without_its_value() {
    let mut client = CodeClient::of(with_crm("crm")).await;
    let ran = client
        .run("for n in range(51):\n    await tools.crm.find(id=1)\nfor n in range(30):\n    await tools.crm.find(id=3)")
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let CodeClient { mcp, codeyard } = client;
    mcp.finish().await.unwrap();
    let told = learned(&codeyard, &["crm.find", "--drift"]).await;
    assert_eq!(told.out.lines().count(), 1, "{told:?}");
    assert!(
        told.out.ends_with("  crm.find other_type result.id\n"),
        "{told:?}"
    );
    let told = learned(&codeyard, &["crm.find", "--drift", "--json"])
        .await
        .json();
    let event = &told["events"][0];
    assert_eq!(
        (&event["tool"], &event["kind"], &event["path"]),
        (&json!("crm.find"), &json!("other_type"), &json!("result.id"))
    );
    let none = learned(&codeyard, &["crm.note", "--drift", "--json"]).await;
    assert_eq!(none.json(), json!({"events": []}));
    assert!(!holds(&codeyard.data_directory(), "canary"));
}

#[tokio::test]
async fn learning_can_be_disabled_and_works_without_records() {
    let off = with_crm("crm").settings("[learned]\nenabled = false");
    find_both(&off).await;
    check_shown(&off, UNKNOWN).await;
    assert_eq!(rows(&off).await, Vec::<Value>::new());

    let in_memory = with_crm("crm").settings("[records]\nrecord = \"off\"");
    let file = in_memory.data_directory().join("codeyard.db");
    let mut client = CodeClient::of(in_memory).await;
    let ran = client
        .run("from mcp import runtime\nfor n in range(500):\n    await tools.crm.find(id=1)\n    found = (await runtime.search('find customer'))\n    if 'observed' in str(found):\n        return True")
        .await;
    assert_eq!(ran.result(), &json!(true), "{ran:?}");
    client.mcp.finish().await.unwrap();
    assert!(!file.exists());
}

#[tokio::test]
async fn wrong_settings_are_named() {
    let codeyard = with_crm("crm").settings("[learned]\nshare = true\nenabled = 1");
    let ended = learned(&codeyard, &[]).await;
    for part in [
        "learned.share",
        "did you mean `shared`",
        "learned.enabled",
        "expected true or false",
    ] {
        assert!(ended.err.contains(part), "{part}: {ended:?}");
    }
}
