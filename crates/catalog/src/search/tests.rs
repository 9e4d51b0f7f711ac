//! What a query finds, and in which order.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool};

use crate::{Catalog, Hit, Search};

fn tool(name: &str, description: &str, input_schema: Value) -> Arc<Tool> {
    let definition = json!({"name": name, "description": description, "inputSchema": input_schema});
    Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
}

fn search() -> Search {
    let server = |name: &str, about: &str, tools: Vec<Arc<Tool>>| ServerTools {
        name: name.to_owned(),
        description: Some(about.to_owned()),
        cwd: None,
        tools: Some(tools.into()),
    };
    let state =
        json!({"properties": {"state": {"enum": ["merged", "draft"]}, "assigneeName": {"type": "string"}}});
    built(&[
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

fn built(servers: &[ServerTools]) -> Search {
    Search::build(Arc::new(Catalog::build(servers)))
}

fn names(hits: &[Hit<'_>]) -> Vec<String> {
    hits.iter().map(|hit| hit.entry.tool.to_string()).collect()
}

/// Checks the names of the first hits.
fn check(query: &str, expected: &[&str]) {
    let search = search();
    let found = search.find(query, |_| true);
    let first = found.hits.len().min(expected.len().max(1));
    assert_eq!(names(&found.hits[..first]), expected, "{query}: {found:?}");
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
    let search = search();
    let found = search.find("create issue", |_| true);
    let servers: Vec<&str> = found
        .hits
        .iter()
        .map(|hit| hit.entry.tool.server.as_str())
        .collect();
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
    check("isue", &["jira.create_issue"]);
    check("qqqq", &[]);
}

#[test]
fn a_query_for_the_tools_of_a_server_lists_them() {
    let search = search();
    let all: Vec<String> = names(&search.find("", |_| true).hits);
    for server in ["github", "mail"] {
        let theirs: Vec<&String> = all
            .iter()
            .filter(|name| name.starts_with(&format!("{server}.")))
            .collect();
        assert!(!theirs.is_empty(), "{all:?}");
        for query in [
            format!("{server} tools"),
            format!("List all tools of the {server} server."),
        ] {
            let found = names(&search.find(&query, |_| true).hits);
            assert!(found.iter().eq(theirs.iter().copied()), "{query}: {found:?}");
        }
    }
}

#[test]
fn an_empty_query_lists_and_common_words_find_nothing() {
    check("", &["github.create_issue", "github.listPullRequests"]);
    check(" \t", &["github.create_issue"]);
    for query in ["how do I", "?!", "\u{0}\u{1b}", "\u{200b}"] {
        check(query, &[]);
    }
}

#[test]
fn the_limit_and_the_scores_hold() {
    let search = search();
    let found = search.find("list messages folder", |_| true);
    assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(names(&found.hits)[0], "mail.list_messages");
    assert!(built(&[]).find("issue", |_| true).hits.is_empty());
}

#[test]
fn what_is_not_visible_is_neither_found_nor_near() {
    let search = search();
    for query in ["send message", "message", "", "feed the parrots its message"] {
        let found = search.find(query, |entry| entry.tool.server != "mail");
        let shown = [names(&found.hits), names(&found.nearest)].concat();
        assert!(
            shown.iter().all(|name| !name.starts_with("mail.")),
            "{query}: {shown:?}"
        );
    }
}

/// Hiding a server leaves the other results unchanged, apart from the scale of their scores.
#[test]
fn hidden_tools_do_not_tell_which_words_they_hold() {
    let visible = |name: &str, about: &str, tools: Vec<Arc<Tool>>| ServerTools {
        name: name.to_owned(),
        description: Some(about.to_owned()),
        cwd: None,
        tools: Some(tools.into()),
    };
    let crm = visible(
        "crm",
        "",
        vec![
            tool("find", "Find a customer", json!({})),
            tool("list", "List orders", json!({})),
        ],
    );
    let vault = |said: &str| {
        visible(
            "vault",
            said,
            vec![tool("open", "Open the safe with its key", json!({}))],
        )
    };
    let found = |hidden: &str, query: &str| {
        let search = built(&[crm.clone(), vault(hidden)]);
        let found = search.find(query, |entry| entry.tool.server != "vault");
        let bits = |hits: &[Hit<'_>]| hits.iter().map(|hit| hit.score.to_bits()).collect::<Vec<_>>();
        (
            names(&found.hits),
            bits(&found.hits),
            names(&found.nearest),
            bits(&found.nearest),
        )
    };
    for query in [
        "custommer",
        "custo",
        "vault customer",
        "order zebra",
        "customer ordre",
    ] {
        let without = found("Nothing else here", query);
        let with = found("custommer custo zebra ordre", query);
        assert_eq!(with, without, "{query}");
    }
    assert_eq!(found("custommer", "custommer").0, ["crm.find"]);
}

#[test]
fn a_query_without_an_answer_has_no_hits_and_names_the_nearest() {
    let search = search();
    let found = search.find("order a pizza with extra cheese for the neighbours", |_| true);
    assert!(
        found.hits.is_empty() && (1..=3).contains(&found.nearest.len()),
        "{found:?}"
    );
    // If no word matches, the entries that are nearest in meaning.
    for query in ["weather", "order pizza"] {
        let found = search.find(query, |entry| entry.tool.server != "jira");
        assert!(
            found.hits.is_empty() && found.nearest.len() == 3,
            "{query}: {found:?}"
        );
        assert!(
            found.nearest.iter().all(|hit| hit.entry.tool.server != "jira"),
            "{found:?}"
        );
    }
    for query in ["how do I", "?!", "\u{0}\u{1b}"] {
        assert!(search.find(query, |_| true).nearest.is_empty(), "{query}");
    }
}

#[test]
fn an_update_finds_the_same_as_a_new_build() {
    let catalogs = [search().catalog().clone(), Arc::new(Catalog::build(&[]))];
    let mut updated = Search::default();
    for catalog in catalogs.iter().cycle().take(5) {
        updated = updated.update(catalog.clone());
    }
    let (old, new) = (updated.find("create issue", |_| true), search());
    let new = new.find("create issue", |_| true);
    let of = |hits: &[Hit<'_>]| {
        hits.iter()
            .map(|hit| (hit.entry.tool.to_string(), hit.score.to_bits()))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&old.hits), of(&new.hits));
}

#[test]
fn a_search_asks_once_for_each_tool_whether_it_is_visible() {
    let tools = (0..2_000).map(|n| {
        tool(
            &format!("create_issue_{n}"),
            "Creates an issue in a repository",
            json!({}),
        )
    });
    let search = built(&[ServerTools {
        name: "crowd".to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools.collect()),
    }]);
    for query in ["create issue", "crxate an issue in a repositori", "iss"] {
        let asked = std::cell::Cell::new(0);
        let found = search.find(query, |_| {
            asked.set(asked.get() + 1);
            false
        });
        assert!(found.hits.is_empty() && found.nearest.is_empty(), "{query}");
        assert!(asked.get() <= 2_000, "{query}: {}", asked.get());
    }
}
