//! The files below `/tools` that describe tools to programs and clients.
//!
//! ```text
//! tools/_schema.json  _catalog.json  _runtime.py  _runtime.ts  .search_index
//! tools/<server>/_meta.json  __init__.py  index.d.ts  <tool>.py  <tool>.ts
//! ```
//!
//! Each file is made only where it is needed, and has a key of what it is made from. A change of one tool changes the
//! keys of its own files, of its server's, and of the lists of all tools.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use types::{TreeFile, WRITTEN_AT};

use crate::catalog::{Catalog, Server};
use crate::entry::Entry;
use crate::learned::Learned;
use crate::stub::{Observed, Stubs, index_lines, python_package};
use crate::text::push_words;

/// Begins every key. It changes when equal tools get other files.
const FORMAT: &[u8] = b"files of tools 1";

/// Version of the layout, as the original states it.
const VERSION: &str = "2026-02-01";

const RUNTIME_PYTHON: &str = include_str!("tree/_runtime.py");
const RUNTIME_TYPESCRIPT: &str = include_str!("tree/_runtime.ts");

type Key = [u8; 32];

/// A visible tool with what its files are made from.
struct ShownTool<'a> {
    entry: &'a Arc<Entry>,
    learned: Option<Arc<Learned>>,
    key: Key,
}

/// A file's name or ending, and what makes its text.
type Maker<T> = (&'static str, fn(&T) -> String);

/// The stubs that were made last. The Python and the TypeScript file of a tool follow each other.
type LastStubs = Rc<RefCell<Option<(Key, Rc<Stubs>)>>>;

struct ShownServer<'a> {
    server: &'a Server,
    tools: Vec<ShownTool<'a>>,
    key: Key,
}

/// The files of all `visible` tools, by path. A server that has not listed its tools has a directory without tools.
/// `owner` stands for the server that shows the tree.
pub fn tree<'a>(
    catalog: &'a Catalog,
    owner: &'a str,
    visible: &dyn Fn(&Entry) -> bool,
    observed: Observed<'_>,
) -> BTreeMap<String, TreeFile<'a>> {
    let shown = |server| ShownServer::of(server, visible, observed);
    let servers: Rc<Vec<Rc<ShownServer<'a>>>> = Rc::new(catalog.servers().map(shown).map(Rc::new).collect());
    let mut files = BTreeMap::new();
    let last = LastStubs::default();
    // Entries keep these lines. Allocated between megabytes of files, the lines would keep that memory in use.
    for tool in servers.iter().flat_map(|server| &server.tools) {
        if tool.learned.is_none() {
            tool.entry.typescript_lines(None);
        }
    }
    for server in servers.iter() {
        server.files(&last, &mut files);
    }
    let all = key(servers
        .iter()
        .map(|server| server.key.as_slice())
        .chain([owner.as_bytes()]));
    let fixed = key([FORMAT]);
    let mut top = |name: &str, file| files.insert(format!("tools/{name}"), file);
    top("_schema.json", TreeFile::new(fixed, || schema().into_bytes()));
    top("_runtime.py", TreeFile::new(fixed, || RUNTIME_PYTHON.into()));
    top("_runtime.ts", TreeFile::new(fixed, || RUNTIME_TYPESCRIPT.into()));
    let listed = servers.clone();
    top(
        "_catalog.json",
        TreeFile::new(all, move || list(owner, &listed).into_bytes()),
    );
    top(
        ".search_index",
        TreeFile::new(all, move || search_index(&servers).into_bytes()),
    );
    files
}

// === impl ShownServer ===

