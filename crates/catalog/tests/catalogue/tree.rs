//! The tree below `/tools`: what S0-50 names, and what a change changes (S0-52).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use catalog::{Catalog, Entry, Learned};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool, WRITTEN_AT};

fn definition(definition: Value) -> Arc<Tool> {
    Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
}

fn server(name: &str, tools: &[Arc<Tool>]) -> ServerTools {
    ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools.into()),
    }
}

fn add() -> Arc<Tool> {
    definition(json!({
        "name": "add-all", "description": "Adds \"two\"\nnumbers. */ '''",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
        "_meta": {"created_from_ip": "10.1.2.3"},
    }))
}

fn echo(description: &str) -> Arc<Tool> {
    definition(json!({"name": "echo", "description": description, "inputSchema": {"type": "object"}}))
}

fn keys(catalog: &Catalog, visible: &dyn Fn(&Entry) -> bool, calls: u64) -> BTreeMap<String, [u8; 32]> {
    let learned = Arc::new(Learned {
        calls,
        ..Learned::of(&json!({"x": 1}))
    });
    let observed = |entry: &Entry| (entry.alias == "echo" && calls > 0).then(|| learned.clone());
    let files = catalog::tree(catalog, "here", visible, &observed).into_iter();
    files.map(|(name, file)| (name, file.key)).collect()
}

/// The names of the files that differ.
fn changed(before: &BTreeMap<String, [u8; 32]>, after: &BTreeMap<String, [u8; 32]>) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .cloned()
        .collect()
}

#[test]
fn s0_50_the_generated_files() {
    let catalog = Catalog::build(&[server("My-Stub", &[add(), echo("Echoes.")]), server("empty", &[])]);
    let files: BTreeMap<String, String> = catalog::tree(&catalog, "server-1", &|_| true, &|_| None)
        .into_iter()
        .map(|(name, file)| (name, String::from_utf8(file.content()).unwrap()))
        .collect();
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "tools/.search_index",
            "tools/_catalog.json",
            "tools/_runtime.py",
            "tools/_runtime.ts",
            "tools/_schema.json",
            "tools/empty/__init__.py",
            "tools/empty/_meta.json",
            "tools/empty/index.d.ts",
            "tools/my_stub/__init__.py",
            "tools/my_stub/_meta.json",
            "tools/my_stub/add_all.py",
            "tools/my_stub/add_all.ts",
            "tools/my_stub/echo.py",
            "tools/my_stub/echo.ts",
            "tools/my_stub/index.d.ts",
        ]
    );
    let parsed = |name: &str| serde_json::from_str::<Value>(&files[name]).unwrap();
    assert_eq!(
        parsed("tools/_schema.json"),
        json!({
            "version": "2026-02-01", "roots": ["/tools", "/scratch", "/skills", "/results"],
            "stub_language": "python", "stub_languages": ["python", "typescript"],
        })
    );
    assert_eq!(
        parsed("tools/my_stub/_meta.json"),
        json!({
            "server": "my_stub", "tool_count": 2, "auth_status": "unknown", "health": "unknown",
            "generated_at": WRITTEN_AT,
        })
    );
    let catalog = parsed("tools/_catalog.json");
    let keys: Vec<&String> = catalog.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "generated_at",
            "schema_version",
            "server_id",
            "tool_count",
            "tools"
        ]
    );
    assert_eq!(
        (&catalog["server_id"], &catalog["tool_count"]),
        (&json!("server-1"), &json!(2))
    );
    assert_eq!(
        catalog["tools"][0],
        json!({
            "id": "my_stub.add_all", "name": "my_stub.add_all", "original_name": "add-all", "server": "my_stub",
            "description": "Adds \"two\"\nnumbers. */ '''", "tags": [],
            "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
        })
    );
    // S0-D18.
    assert!(files.values().all(|text| !text.contains("10.1.2.3")));
    let index: Vec<&str> = files["tools/.search_index"].lines().collect();
    assert_eq!(
        index,
        [
            "my_stub/add_all.py:add_all(a: float) -> Text Adds \"two\" numbers. */ '''",
            "my_stub/echo.py:echo() -> Text Echoes.",
        ]
    );
    insta::assert_snapshot!(files["tools/my_stub/add_all.ts"]);
}

#[test]
fn s0_52_a_change_changes_its_own_files_and_the_lists() {
    let all = |_: &Entry| true;
    let lists = [
        server("one", &[add(), echo("Echoes.")]),
        server("two", &[echo("Echoes.")]),
    ];
    let catalog = Catalog::build(&lists);
    let before = keys(&catalog, &all, 0);
    // The same lists again, received another time.
    let again = Catalog::build(&[
        server("one", &[add(), echo("Echoes.")]),
        server("two", &[echo("Echoes.")]),
    ]);
    assert_eq!(changed(&before, &keys(&again, &all, 0)), [""; 0]);
    let of_all = ["tools/.search_index", "tools/_catalog.json"];
    let of_two = ["tools/two/__init__.py", "tools/two/_meta.json"];
    let echo_of_two = ["tools/two/echo.py", "tools/two/echo.ts", "tools/two/index.d.ts"];
    let other = Catalog::build(&[lists[0].clone(), server("two", &[echo("Echoes twice.")])]);
    let expected = [of_all.as_slice(), &of_two, &echo_of_two].concat();
    assert_eq!(changed(&before, &keys(&other, &all, 0)), expected);
    let fewer = Catalog::build(&lists[..1]);
    assert_eq!(changed(&before, &keys(&fewer, &all, 0)), expected);
    let hidden = |entry: &Entry| entry.tool.server != "two";
    assert_eq!(changed(&before, &keys(&catalog, &hidden, 0)), expected);
    // What was observed of both echoes.
    let observed = changed(&before, &keys(&catalog, &all, 5));
    assert!(
        observed.contains(&"tools/one/echo.py".to_owned())
            && !observed.contains(&"tools/one/add_all.py".to_owned())
    );
    assert_ne!(keys(&catalog, &all, 5), keys(&catalog, &all, 6));
}
