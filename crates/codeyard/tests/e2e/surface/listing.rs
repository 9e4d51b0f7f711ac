//! The text sent to a model before its first call: small, and byte-identical for a configuration.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, McpClient, ServerDefinition, descendants};

/// Most tokens of names, descriptions, schemas and instructions: with the names of servers, and without.
const BUDGET: u64 = 300;
const BUDGET_WITHOUT_NAMES: u64 = 200;
/// Most tokens of the names of servers.
const NAMES: u64 = 100;

/// Settings that keep the names of servers out of the definitions.
const WITHOUT_NAMES: &str = "[surface]\nnames = false";

/// Installations with no server, the nine real ones and the whole catalogue, replayed.
fn installations() -> Vec<(&'static str, Codeyard)> {
    vec![
        ("no server", Codeyard::new().unwrap()),
        ("46 servers", Codeyard::new().unwrap().catalogue()),
        ("9 servers", Codeyard::new().unwrap().real_servers().unwrap()),
    ]
}

/// Requests the tools; returns the answer's line unchanged.
async fn listing(client: &mut McpClient) -> String {
    client.start("tools/list", json!({})).await.unwrap();
    client.line().await.unwrap()
}

/// Opens a connection; returns both lines that precede the model's first call.
async fn introduction(codeyard: &Codeyard, era: Era) -> (Value, String) {
    let mut client = codeyard.mcp_unopened().unwrap();
    let introduced = client.open(era).await.unwrap();
    let listed = listing(&mut client).await;
    assert_eq!(listing(&mut client).await.len(), listed.len(), "asked twice");
    let pid = client.pid().unwrap();
    let running = descendants(pid);
    assert!(
        !running
            .iter()
            .any(|process| process.command.contains("__supervise")),
        "no server starts before it is needed: {running:?}"
    );
    (introduced, listed)
}

#[tokio::test]
async fn without_names_the_list_is_byte_identical_for_all_servers() {
    for era in [Era::Old, Era::Legacy, Era::Modern] {
        let mut seen: Option<(&str, (Value, String))> = None;
        for (name, codeyard) in installations() {
            let now = introduction(&codeyard.settings(WITHOUT_NAMES), era).await;
            if let Some((other, before)) = &seen {
                assert_eq!(&now, before, "{era:?}: with {name} and with {other}");
            }
            seen = Some((name, now));
        }
    }
}

#[tokio::test]
async fn a_configuration_s_list_is_byte_identical_each_time() {
    for era in [Era::Old, Era::Legacy, Era::Modern] {
        for (name, codeyard) in installations() {
            let first = introduction(&codeyard, era).await;
            assert_eq!(introduction(&codeyard, era).await, first, "{era:?}: with {name}");
        }
    }
}

/// The description of the search tool.
async fn search_description(client: &mut McpClient) -> String {
    let tools = client.tools().await.unwrap();
    tools[1]["description"].as_str().unwrap().to_owned()
}

/// Checks that the description names these servers, in every state of the servers.
async fn check_named(codeyard: Codeyard, expected: &str) {
    let mut client = codeyard.mcp(Era::Legacy).await.unwrap();
    let description = search_description(&mut client).await;
    assert_eq!(
        description.strip_prefix("Find tools and their signatures."),
        Some(expected)
    );
}

#[tokio::test]
async fn the_definitions_name_the_client_s_visible_servers() {
    let stub = ServerDefinition::stub;
    let absent = ServerDefinition::new("no-such-command-anywhere", &[]);
    let denied = stub().field("deny", json!(["*"]));
    let several = || {
        Codeyard::new()
            .unwrap()
            .server("Weather (EU)", &stub())
            .server("absent", &absent)
            .server("git", &stub())
            .server("closed", &denied)
    };
    check_named(Codeyard::new().unwrap(), "").await;
    check_named(several(), " Servers: absent, git, weather_eu_.").await;
    check_named(several().settings(WITHOUT_NAMES), "").await;
    let rules = "[policy]\ndeny = [\"git.*\"]";
    check_named(several().settings(rules), " Servers: absent, weather_eu_.").await;
    let rules = "[policy]\nallow = [\"git.echo\", \"closed.echo\"]";
    check_named(several().settings(rules), " Servers: git.").await;
}