impl<'a> ShownServer<'a> {
    fn of(server: &'a Server, visible: &dyn Fn(&Entry) -> bool, observed: Observed<'_>) -> ShownServer<'a> {
        let entries = server.entries().filter(|entry| visible(entry));
        let tools: Vec<ShownTool<'a>> = entries.map(|entry| ShownTool::of(entry, observed)).collect();
        let named = [&server.name, &server.alias].map(|name| name.as_bytes());
        let description = server.description.as_deref().unwrap_or_default();
        let parts = [FORMAT, description.as_bytes()].into_iter().chain(named);
        ShownServer {
            key: key(parts.chain(tools.iter().map(|tool| tool.key.as_slice()))),
            server,
            tools,
        }
    }

    /// Adds the files of the server's directory.
    fn files(self: &Rc<Self>, last: &LastStubs, files: &mut BTreeMap<String, TreeFile<'a>>) {
        let directory = format!("tools/{}", self.server.alias);
        let kinds: [Maker<Stubs>; 2] = [("py", Stubs::python), ("ts", Stubs::typescript)];
        for (number, tool) in self.tools.iter().enumerate() {
            for (ending, make) in kinds {
                let (server, last) = (self.clone(), last.clone());
                let content = move || {
                    server
                        .stubs(number, &last)
                        .map_or_else(Vec::new, |it| make(&it).into())
                };
                let name = format!("{directory}/{}.{ending}", tool.entry.alias);
                files.insert(name, TreeFile::new(tool.key, content));
            }
        }
        let own: [Maker<ShownServer<'a>>; 3] = [
            ("__init__.py", ShownServer::package),
            ("index.d.ts", ShownServer::index),
            ("_meta.json", ShownServer::meta),
        ];
        for (name, make) in own {
            let server = self.clone();
            let file = TreeFile::new(self.key, move || make(&server).into_bytes());
            files.insert(format!("{directory}/{name}"), file);
        }
    }

    fn stubs(&self, number: usize, last: &LastStubs) -> Option<Rc<Stubs>> {
        let ShownTool { entry, learned, key } = self.tools.get(number)?;
        let mut last = last.borrow_mut();
        if let Some((_, stubs)) = last.as_ref().filter(|(of, _)| of == key) {
            return Some(stubs.clone());
        }
        let stubs = Rc::new(Stubs::of(entry, learned.as_deref()));
        *last = Some((*key, stubs.clone()));
        Some(stubs)
    }

    fn package(&self) -> String {
        let aliases = self.tools.iter().map(|tool| tool.entry.alias.as_str());
        python_package(self.server, aliases)
    }

    fn index(&self) -> String {
        let tools: Vec<(&Entry, Option<&Learned>)> = self
            .tools
            .iter()
            .map(|tool| (tool.entry.as_ref(), tool.learned.as_deref()))
            .collect();
        index_lines(self.server, &tools)
    }

    fn meta(&self) -> String {
        pretty(&json!({
            "server": self.server.alias,
            "tool_count": self.tools.len(),
            "auth_status": "unknown",
            "health": "unknown",
            "generated_at": WRITTEN_AT,
        }))
    }
}

// === impl ShownTool ===

impl<'a> ShownTool<'a> {
    fn of(entry: &'a Arc<Entry>, observed: Observed<'_>) -> ShownTool<'a> {
        let learned = observed(entry);
        let names = [
            &entry.tool.server,
            &entry.tool.tool,
            &entry.server_alias,
            &entry.alias,
        ];
        let seen = learned.as_ref().map_or_else(String::new, |learned| {
            format!("{} {} {}", learned.calls, learned.steady, learned.schema)
        });
        let parts = [FORMAT, entry.fingerprint().as_bytes(), seen.as_bytes()];
        ShownTool {
            key: key(parts.into_iter().chain(names.map(|name| name.as_bytes()))),
            entry,
            learned,
        }
    }
}

/// A key of parts, whose boundaries count.
fn key<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn schema() -> String {
    pretty(&json!({
        "version": VERSION,
        "roots": ["/tools", "/scratch", "/skills", "/results"],
        "stub_language": "python",
        "stub_languages": ["python", "typescript"],
    }))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The list of all tools, one on each line. The schemas are those of the servers, unread.
fn list(owner: &str, servers: &[Rc<ShownServer<'_>>]) -> String {
    let tools = || servers.iter().flat_map(|server| &server.tools);
    let schemas = tools().map(|tool| tool.entry.definition.input_schema_text().len());
    let mut text = String::with_capacity(schemas.sum::<usize>() + tools().count() * 1024);
    let _ = write!(
        text,
        "{{\"generated_at\": \"{WRITTEN_AT}\", \"schema_version\": \"{VERSION}\", \"server_id\": {}, \
         \"tool_count\": {}, \"tools\": [",
        Value::from(owner),
        tools().count()
    );
    for (number, ShownTool { entry, .. }) in tools().enumerate() {
        let name = format!("{}.{}", entry.server_alias, entry.alias);
        let _ = write!(
            text,
            "{}\n{{\"id\": {id}, \"name\": {id}, \"original_name\": {}, \"server\": {}, \"description\": {}, \
             \"tags\": [], \"input_schema\": {}}}",
            if number > 0 { "," } else { "" },
            quoted(&entry.tool.tool),
            quoted(&entry.server_alias),
            entry
                .definition
                .description
                .as_deref()
                .map_or("null".into(), quoted),
            entry.definition.input_schema_text(),
            id = quoted(&name),
        );
    }
    text.push_str("\n]}\n");
    text
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// One line for each tool: its file, how it is called, and what it does.
fn search_index(servers: &[Rc<ShownServer<'_>>]) -> String {
    let mut text = String::new();
    for ShownTool { entry, .. } in servers.iter().flat_map(|server| &server.tools) {
        for part in [&entry.server_alias, "/", &entry.alias, ".py:", entry.signature()] {
            text.push_str(part);
        }
        push_words(
            &mut text,
            entry.definition.description.as_deref().unwrap_or_default(),
        );
        text.push('\n');
    }
    text
}
