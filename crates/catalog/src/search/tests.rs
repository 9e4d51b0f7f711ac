//! What a query finds, and in which order.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool};

use crate::Catalog;

fn tool(name: &str, description: &str, input_schema: Value) -> Arc<Tool> {
    let definition = json!({"name": name, "description": description, "inputSchema": input_schema});
    Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
}

fn catalog() -> Catalog {
    let server = |name: &str, about: &str, tools: Vec<Arc<Tool>>| ServerTools {
        name: name.to_owned(),
        description: Some(about.to_owned()),
        cwd: None,
        tools: Some(tools.into()),
    };
    let state =
        json!({"properties": {"state": {"enum": ["merged", "draft"]}, "assigneeName": {"type": "string"}}});
    Catalog::build(&[
        server(
            "github",
            "Code hosting",
            vec![
                tool("create_issue", "Create a new issue in a repository", json!({})),
                tool("listPullRequests", "List pull requests of a repository", state),
                tool("search_code", "Search for code", json!({})),
            ],
        ),
        server(
            "mail",
            "A mailbox",
            vec![
                tool("send_message", "Send a message to somebody", json!({})),
                tool("list_messages", "List messages in a folder", json!({})),
            ],
        ),
        server(
            "jira",
            "Tickets",
            vec![tool(
                "create_issue",
                "Create a new issue in a repository",
                json!({}),
            )],
        ),
    ])
}

/// Checks the names of the first hits.
fn check(query: &str, expected: &[&str]) {
    let catalog = catalog();
    let hits = catalog.search(query, expected.len().max(1));
    let names: Vec<String> = hits.iter().map(|hit| hit.entry.tool.to_string()).collect();
    assert_eq!(names, expected, "{query}");
}

#[test]
fn names_descriptions_parameters_and_values_are_found() {
    check("send message", &["mail.send_message"]);
    check("messages", &["mail.send_message", "mail.list_messages"]);
    check("pull request", &["github.listPullRequests"]);
    check("requests pulled", &["github.listPullRequests"]);
    check("somebody", &["mail.send_message"]);
    check("assignee", &["github.listPullRequests"]);
    check("merged", &["github.listPullRequests"]);
}

#[test]
fn the_server_decides_between_equal_tools() {
    check("github create issue", &["github.create_issue"]);
    check("create issue in jira", &["jira.create_issue"]);
    check("tickets issue", &["jira.create_issue"]);
}

#[test]
fn equal_tools_of_two_servers_are_both_found() {
    let catalog = catalog();
    let hits = catalog.search("create issue", 2);
    let servers: Vec<&str> = hits.iter().map(|hit| hit.entry.tool.server.as_str()).collect();
    assert!(
        servers.contains(&"github") && servers.contains(&"jira"),
        "{servers:?}"
    );
}

#[test]
fn tools_are_found_by_meaning_synonyms_and_translations() {
    check("write a letter to my boss", &["mail.send_message"]);
    check("nachricht senden", &["mail.send_message"]);
    check("crear un ticket en jira", &["jira.create_issue"]);
}

#[test]
fn beginnings_and_typing_mistakes_are_repaired() {
    check("repo", &["github.create_issue"]);
    check("mesage", &["mail.send_message"]);
    check("qqqq", &[]);
}

#[test]
fn an_empty_query_lists_and_common_words_find_nothing() {
    check("", &["github.create_issue", "github.listPullRequests"]);
    check("  ?! ", &["github.create_issue"]);
    check("how do I", &[]);
}

#[test]
fn the_limit_and_the_scores_hold() {
    let catalog = catalog();
    let hits = catalog.ranked("list messages folder");
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(hits[0].entry.tool.to_string(), "mail.list_messages");
    assert!(catalog.search("issue", 0).is_empty());
    assert!(Catalog::build(&[]).search("issue", 5).is_empty());
}
