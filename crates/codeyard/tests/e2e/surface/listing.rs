//! What a model is sent before it asks: small, and the same bytes for a configuration.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, McpClient, ServerDefinition, descendants};

/// Most tokens of names, descriptions, schemas and instructions, with the names of servers and without.
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

/// Asks for the tools and returns the answer's line as it came.
async fn listing(client: &mut McpClient) -> String {
    client.start("tools/list", json!({})).await.unwrap();
    client.line().await.unwrap()
}

/// Opens a connection and returns both lines that come before any question of the model's.
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
async fn without_names_the_list_of_tools_is_the_same_bytes_whatever_is_connected() {
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
async fn a_configuration_is_listed_in_the_same_bytes_each_time() {
    for era in [Era::Old, Era::Legacy, Era::Modern] {
        for (name, codeyard) in installations() {
            let first = introduction(&codeyard, era).await;
            assert_eq!(introduction(&codeyard, era).await, first, "{era:?}: with {name}");
        }
    }
}

/// The description of the tool that finds tools.
async fn search_description(client: &mut McpClient) -> String {
    let tools = client.tools().await.unwrap();
    tools[1]["description"].as_str().unwrap().to_owned()
}

/// What it says of these servers, as it does in every state of them.
async fn check_named(codeyard: Codeyard, expected: &str) {
    let mut client = codeyard.mcp(Era::Legacy).await.unwrap();
    let description = search_description(&mut client).await;
    assert_eq!(
        description.strip_prefix("Find tools and their signatures."),
        Some(expected)
    );
}

#[tokio::test]
async fn the_definitions_name_the_servers_that_the_client_may_see() {
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

/// What an installation's client is sent, as texts.
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
async fn what_a_model_is_sent_first_costs_at_most_300_tokens_and_200_without_names() {
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
    // Who has read only this must know how to find a tool, how to call it, and where the rest stands.
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
async fn what_the_first_description_says_works_as_it_is_written() {
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
        // Every result of the newer era says what it is; the older ones do not know the word.
        let complete = (era == Era::Modern).then_some("complete");
        for result in [&ran, &found] {
            assert_eq!(result["resultType"].as_str(), complete, "{era:?}: {result}");
        }
        assert!(client.finish().await.unwrap().success());
    }
}

#[tokio::test]
async fn the_first_answers_wait_for_nothing() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("hangs", &ServerDefinition::hostile("hang"))
        .server("absent", &ServerDefinition::new("no-such-command-anywhere", &[]))
        .settings("[python]\npath = \"/nowhere/python3\"");
    let mut client = codeyard.mcp(Era::Legacy).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    // Only a program needs the interpreter, and it is told what is wrong with it.
    let ran = client
        .call_tool("execute_code", json!({"code": "return 1"}))
        .await
        .unwrap();
    assert_eq!(ran["structuredContent"]["status"], "refused", "{ran}");
    let error = ran["structuredContent"]["error"].as_str().unwrap();
    assert!(error.contains("/nowhere/python3"), "{error}");
}
