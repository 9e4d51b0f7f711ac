//! Names that lead to a tool, and hints for those that do not.

use serde_json::json;
use serde_json::value::to_raw_value;
use types::{ServerTools, Tool};

use super::*;

fn catalog() -> Catalog {
    let tool = |name: &str| {
        let definition =
            to_raw_value(&json!({"name": name, "inputSchema": {"type": "object"}})).expect("JSON");
        Arc::new(Tool::parse(definition).expect("a definition"))
    };
    let server = |name: &str, tools: Option<&[&str]>| ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools: tools.map(|names| names.iter().map(|name| tool(name)).collect()),
    };
    Catalog::build(&[
        server("github", Some(&["create_issue", "list_issues", "get_me"])),
        server("my-stub", Some(&["add", "list-things", "class", "getIssue"])),
        server("my_stub", Some(&["ping"])),
        server("1password", Some(&["read", "get_me"])),
        server("asleep", None),
        server("twins", Some(&["a-b", "a.b", "add", "add"])),
    ])
}

/// The tool that a pair of names resolves to, or the hint.
fn resolved(server: &str, tool: &str) -> String {
    match catalog().resolve(server, tool) {
        Ok(entry) => format!("{} ({}.{})", entry.tool, entry.server_alias, entry.alias),
        Err(unknown) => match &unknown.hint {
            Some(hint) => format!("{unknown}; {hint}"),
            None => unknown.to_string(),
        },
    }
}

fn check(server: &str, tool: &str, expected: &str) {
    assert_eq!(resolved(server, tool), expected, "{server}.{tool}");
}

#[test]
fn exact_names_come_first() {
    check(
        "github",
        "create_issue",
        "github.create_issue (github.create_issue)",
    );
    check("my_stub", "ping", "my_stub.ping (my_stub.ping)");
    check("my-stub", "add", "my-stub.add (my_stub_2.add)");
    check("my-stub", "getIssue", "my-stub.getIssue (my_stub_2.getissue)");
}

#[test]
fn aliases_and_spellings_are_accepted() {
    check(
        "my_stub_2",
        "list_things",
        "my-stub.list-things (my_stub_2.list_things)",
    );
    check(
        "my-stub",
        "list_things",
        "my-stub.list-things (my_stub_2.list_things)",
    );
    check("my-stub", "class_", "my-stub.class (my_stub_2.class_)");
    check("_1password", "read", "1password.read (_1password.read)");
    check(
        "GitHub",
        "Create-Issue",
        "github.create_issue (github.create_issue)",
    );
    check("twins", "a_b", "twins.a-b (twins.a_b)");
    check("twins", "a_b_2", "twins.a.b (twins.a_b_2)");
}

#[test]
fn a_spelling_that_two_names_share_means_neither() {
    check(
        "My-Stub",
        "add",
        "unknown server 'My-Stub'; did you mean 'my-stub'?",
    );
    check(
        "twins",
        "a b",
        "server 'twins' has no tool 'a b'; did you mean 'a-b'?",
    );
}

#[test]
fn the_nearest_name_is_proposed() {
    check(
        "githb",
        "create_issue",
        "unknown server 'githb'; did you mean 'github'?",
    );
    check(
        "github",
        "create_isue",
        "server 'github' has no tool 'create_isue'; did you mean 'create_issue'?",
    );
    check(
        "github",
        "issue_create",
        "server 'github' has no tool 'issue_create'; did you mean 'create_issue'?",
    );
    check(
        "github",
        "ping",
        "server 'github' has no tool 'ping'; server 'my_stub' has a tool of this name",
    );
    check(
        "github",
        "zzzzzzzz",
        "server 'github' has no tool 'zzzzzzzz'; its tools are 'create_issue', 'list_issues', 'get_me'",
    );
    check(
        "zzzzzzzzzzzz",
        "x",
        "unknown server 'zzzzzzzzzzzz'; the servers are 'github', 'my-stub', 'my_stub', '1password', 'asleep', 'twins'",
    );
}

#[test]
fn a_server_that_was_not_asked_yet_is_told_apart() {
    let catalog = catalog();
    let unknown = catalog.resolve("Asleep", "anything").expect_err("no list");
    assert_eq!(unknown.kind, UnknownKind::NotListed("asleep".to_owned()));
}

#[test]
fn a_tool_without_a_server_is_found_if_one_server_has_it() {
    check("", "create_issue", "github.create_issue (github.create_issue)");
    check("", "list_things", "my-stub.list-things (my_stub_2.list_things)");
    check(
        "",
        "get_me",
        "no single tool is named 'get_me'; name the server: 'github' or '1password'",
    );
    check(
        "",
        "create_isue",
        "no single tool is named 'create_isue'; did you mean 'create_issue'?",
    );
    check("", "shell_exec", "no single tool is named 'shell_exec'");
}

#[test]
fn hostile_names_cost_little_and_stay_on_one_line() {
    let long = "x".repeat(10_000_000);
    let text = resolved("github", &long);
    assert!(text.len() < 1000, "{} characters", text.len());
    assert!(!resolved("a\nb\u{202e}", "c\u{0}").contains(['\n', '\u{0}', '\u{202e}']));
    assert_eq!(resolved("", ""), "no single tool is named ''");
}
