//! Nine real servers of both eras in one program: the last section of `docs/start.md`, unchanged.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

use crate::hub::running_servers;

const PAGE: &str = include_str!("../../../../../docs/start.md");

/// The text of the section's only block of this kind.
fn block(kind: &str) -> &'static str {
    let (_, section) = PAGE.split_once("\n## Nine servers in one program\n").unwrap();
    let mut blocks = section.split("```").skip(1).step_by(2);
    let found = blocks.find_map(|block| block.strip_prefix(kind)?.strip_prefix('\n'));
    found.unwrap_or_else(|| panic!("no block of kind {kind}"))
}

#[tokio::test]
async fn one_program_uses_nine_real_servers() {
    let mut client = CodeClient::of(Codeyard::new().unwrap().real_servers().unwrap()).await;
    let ran = client
        .execute(json!({"code": block("python"), "timeout_ms": 240_000}))
        .await;
    assert_eq!(
        (ran.stdout(), ran.error()),
        (block("text"), ""),
        "{}",
        ran.shown()
    );
    assert_eq!(running_servers(&client), 9);
    // All servers still run for the next program and for another session, and keep their state.
    let found = client
        .search(json!({"query": "convert time between timezones", "limit": 1}))
        .await;
    assert_eq!(
        found["structuredContent"]["tools"][0]["tool"], "convert_time",
        "{found}"
    );
    let code = "print((await tools.memory.search_nodes(query='total')).entities[0].name)";
    let ran = client.run_in("other", code).await;
    assert_eq!(ran.stdout(), "report.txt\n", "{}", ran.shown());
    assert_eq!(running_servers(&client), 9);
}

#[tokio::test]
async fn the_page_names_the_servers_that_it_uses() {
    let definitions: serde_json::Value = serde_json::from_str(block("json")).unwrap();
    let named = definitions["mcpServers"].as_object().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let real = test_support::real_servers(directory.path()).unwrap();
    assert_eq!(named.len(), 9);
    for (name, entry) in named {
        let installed = real[name]["command"].as_str().unwrap();
        let command = entry["command"].as_str().unwrap();
        assert!(installed.ends_with(command), "{name}: {command}, {installed}");
        assert!(block("python").contains(&format!("tools.{name}.")), "{name}");
    }
}
