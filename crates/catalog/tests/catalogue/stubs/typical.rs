//! What declarations look like, and that they reveal a program's mistakes.

use std::sync::Arc;

use catalog::{Catalog, Language, Learned, declarations};
use serde_json::{Value, json};

use super::{assert_inert, objections, parsed, server, tool, tree, written};

fn issues() -> Catalog {
    let label = json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "What it is called, e.g. 'bug'. At most 50 characters."},
        "color": {"type": ["string", "null"], "description": "type: of CSS\nor a number"},
    }, "required": ["name"]});
    let create = json!({
        "name": "create-issue",
        "description": "Creates an issue.\n\nIt is shown to everybody.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "state": {"enum": ["open", "closed"], "default": "open"},
                "title": {"type": "string", "description": "What it is about.\nAt most 100 characters."},
                "labels": {"type": "array", "items": {"$ref": "#/$defs/label"}},
                "limit": {"type": "integer", "default": 10},
                "details": {"type": "object"},
            },
            "required": ["title"],
            "$defs": {"label": label},
        },
        "outputSchema": {
            "type": "object",
            "properties": {"number": {"type": "integer"}, "url": {"type": "string"}, "labels": {"type": "array", "items": label}},
            "required": ["number", "url", "labels"],
        },
    });
    let tree = json!({
        "properties": {"@root": {"$ref": "#/$defs/node"}, "depth": {"type": "integer"}},
        "$defs": {"node": {"properties": {"class": {"type": "string", "description": "\u{202e}Of CSS.\u{2028}"}, "inner": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}},
    });
    let tools = vec![
        parsed(create),
        tool("walk", "Walks a tree.", tree),
        tool("class", "", json!({})),
        tool(
            "delete",
            "Deletes \"all\".",
            json!({"additionalProperties": {"type": "string"}}),
        ),
    ];
    Catalog::build(&[server("my-tracker", "A tracker\nof issues.", tools)])
}

fn learned() -> Learned {
    let schema: Value = json!({
        "type": "object",
        "properties": {"count": {"type": "integer"}, "items": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}},
        "required": ["count"],
    });
    Learned {
        schema,
        calls: 12,
        steady: 9,
    }
}

#[test]
fn a_typical_server() {
    let catalog = issues();
    let observed = |entry: &catalog::Entry| (entry.alias == "walk").then(|| Arc::new(learned()));
    let server = catalog.servers().next().expect("a server");
    let mut shown = Vec::new();
    for files in [
        tree(&catalog, &observed),
        declarations(
            server,
            Language::Python,
            &|entry| entry.alias == "walk",
            &observed,
        ),
        declarations(server, Language::TypeScript, &|_| true, &observed),
    ] {
        shown.extend(
            files
                .into_iter()
                .map(|(name, text)| format!("### {name}\n{text}")),
        );
    }
    insta::assert_snapshot!(shown.join("\n"));
    assert_inert(written(&catalog).path(), 5);
}

#[test]
fn a_signature_says_what_was_observed() {
    let catalog = issues();
    let entry = |tool: &str| catalog.resolve("my-tracker", tool).expect("known");
    let check =
        |tool: &str, expected: &str| assert_eq!(entry(tool).signature_with(Some(&learned())), expected);
    check(
        "class",
        "class_() -> {count: int, items?: list[{id: str}]}  # observed in 12 calls",
    );
    // A declared result has precedence over an observed one.
    assert_eq!(
        entry("create-issue").signature_with(Some(&learned())),
        entry("create-issue").signature()
    );
    let once = Learned {
        schema: json!({"type": "string"}),
        calls: 1,
        steady: 0,
    };
    assert_eq!(
        entry("class").signature_with(Some(&once)),
        "class_() -> str  # observed in 1 call"
    );
}

