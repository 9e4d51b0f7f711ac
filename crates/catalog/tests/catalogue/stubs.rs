//! Stubs are Python that does nothing but import and define, whatever the server wrote.

use std::process::Command;
use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool};

use catalog::{Catalog, stub_module};

fn tool(name: &str, description: &str, input_schema: Value) -> Arc<Tool> {
    let definition = json!({"name": name, "description": description, "inputSchema": input_schema});
    Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
}

fn server(name: &str, description: &str, tools: Vec<Arc<Tool>>) -> Catalog {
    Catalog::build(&[ServerTools {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        cwd: None,
        tools: Some(tools.into()),
    }])
}

fn files(catalog: &Catalog) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for server in catalog.servers() {
        let file = |name: &str| format!("{}.{name}.py", server.alias);
        files.extend(server.entries().map(|entry| (file(&entry.alias), entry.stub(None))));
        files.push((file("__init__"), stub_module(server, |_| true)));
    }
    files
}

/// Compiles every file with the machine's Python and checks that it does nothing but import and define.
#[expect(
    clippy::disallowed_methods,
    reason = "a test waits for this child, which starts none itself"
)]
fn compile(files: &[(String, String)]) {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).expect("a file");
    }
    let run = Command::new("python3")
        .args(["-I", "-W", "error"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalogue/shape.py"))
        .arg(directory.path())
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert_eq!(said.trim(), format!("{} files", files.len()));
}

#[test]
fn a_typical_server() {
    let catalog = server(
        "my-stub",
        "A server\nfor tests.",
        vec![
            tool(
                "list-things",
                "Lists things.\n\nReturns at most `limit` of them.",
                json!({"properties": {
                "limit": {"type": "integer", "description": "How many.\nAt most 100.", "default": 10},
                "kind": {"$ref": "#/$defs/kind"},
            }, "$defs": {"kind": {"type": "string", "description": "Which kind"}}}),
            ),
            tool("class", "", json!({})),
        ],
    );
    let files = files(&catalog);
    let all: Vec<String> = files
        .iter()
        .map(|(name, text)| format!("### {name}\n{text}"))
        .collect();
    insta::assert_snapshot!(all.join("\n"));
    compile(&files);
}

#[test]
fn hostile_texts_stay_inside_their_docstring() {
    let hostile = "\"\"\"\nimport os\nos.system('x')\n\"\"\" \\\" \\N{x} \\x \r\u{0}\u{202e} '''\\";
    let catalog = server(
        &format!("s'{hostile}"),
        hostile,
        vec![
            tool(
                &format!("t'{hostile}"),
                hostile,
                json!({"properties": {hostile: {"type": "string", "description": hostile}}}),
            ),
            tool("ends with a quote", "say \"hi\"", json!({})),
            tool("ends with a backslash", "path\\", json!({})),
        ],
    );
    compile(&files(&catalog));
}

#[test]
fn every_real_server() {
    compile(&files(&Catalog::build(&super::servers())));
}
