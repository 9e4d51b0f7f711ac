//! Clients' conversations with the demonstration servers: over stdio, in both eras, checked by the
//! servers' schemas.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{Era, McpClient};
use tokio::process::Command;

#[expect(clippy::disallowed_methods, reason = "the test starts the server itself")]
fn start(name: &str) -> McpClient {
    let test = std::env::current_exe().expect("the test knows its own path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in target/<profile>/deps");
    let mut command = Command::new(profile.join("examples/demo_server"));
    command.arg(name);
    McpClient::spawn(command).expect("the example starts")
}

/// Checks arguments and answer against the tool's schemas.
async fn call(client: &mut McpClient, tool: &str, arguments: Value) -> Value {
    let tools = client.tools().await.expect("a list");
    let definition = tools
        .iter()
        .find(|listed| listed["name"] == tool)
        .expect("a listed tool");
    let input = jsonschema::validator_for(&definition["inputSchema"]).expect("a schema");
    assert!(input.is_valid(&arguments), "{tool} {arguments}");
    let result = client.call_tool(tool, arguments).await.expect("an answer");
    assert_ne!(result["isError"], true, "{result}");
    let value = &result["structuredContent"];
    let output = jsonschema::validator_for(&definition["outputSchema"]).expect("a schema");
    if let Err(error) = output.validate(value) {
        panic!("{tool}: {error}");
    }
    let text = result["content"][0]["text"].as_str().expect("the same as text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), *value);
    value.clone()
}

async fn refusal(client: &mut McpClient, tool: &str, arguments: Value) -> String {
    let result = client.call_tool(tool, arguments).await.expect("an answer");
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn every_server_introduces_itself_in_every_era() {
    for name in demo_servers::names() {
        for era in [Era::Old, Era::Legacy, Era::Modern] {
            let mut client = start(name);
            let introduction = client.open(era).await.expect("an introduction");
            assert!(introduction["instructions"].is_string(), "{introduction}");
            for tool in client.tools().await.expect("a list") {
                for field in [
                    "title",
                    "description",
                    "inputSchema",
                    "outputSchema",
                    "annotations",
                ] {
                    assert!(!tool[field].is_null(), "{name}: {} has no {field}", tool["name"]);
                }
            }
            assert!(client.finish().await.expect("it ends").success());
        }
    }
}

#[tokio::test]
async fn the_workbook_is_read_whole_or_in_parts() {
    let mut client = start("orders");
    client.open(Era::Modern).await.expect("an introduction");
    let sheets = call(&mut client, "list_sheets", json!({})).await;
    assert_eq!(sheets["sheets"][0]["rows"], 10_000);
    let all = call(&mut client, "read_rows", json!({"limit": 10_000})).await;
    let rows = all["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10_000);
    let part = call(&mut client, "read_rows", json!({"offset": 9_990, "limit": 50})).await;
    assert_eq!(part["rows"].as_array().expect("rows").as_slice(), &rows[9_990..]);
    let products = call(&mut client, "read_rows", json!({"sheet": "products"})).await;
    assert_eq!(products["total"], 8);
    let columns = call(&mut client, "describe", json!({})).await["columns"].clone();
    let status = columns
        .as_array()
        .expect("columns")
        .iter()
        .find(|column| column["name"] == "status");
    assert_eq!(
        status.expect("a column")["values"],
        json!(["cancelled", "open", "paid"])
    );
    let refused = refusal(&mut client, "read_rows", json!({"limit": 10_001})).await;
    assert_eq!(refused, "`limit` must lie between 1 and 10000");
    assert!(
        refusal(&mut client, "read_rows", json!({"rows": 5}))
            .await
            .contains("unknown field `rows`")
    );
}

#[tokio::test]
async fn customers_can_be_found_and_changed() {
    let mut client = start("crm");
    client.open(Era::Legacy).await.expect("an introduction");
    let all = call(&mut client, "list_customers", json!({"limit": 1000})).await;
    assert_eq!(all["total"], 500);
    assert_eq!(all["customers"].as_array().expect("customers").len(), 500);
    let some = call(
        &mut client,
        "list_customers",
        json!({"tier": "enterprise", "region": "APAC", "limit": 3}),
    )
    .await;
    let first = &some["customers"][0];
    assert_eq!(
        (&first["tier"], &first["region"]),
        (&json!("enterprise"), &json!("APAC"))
    );

    let number = first["customer_id"].clone();
    let updates = json!({"updates": [{"customer_id": number, "risk": "high", "payment_hold": true},
        {"customer_id": "C-9999", "note": "x"}]});
    let changed = call(&mut client, "update_customers", updates).await;
    assert_eq!(changed, json!({"updated": 1, "unknown": ["C-9999"]}));
    let noted = call(
        &mut client,
        "update_customer",
        json!({"customer_id": number, "note": "called"}),
    )
    .await;
    let read = call(&mut client, "get_customer", json!({"customer_id": number})).await;
    assert_eq!(noted, read);
    assert_eq!(
        (&read["risk"], &read["payment_hold"], &read["note"]),
        (&json!("high"), &json!(true), &json!("called"))
    );
    let refused = refusal(&mut client, "get_customer", json!({"customer_id": "C-9999"})).await;
    assert_eq!(refused, "no customer has the number 'C-9999'");
}

#[tokio::test]
async fn mails_are_kept() {
    let mut client = start("mailbox");
    client.open(Era::Modern).await.expect("an introduction");
    for subject in ["first", "second"] {
        let mail = json!({"to": ["a@yard.example", "b@yard.example"], "subject": subject, "body": "text"});
        let sent = call(&mut client, "send_mail", mail).await;
        assert_eq!(sent["accepted"], 2);
    }
    let sent = call(&mut client, "list_sent", json!({})).await;
    assert_eq!(
        (&sent["total"], &sent["messages"][0]["subject"]),
        (&json!(2), &json!("second"))
    );
    let nobody = json!({"to": [], "subject": "x", "body": ""});
    assert_eq!(
        refusal(&mut client, "send_mail", nobody).await,
        "`to` must be 1 to 50 long"
    );
}

#[tokio::test]
async fn an_unknown_name_is_refused_with_the_known_ones() {
    let mut client = start("nothing");
    assert!(!client.wait().await.expect("it ends").success());
    let what = "no demo server named 'nothing': there are orders, crm, mailbox";
    test_support::wait_until("it has said why", || client.stderr().contains(what).then_some(())).await;
}
