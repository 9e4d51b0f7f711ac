//! Scans of real files: used entries, skipped entries and warnings.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use environment::{MAX_FILE, Machine, NotUnicode};
use test_support::FakeEnvironment;

use super::*;

fn stdio(server: &ServerConfig) -> &upstream_wire::Stdio {
    server.transport.stdio().unwrap()
}

/// This machine with other variables and another current directory.
#[derive(Clone)]
struct Elsewhere {
    variables: BTreeMap<String, String>,
    current: PathBuf,
}

impl Environment for Elsewhere {
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode> {
        Ok(self.variables.get(name).cloned())
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        let names = self.variables.keys().filter(|name| name.starts_with(prefix));
        names.cloned().collect()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.current.clone())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Machine.canonical(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Machine.read(path)
    }

    fn read_protected(&self, path: &Path) -> io::Result<Vec<u8>> {
        Machine.read_protected(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        Machine.replace(path, bytes)
    }
}

struct World {
    home: tempfile::TempDir,
    env: Elsewhere,
    sources: BridgeSources,
}

impl World {
    fn new() -> World {
        let home = tempfile::tempdir().unwrap();
        let current = home.path().join("project");
        fs::create_dir(&current).unwrap();
        let variables = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        World {
            env: Elsewhere { variables, current },
            home,
            sources: BridgeSources {
                files: Vec::new(),
                other_clients: false,
                allow_self: false,
                own_executable: "/nowhere/codeyard".into(),
            },
        }
    }

    fn var(mut self, name: &str, value: &str) -> World {
        self.env.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(self, path: &str, content: &str) -> World {
        self.write(path, content);
        self
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn definitions(&self) -> BridgeDefinitions {
        BridgeDefinitions::new(self.sources.clone(), self.env.clone())
    }

    fn scan(&self) -> Scan {
        self.definitions().scan().unwrap()
    }

    /// The warnings without the home directory's path.
    fn shown(&self, scan: &Scan) -> String {
        let home = format!("{}/", self.home.path().display());
        let lines = scan.warnings.iter().map(|warning| format!("{warning}\n"));
        lines.collect::<String>().replace(&home, "~/")
    }
}

fn names(scan: &Scan) -> Vec<&str> {
    scan.servers.iter().map(|server| server.name.as_str()).collect()
}

/// A file with one server, whose command is its own name.
fn one(name: &str) -> String {
    format!(r#"{{"mcpServers": {{"{name}": {{"command": "{name}"}}}}}}"#)
}

// C317
#[test]
fn a_new_changed_or_removed_file_is_noticed() {
    let world = World::new().file("MCPs/b.json", &one("stub"));
    let mut definitions = world.definitions();
    assert_eq!(names(&definitions.scan().unwrap()), ["stub"]);
    assert_eq!(definitions.scan(), None);
    world.write("MCPs/a.json", &one("new"));
    assert_eq!(names(&definitions.scan().unwrap()), ["new", "stub"]);
    assert_eq!(definitions.scan(), None);
    // Same size, same tick.
    world.write("MCPs/a.json", &one("old"));
    assert_eq!(names(&definitions.scan().unwrap()), ["old", "stub"]);
    // Write the same content again.
    world.write("MCPs/a.json", &one("old"));
    assert_eq!(definitions.scan(), None);
    fs::remove_file(world.home.path().join("MCPs/b.json")).unwrap();
    assert_eq!(names(&definitions.scan().unwrap()), ["old"]);
    fs::remove_dir_all(world.home.path().join("MCPs")).unwrap();
    assert_eq!(names(&definitions.scan().unwrap()), [""; 0]);
    assert_eq!(definitions.scan(), None);
}

// C317, C319
#[test]
fn what_cannot_be_used_is_left_out_with_one_warning_each() {
    let world = World::new()
        .var("TOKEN", "s3cret")
        .file("MCPs/01-good.json", r#"{"description": "all of them", "mcpServers": {
            "stub": {"command": "stub", "args": ["${TOKEN}"], "type": "stdio", "description": "its own"},
            "other": {"command": "other", "env": {"A": "b"}, "alwaysAllow": [], "arg": 1},
            "off": {"command": "x", "disabled": true}
        }}"#)
        .file("MCPs/02-broken.json", "{\"mcpServers\": {\n")
        .file("MCPs/03-list.json", "[]")
        .file("MCPs/04-nothing.json", "{}")
        .file("MCPs/05-number.json", r#"{"mcpServers": 5}"#)
        .file("MCPs/06-entries.json", r#"{"mcpServers": {
            "no-command": {"args": []},
            "number": {"command": 5, "args": "x"},
            "text": "x",
            "": {"command": "x"},
            "unset": {"command": "${MISSING}"},
            "remote": {"url": "https://mcp.example"},
            "twice": {"command": "one"},
            "twice": {"command": "two"},
            "astray": {"command": "x", "cwd": "nowhere"}
        }}"#)
        .file("MCPs/07-again.json", r#"{"mcpServers": {
            "stub": {"command": "another"},
            "off": {"command": "x"},
            "text": {"command": "used"}
        }}"#)
        .file("MCPs/08-self.json", r#"{"mcpServers": {
            "mcp-server-code-execution-mode": {"command": "x"},
            "a": {"command": "uvx", "args": ["--from", "git+https://git.example/mcp-server-code-execution-mode", "run"]},
            "b": {"command": "python", "args": ["/srv/mcp_server_code_execution_mode.py"]},
            "c": {"command": "/opt/bin/mcp-server-code-execution-mode"},
            "d": {"command": "codeyard", "args": ["mcp", "--surface", "bridge"]},
            "e": {"command": "sh", "args": ["-c", "exec codeyard run"]},
            "demo": {"command": "codeyard", "args": ["demo-server", "crm"]}
        }}"#)
        .file("MCPs/09-directory.json/x", "")
        .file("MCPs/ignored.txt", "x");
    fs::File::create(world.home.path().join("MCPs/10-huge.json"))
        .unwrap()
        .set_len(MAX_FILE + 1)
        .unwrap();
    let mut definitions = world.definitions();
    let scan = definitions.scan().unwrap();
    assert_eq!(
        names(&scan),
        ["stub", "other", "remote", "twice", "astray", "text", "demo"]
    );
    let [stub, other, _remote, twice, ..] = scan.servers.as_slice() else {
        panic!("{scan:?}")
    };
    assert_eq!(stdio(stub).args, ["s3cret"]);
    assert_eq!(stub.description.as_deref(), Some("its own"));
    assert_eq!(other.description.as_deref(), Some("all of them"));
    assert_eq!(stdio(twice).command, "one");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(world.shown(&scan)) });
    // Each warning appears once; a fixed file removes only its own warning.
    world.write("MCPs/02-broken.json", &one("mended"));
    let scan = definitions.scan().unwrap();
    assert!(names(&scan).contains(&"mended"));
    assert_eq!(world.shown(&scan), "");
    world.write("MCPs/02-broken.json", "{");
    let scan = definitions.scan().unwrap();
    assert_eq!(scan.warnings.len(), 1, "{}", world.shown(&scan));
}

