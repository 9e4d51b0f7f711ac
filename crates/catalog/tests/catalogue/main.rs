//! Tools of real servers can be named, found, described, written as Python and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use catalog::{Catalog, Search};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use types::{ServerTools, Tool};

mod queries;
mod stubs;
mod tree;

/// The servers' lists, by name.
fn servers() -> Vec<ServerTools> {
    let servers = test_support::catalogue::lists().expect("the lists");
    assert_eq!(servers.len(), 46);
    servers
}

fn tool(definition: Box<RawValue>) -> Arc<Tool> {
    Arc::new(Tool::parse(definition).expect("a definition"))
}

#[test]
fn every_tool_has_names_that_lead_back_to_it() {
    let catalog = Catalog::build(&servers());
    assert_eq!(catalog.entries().count(), 2_040);
    let mut aliases = BTreeSet::new();
    for entry in catalog.entries() {
        assert!(
            aliases.insert((&entry.server_alias, &entry.alias)),
            "{}",
            entry.tool
        );
        for (server, tool) in [
            (&entry.tool.server, &entry.tool.tool),
            (&entry.server_alias, &entry.alias),
        ] {
            assert_eq!(catalog.resolve(server, tool).expect("known").tool, entry.tool);
        }
    }
}

#[test]
fn signatures_are_short_and_name_every_required_parameter() {
    let catalog = Catalog::build(&servers());
    let mut lengths: Vec<usize> = Vec::new();
    for entry in catalog.entries() {
        let line = entry.signature();
        lengths.push(line.len());
        assert!(line.len() <= 700 && !line.contains('\n'), "{line}");
        let input = entry.definition.input_schema();
        for name in input["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            assert!(line.contains(name), "{name} is not in {line}");
        }
    }
    lengths.sort_unstable();
    assert!(
        lengths[lengths.len() / 2] < 150,
        "median {}",
        lengths[lengths.len() / 2]
    );
}

#[test]
fn signatures_of_known_tools() {
    let catalog = Catalog::build(&servers());
    let shown = [
        ("calculator", "calculate"),
        ("filesystem", "list_directory"),
        ("memory", "create_entities"),
        ("ref-github", "create_issue"),
        ("git-cyanheads", "git_log"),
        ("notion", "API-post-page"),
        ("ms365", "create-calendar-event"),
        ("azure", "acr_registry_list"),
        ("linear", "none"),
    ];
    let lines = shown.map(|(server, tool)| match catalog.resolve(server, tool) {
        Ok(entry) => entry.signature().to_owned(),
        Err(unknown) => unknown.to_string(),
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn arguments_are_checked_by_every_schema() {
    let catalog = Catalog::build(&servers());
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    for entry in catalog.entries() {
        let check = entry.check();
        for note in check.notes() {
            *notes.entry(note.clone()).or_default() += 1;
        }
        let required = entry.definition.input_schema()["required"]
            .as_array()
            .map_or(0, Vec::len);
        let checked = entry.validate(&check, &json!({}));
        assert_eq!(checked.is_err(), required > 0, "{}: {checked:?}", entry.tool);
    }
    let expected = [
        ("a 'pattern' that is not understood".to_owned(), 1),
        ("the deeper levels of recursive parts".to_owned(), 10),
    ];
    assert_eq!(notes.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn typical_calls_pass_and_wrong_ones_are_explained() {
    let catalog = Catalog::build(&servers());
    let check = |server: &str, tool: &str, arguments: Value, expected: &str| {
        let entry = catalog.resolve(server, tool).expect("known");
        let said = entry
            .validate(&entry.check(), &arguments)
            .map_or_else(|error| error.to_string(), |()| "ok".to_owned());
        assert_eq!(said, expected, "{arguments}");
    };
    check(
        "ref_github",
        "create_issue",
        json!({"owner": "o", "repo": "r", "title": "t"}),
        "ok",
    );
    check(
        "ref_github",
        "create_issue",
        json!({"owner": "o", "repository": "r", "title": "t"}),
        "missing required argument 'repo': str; unknown argument 'repository'; did you mean 'repo'?",
    );
    check(
        "time",
        "convert_time",
        json!({"source_timezone": "UTC", "time": 12, "target_timezone": "UTC"}),
        "argument 'time' must be str, not int 12",
    );
    check(
        "memory",
        "create_entities",
        json!({"entities": [{"name": "a", "entityType": "t"}]}),
        "argument 'entities[0]' lacks 'observations'",
    );
}

#[test]
fn search_finds_tools_of_real_servers() {
    let search = Search::build(Arc::new(Catalog::build(&servers())));
    let check = |query: &str, expected: &str| {
        let found = search.find(query, |_| true);
        let names: Vec<String> = found
            .hits
            .iter()
            .take(5)
            .map(|hit| hit.entry.tool.to_string())
            .collect();
        assert!(names.iter().any(|name| name == expected), "{query}: {names:?}");
    };
    check("read multiple files", "filesystem.read_multiple_files");
    check("pivot table", "excel.create_pivot_table");
    check("convert a time between timezones", "time.convert_time");
    check("fork a repository on github", "ref-github.fork_repository");
    check("take a screenshot", "playwright.browser_take_screenshot");
}

#[test]
fn an_update_keeps_what_did_not_change() {
    let mut servers = servers();
    let before = Catalog::build(&servers);
    servers[0].tools = None;
    let listed = servers[1].tools.take().expect("tools");
    let (first, second) = (listed[0].name.clone(), listed[1].name.clone());
    let changed = json!({"name": first, "description": "Xylophone", "inputSchema": {}});
    let changed = tool(to_raw_value(&changed).expect("JSON"));
    // The other tools are received again: equal, but not the same in memory.
    let others = listed[1..].iter().map(|each| tool(each.definition().to_owned()));
    servers[1].tools = Some([changed].into_iter().chain(others).collect());
    let after = before.update(&servers);
    let same = |server: &str, tool: &str| {
        let (old, new) = (before.resolve(server, tool), after.resolve(server, tool));
        Arc::ptr_eq(old.expect("known"), new.expect("known"))
    };
    let changed = servers[1].name.clone();
    assert!(!same(&changed, &first));
    assert!(same(&changed, &second));
    assert!(same("time", "convert_time"));
    assert!(!after.servers().next().expect("a server").listed);
    let search = Search::build(Arc::new(before)).update(Arc::new(after));
    let found = search.find("xylophone", |_| true);
    assert_eq!(found.hits[0].entry.tool.tool, first);
}