/// The texts that an installation's client receives.
async fn sent(codeyard: &Codeyard) -> Vec<String> {
    let (introduced, listed) = introduction(codeyard, Era::Legacy).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let mut sent = vec![introduced["instructions"].as_str().unwrap().to_owned()];
    for tool in listed["result"]["tools"].as_array().unwrap() {
        sent.push(tool["name"].as_str().unwrap().to_owned());
        sent.push(tool["description"].as_str().unwrap().to_owned());
        sent.push(tool["inputSchema"].to_string());
    }
    sent
}

#[tokio::test]
async fn the_text_sent_first_has_at_most_300_tokens_and_200_without_names() {
    let tokenizer = accounting::Tokenizer::load().unwrap();
    let mut totals = Vec::new();
    for (settings, budget) in [("", BUDGET), (WITHOUT_NAMES, BUDGET_WITHOUT_NAMES)] {
        for (name, codeyard) in installations() {
            let sent = sent(&codeyard.settings(settings)).await;
            let apart: u64 = sent.iter().map(|text| tokenizer.text(text)).sum();
            let joined = tokenizer.text(&sent.join("\n"));
            assert!(
                apart <= budget && joined <= budget,
                "{name}: {apart} tokens, joined {joined}: {sent:#?}"
            );
            totals.push(joined);
        }
    }
    let names = totals[..3]
        .iter()
        .zip(&totals[3..])
        .map(|(with, without)| with - without);
    assert!(
        names.clone().all(|names| names <= NAMES),
        "{:?}",
        names.collect::<Vec<_>>()
    );
    // This text alone must explain how to find a tool, how to call it, and where to read more.
    let sent = sent(&Codeyard::new().unwrap()).await.join("\n");
    for needed in [
        "search_tools",
        "execute_code",
        "await tools.<server>.<tool>(",
        "runtime.manual()",
        "may be text",
        "No network",
        "/results",
    ] {
        assert!(sent.contains(needed), "{needed} is not in {sent}");
    }
}

#[tokio::test]
async fn the_first_description_works_as_written() {
    let mut client = CodeClient::with_stub().await;
    let tools = client.mcp.tools().await.unwrap();
    let description = tools[0]["description"].as_str().unwrap();
    let manual = description.split('`').find(|part| part.contains("manual()"));
    let ran = client.run(manual.unwrap()).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    assert!(ran.stdout().len() > 100, "{ran:?}");
}

#[tokio::test]
async fn every_era_runs_programs() {
    for era in [Era::Old, Era::Legacy, Era::Modern] {
        let codeyard = Codeyard::with_stub().unwrap();
        let mut client = codeyard.mcp_unopened().unwrap();
        let introduced = client.open(era).await.unwrap();
        let version = match era {
            Era::Modern => &introduced["supportedVersions"],
            Era::Old | Era::Legacy => &introduced["protocolVersion"],
        };
        assert!(
            version == era.version()
                || version
                    .as_array()
                    .is_some_and(|all| all.contains(&era.version().into())),
            "{era:?}: {introduced}"
        );
        let code = "return (await tools.stub.add(a=20, b=22)).sum";
        let ran = client
            .call_tool("execute_code", json!({"code": code}))
            .await
            .unwrap();
        assert_eq!(ran["structuredContent"]["result"], 42, "{era:?}: {ran}");
        assert_eq!(ran["content"][0], json!({"type": "text", "text": "42"}));
        let found = client
            .call_tool("search_tools", json!({"query": "add numbers"}))
            .await
            .unwrap();
        assert_eq!(found["structuredContent"]["tools"][0]["tool"], "add", "{found}");
        // Every result of the newer era names its type; older eras lack the field.
        let complete = (era == Era::Modern).then_some("complete");
        for result in [&ran, &found] {
            assert_eq!(result["resultType"].as_str(), complete, "{era:?}: {result}");
        }
        assert!(client.finish().await.unwrap().success());
    }
}

#[tokio::test]
async fn the_first_answers_do_not_wait() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("hangs", &ServerDefinition::hostile("hang"))
        .server("absent", &ServerDefinition::new("no-such-command-anywhere", &[]))
        .settings("[python]\npath = \"/nowhere/python3\"");
    let mut client = codeyard.mcp(Era::Legacy).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    // Only programs need the interpreter; their error names its defect.
    let ran = client
        .call_tool("execute_code", json!({"code": "return 1"}))
        .await
        .unwrap();
    assert_eq!(ran["structuredContent"]["status"], "refused", "{ran}");
    let error = ran["structuredContent"]["error"].as_str().unwrap();
    assert!(error.contains("/nowhere/python3"), "{error}");
}