#[test]
fn a_pipe_does_not_block_and_an_unreadable_directory_is_reported() {
    let world = World::new().file("MCPs/a.json", &one("a"));
    let pipe = world.home.path().join("MCPs/pipe.json");
    let made = std::os::unix::net::UnixListener::bind(&pipe);
    made.expect("a socket, which is not a regular file");
    let scan = world.scan();
    assert_eq!(names(&scan), ["a"]);
    assert_eq!(
        world.shown(&scan),
        "~/MCPs/pipe.json: is skipped: this is not a regular file\n"
    );
}

// C319
#[test]
fn self_references_are_used_if_allowed() {
    let mut world = World::new().file(
        "MCPs/a.json",
        r#"{"mcpServers": {"me": {"command": "codeyard", "args": ["mcp"]}}}"#,
    );
    world.sources.allow_self = true;
    let scan = world.scan();
    assert_eq!(names(&scan), ["me"]);
    assert_eq!(world.shown(&scan), "");
}

// C320
#[test]
fn named_files_take_precedence_and_may_be_toml() {
    let mut world = World::new()
        .file(
            "extra.toml",
            "description = \"d\"\n[mcpServers.t]\ncommand = \"t\"\nargs = [\"1\"]\nenv = { A = \"b\" }\n",
        )
        .file("own.json", &one("own"))
        .file("MCPs/a.json", &one("a"));
    world.sources.files = vec![
        "../own.json".into(),
        "/nowhere/x.json".into(),
        world.home.path().join("extra.toml"),
    ];
    let mut definitions = world.definitions();
    let scan = definitions.scan().unwrap();
    assert_eq!(names(&scan), ["own", "t", "a"]);
    assert_eq!(stdio(&scan.servers[1]).args, ["1"]);
    assert_eq!(scan.servers[1].description.as_deref(), Some("d"));
    assert_eq!(
        world.shown(&scan),
        "/nowhere/x.json: is skipped: there is no such file\n"
    );
    world.write("extra.toml", "[mcpServers.t]\ncommand = 5 5\n");
    let scan = definitions.scan().unwrap();
    assert_eq!(names(&scan), ["own", "a"]);
    let shown = world.shown(&scan);
    assert!(
        shown.starts_with("~/extra.toml: line 2: is skipped: not valid TOML: "),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

// C320
#[test]
fn files_of_other_clients_are_read_on_request_only() {
    let world = || {
        World::new()
            .file("MCPs/a.json", &one("a"))
            .file(".config/mcp/servers/b.json", &one("b"))
            .file(".config/mcp/servers/c.toml", "[servers.c]\ncommand = \"c\"\n")
            .file("project/mcp-servers/d.json", &one("d"))
            .file(
                "project/.vscode/mcp.json",
                "{ // mine\n\"servers\": {\"e\": {\"command\": \"e\",},}}",
            )
            .file(
                ".claude.json",
                r#"{"numStartups": 5, "mcpServers": {"f": {"command": "f"}}, "projects": {}}"#,
            )
            .file(".cursor/mcp.json", &one("g"))
            .file(".opencode.json", &one("h"))
            .file(".codeium/windsurf/mcp_config.json", &one("i"))
            .file(
                ".config/Code/User/settings.json",
                "/* all */ {\"editor.x\": 1, \"mcp\": {\"servers\": {\"j\": {\"command\": \"j\"}}}}",
            )
            .file(".config/Claude/claude_desktop_config.json", "{\"theme\": 1}")
    };
    assert_eq!(names(&world().scan()), ["a"]);
    let mut world = world();
    world.sources.other_clients = true;
    let scan = world.scan();
    assert_eq!(names(&scan), ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    assert_eq!(world.shown(&scan), "");
}

#[test]
fn without_a_home_there_are_no_definitions() {
    let sources = BridgeSources {
        other_clients: true,
        ..World::new().sources
    };
    let env = Elsewhere {
        variables: BTreeMap::new(),
        current: "/nowhere".into(),
    };
    let mut definitions = BridgeDefinitions::new(sources, env);
    let nothing = Scan {
        servers: Vec::new(),
        warnings: Vec::new(),
    };
    assert_eq!(definitions.scan(), Some(nothing));
    assert_eq!(definitions.scan(), None);
}

fn judged(file: &str, bytes: &[u8], has_comments: bool) -> FileContent {
    let search_path = SearchPath {
        location: Location::File(file.into()),
        is_required: false,
        holds_only_servers: true,
        has_comments,
    };
    let filter = EntryFilter {
        own_executable: Path::new("/nowhere/codeyard"),
        allow_self: false,
        env: &FakeEnvironment::new(),
    };
    file::read(Path::new(file), bytes, &search_path, &filter)
}

/// Whether a definition with this command line is used.
fn is_used(words: &[String]) -> bool {
    let (command, args) = words.split_first().unwrap();
    let file = serde_json::json!({"mcpServers": {"server": {"command": command, "args": args}}});
    let content = judged("x.json", file.to_string().as_bytes(), false);
    assert_eq!(content.entries.len() + content.warnings.len(), 1, "{content:?}");
    content.warnings.is_empty()
}

proptest! {
    // C319
    #[test]
    fn a_self_reference_is_found_at_any_place(
        mut words in prop::collection::vec("[a-z/@=.:-]{1,12}", 1..6),
        at in any::<prop::sample::Index>(),
        before in "[a-z/+:=.]{0,12}",
        after in "(\\.py|@v1|\\.git|)",
        dashes in any::<bool>(),
    ) {
        prop_assert!(is_used(&words));
        let name = if dashes { "mcp-server-code-execution-mode" } else { "MCP_server_code_execution_mode" };
        let at = at.index(words.len());
        words[at] = format!("{before}{name}{after}");
        prop_assert!(!is_used(&words));
        words[at] = "codeyard".to_owned();
        words.push("mcp".to_owned());
        prop_assert!(!is_used(&words));
    }

    #[test]
    fn no_content_is_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "[\\[\\]{}\",:a/*=. \n]{0,40}") {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            judged("x.toml", bytes, false);
            judged("x.json", bytes, false);
            judged("x.json", bytes, true);
        }
    }
}