#[test]
fn declarations_tell_wrong_programs() {
    let directory = written(&issues());
    let python = "from tools.my_tracker.create_issue import create_issue\n\
                  from tools.my_tracker import walk\n\
                  async def program() -> None:\n    \
                      issue = await create_issue(title='a', state='open', labels=[{'name': 'x'}])\n    \
                      print(issue['number'] + 1, issue['labels'][0].get('color'))\n    \
                      await walk({'@root': {'inner': [{'class': 'x'}]}})\n    \
                      await create_issue(state='open')\n    \
                      await create_issue(title='a', state='new')\n    \
                      await create_issue(title='a', limits=3)\n    \
                      print(issue['nummer'])\n    \
                      await walk({'@root': {'inner': [{'class': 1}]}})\n";
    std::fs::write(directory.path().join("python/program.py"), python).expect("a file");
    let typescript = "import { create_issue, walk, delete$ } from \"./tools/my_tracker\";\n\
                      const issue = await create_issue({ title: \"a\", state: \"open\", labels: [{ name: \"x\" }] });\n\
                      console.log(issue.number + 1, issue.labels[0].color);\n\
                      await walk({ \"@root\": { inner: [{ class: \"x\" }] } });\n\
                      await delete$({ anything: 1 });\n\
                      await create_issue({ state: \"open\" });\n\
                      await create_issue({ title: \"a\", state: \"new\" });\n\
                      await create_issue({ title: \"a\", limits: 3 });\n\
                      console.log(issue.nummer);\n\
                      await walk({ \"@root\": { inner: [{ class: 1 }] } });\n";
    let typescript = format!("declare const console: {{ log(...all: unknown[]): void }};\n{typescript}");
    std::fs::write(directory.path().join("typescript/program.ts"), typescript).expect("a file");
    let said = objections(directory.path());
    let at = |line: &str| {
        let place = line.split(": error").next().unwrap_or_default();
        place.split(',').next().unwrap_or_default().replace('(', ":")
    };
    let places: Vec<String> = said
        .lines()
        .filter(|line| line.contains("error"))
        .map(at)
        .collect();
    let expected: Vec<String> = (7..=11)
        .map(|line| format!("program.py:{line}"))
        .chain((7..=11).map(|line| format!("program.ts:{line}")))
        .collect();
    assert_eq!(places, expected, "{said}");
}

#[test]
fn what_a_schema_allows_is_not_refused() {
    let variant = json!({
        "type": "object",
        "properties": {
            "kind": {"type": "string"},
            "env": {"type": "object", "properties": {"PATH": {"type": "string"}}, "additionalProperties": {"type": "string"}},
            "code": {"enum": (0..200).map(|n| json!(format!("v{n}"))).chain([json!(null)]).collect::<Vec<_>>()},
        },
        "required": ["kind"],
        "oneOf": [{"properties": {"url": {"type": "string"}}}, {"properties": {"path": {"type": "string"}}}],
    });
    let parts = (0..12).map(|n| json!({"properties": {format!("p{n}"): {"type": "string"}}}));
    let tools = vec![
        tool("variant", "", variant),
        tool("parts", "", json!({"allOf": parts.collect::<Vec<_>>()})),
    ];
    let directory = written(&Catalog::build(&[server("open", "", tools)]));
    let python = "from tools.open import parts, variant\n\
                  async def program() -> None:\n    \
                      await variant(kind='a', url='b', env={'HOME': '/'}, code=None)\n    \
                      await parts(p0='a', p11='b')\n";
    std::fs::write(directory.path().join("python/program.py"), python).expect("a file");
    let typescript = "import { parts, variant } from \"./tools/open\";\n\
                      await variant({ kind: \"a\", url: \"b\", env: { HOME: \"/\" }, code: null });\n\
                      await parts({ p0: \"a\", p11: \"b\" });\n";
    std::fs::write(directory.path().join("typescript/program.ts"), typescript).expect("a file");
    assert_eq!(objections(directory.path()), "");
}
