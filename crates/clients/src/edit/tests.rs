//! Edits of the ten fixtures: only the intended lines change.

use serde_json::json;

use super::*;

pub(super) const FIXTURES: [(Client, &str); 10] = [
    (
        Client::ClaudeDesktop,
        include_str!("../../fixtures/claude-desktop.json"),
    ),
    (
        Client::ClaudeCode,
        include_str!("../../fixtures/claude-code.json"),
    ),
    (Client::Cursor, include_str!("../../fixtures/cursor.json")),
    (Client::VsCode, include_str!("../../fixtures/vscode.json")),
    (Client::Windsurf, include_str!("../../fixtures/windsurf.json")),
    (Client::GeminiCli, include_str!("../../fixtures/gemini-cli.json")),
    (Client::Codex, include_str!("../../fixtures/codex.toml")),
    (Client::Zed, include_str!("../../fixtures/zed.json")),
    (Client::Opencode, include_str!("../../fixtures/opencode.jsonc")),
    (Client::Goose, include_str!("../../fixtures/goose.yaml")),
];

pub(super) fn wish(client: Client, take: &[&str]) -> Change {
    let taken = |name: &&str| ReplacedServer {
        list: vec![client.list().to_owned()],
        name: (*name).to_owned(),
    };
    Change {
        entry: OwnEntry::Process(started()),
        take: take.iter().map(taken).collect(),
    }
}

/// The command line in most tests.
fn started() -> ProcessEntry {
    ProcessEntry {
        command: "/usr/bin/codeyard".to_owned(),
        args: vec!["mcp".to_owned()],
        ..ProcessEntry::default()
    }
}

/// A change that only adds codeyard.
fn entering(entry: ProcessEntry) -> Change {
    Change {
        entry: OwnEntry::Process(entry),
        take: Vec::new(),
    }
}

/// The removed and the added lines.
pub(super) fn differences(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let without = |some: &str, others: &str| {
        let mut others: Vec<&str> = others.lines().collect();
        let mut left = Vec::new();
        for line in some.lines() {
            match others.iter().position(|other| *other == line) {
                Some(index) => drop(others.remove(index)),
                None => left.push(line.to_owned()),
            }
        }
        left
    };
    (without(before, after), without(after, before))
}

#[test]
fn only_the_entry_is_added() {
    for (client, text) in FIXTURES {
        let edited = change(client, text, &wish(client, &[])).unwrap();
        let (gone, new) = differences(text, &edited);
        let commas = gone.iter().all(|line| new.contains(&format!("{line},")));
        assert!(commas, "{client}: {gone:?} {new:?}\n{edited}");
        assert!(
            new.iter().any(|line| line.contains("/usr/bin/codeyard")),
            "{client}: {new:?}"
        );
        let again = change(client, &edited, &wish(client, &[])).unwrap();
        assert_eq!(again, edited, "{client}");
    }
}

#[test]
fn servers_are_disabled_or_removed_and_comments_stay() {
    for (client, text) in FIXTURES {
        let take = match client {
            Client::ClaudeDesktop => ["crm", "orders"],
            _ => ["crm", "tickets"],
        };
        let edited = change(client, text, &wish(client, &take)).unwrap();
        println!("--- {client}\n{edited}");
        let value = client.format().parse(&edited).unwrap();
        let list = &value[client.list()];
        for name in take {
            match client.switch() {
                Switch::None => assert!(list.get(name).is_none(), "{client}"),
                Switch::Disabled => assert_eq!(list[name]["disabled"], true, "{client}"),
                Switch::Enabled => assert_eq!(list[name]["enabled"], false, "{client}"),
                Switch::Excluded => {
                    assert!(
                        value["mcp"]["excluded"]
                            .as_array()
                            .unwrap()
                            .contains(&name.into())
                    )
                }
            }
        }
        for line in text
            .lines()
            .filter(|line| line.trim_start().starts_with(['#', '/']))
        {
            assert!(edited.contains(line), "{client}: {line}");
        }
        assert_eq!(
            change(client, &edited, &wish(client, &take)).unwrap(),
            edited,
            "{client}"
        );
    }
}

#[test]
fn line_ends_and_byte_order_marks_stay() {
    for (client, text) in FIXTURES {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let take = ["crm"];
        let edited = change(client, &windows, &wish(client, &take)).unwrap();
        assert!(edited.starts_with('\u{feff}'), "{client}");
        assert_eq!(
            edited.replace("\r\n", "").matches(['\r', '\n']).count(),
            0,
            "{client}: {edited:?}"
        );
        let unix = change(client, text, &wish(client, &take)).unwrap();
        assert_eq!(edited[3..].replace("\r\n", "\n"), unix, "{client}");
    }
}

#[test]
fn files_without_servers_get_a_list() {
    for client in Client::ALL {
        let texts: &[&str] = match client.format() {
            Format::Json => &["", "{}", "{}\n", "{\n  \"a\": 1\n}\n", "// only a comment\n"],
            Format::Toml => &["", "a = 1\n", "[mcp_servers]\n", "a = 1"],
            Format::Yaml => &[
                "",
                "a: 1\n",
                "extensions: {}\n",
                "extensions:\nb: 2\n",
                "a: 1",
                "extensions: {} # none\n",
            ],
        };
        for text in texts {
            let edited = change(client, text, &wish(client, &[])).unwrap();
            let value = client.format().parse(&edited).unwrap();
            assert!(
                value[client.list()]["codeyard"].is_object(),
                "{client}: {text:?} {edited}"
            );
            let (gone, _) = differences(text, &edited);
            assert!(gone.len() <= 1, "{client}: {text:?} {edited}");
        }
    }
}

#[test]
fn an_older_entry_of_ours_is_replaced() {
    for (client, text) in FIXTURES
        .into_iter()
        .filter(|(client, _)| *client != Client::Goose)
    {
        let first = change(client, text, &wish(client, &[])).unwrap();
        let moved = entering(ProcessEntry {
            command: "/opt/codeyard".to_owned(),
            ..started()
        });
        let second = change(client, &first, &moved).unwrap();
        assert!(
            second.contains("/opt/codeyard") && !second.contains("/usr/bin/codeyard"),
            "{client}: {second}"
        );
    }
}

#[test]
fn unsafe_edits_are_refused_with_the_line() {
    for (client, text, told) in [
        (Client::Goose, "extensions: {a: {enabled: true}}\n", "line 1"),
        (
            Client::Goose,
            "extensions:\n  a: {enabled: &x true}\n  b: *x\n",
            "line",
        ),
        (Client::Goose, "x: [\n", "line"),
        (Client::Codex, "a = 1\r\nb = 2\n", "mixes line ends"),
        (Client::Codex, "mcp_servers = 1\n", "mcp_servers"),
        (Client::Cursor, "{\"mcpServers\": []}", "mcpServers"),
        (
            Client::Cursor,
            "{\"mcpServers\": {\"a\": {}}, \"mcpServers\": {\"b\": {}}}",
            "change it by hand",
        ),
        (Client::Cursor, "{\"mcpServers\": {", "line 1"),
        (Client::Cursor, "[]", "expected an object"),
    ] {
        let error = change(client, text, &wish(client, &["a"]))
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{client} {text:?}: {error}");
    }
}

#[test]
fn an_allow_list_gets_our_name() {
    let text = "{\"mcp\": {\"allowed\": [\"a\"]}, \"mcpServers\": {\"a\": {\"command\": \"a\"}}}";
    let edited = change(Client::GeminiCli, text, &wish(Client::GeminiCli, &["a"])).unwrap();
    let value = Format::Json.parse(&edited).unwrap();
    assert_eq!(
        value["mcp"],
        json!({"allowed": ["a", "codeyard"], "excluded": ["a"]})
    );
}

#[test]
fn variables_are_passed_in_each_client_s_syntax() {
    for (client, expected) in [
        (Client::Codex, "env_vars = [\"TOKEN\"]"),
        (Client::GeminiCli, "\"TOKEN\": \"${TOKEN}\""),
        (Client::Cursor, "\"XDG_CONFIG_HOME\": \"/x\""),
        (Client::Opencode, "\"environment\": {"),
        (Client::Goose, "envs: {\"XDG_CONFIG_HOME\":\"/x\"}"),
    ] {
        let wish = entering(ProcessEntry {
            env: vec![("XDG_CONFIG_HOME".to_owned(), "/x".to_owned())],
            passed: vec!["TOKEN".to_owned()],
            ..started()
        });
        let edited = change(client, "", &wish).unwrap();
        assert!(edited.contains(expected), "{client}: {edited}");
    }
}

#[test]
fn a_person_s_additions_to_our_entry_stay() {
    for (client, text) in FIXTURES {
        let told = entering(ProcessEntry {
            args: ["mcp", "--log", "debug"].map(str::to_owned).to_vec(),
            env: vec![("MINE".to_owned(), "1".to_owned())],
            ..started()
        });
        let first = change(client, text, &told).unwrap();
        assert_eq!(
            change(client, &first, &wish(client, &[])).unwrap(),
            first,
            "{client}"
        );
        let moved = entering(ProcessEntry {
            command: "/opt/codeyard".to_owned(),
            ..started()
        });
        let second = change(client, &first, &moved).unwrap();
        assert!(
            second.contains("/opt/codeyard") && second.contains("debug"),
            "{client}: {second}"
        );
        assert!(
            second.contains("MINE") && !second.contains("/usr/bin/codeyard"),
            "{client}: {second}"
        );
    }
}

#[test]
fn another_server_of_our_name_is_not_replaced() {
    for (client, text) in [
        (
            Client::Cursor,
            "{\"mcpServers\": {\"codeyard\": {\"command\": \"npx\", \"args\": [\"x\"]}}}",
        ),
        (Client::Codex, "[mcp_servers.codeyard]\ncommand = \"npx\"\n"),
        (
            Client::Cursor,
            "{\"mcpServers\": {\"codeyard\": {\"command\": \"codeyard\", \"args\": [\"demo-server\", \"crm\"]}}}",
        ),
        (
            Client::Cursor,
            "{\"mcpServers\": {\"codeyard\": {\"command\": \"codeyard\"}}}",
        ),
        (
            Client::Goose,
            "extensions:\n  codeyard:\n    cmd: npx\n    enabled: true\n",
        ),
        (
            Client::Opencode,
            "{\"mcp\": {\"codeyard\": {\"type\": \"local\", \"command\": [\"npx\"]}}}",
        ),
    ] {
        assert_eq!(
            change(client, text, &wish(client, &[])),
            Err(Refused::Taken),
            "{client}"
        );
    }
}

#[test]
fn our_name_is_removed_from_the_excluded_servers() {
    let text = "{\"mcp\": {\"excluded\": [\"a\", \"codeyard\"]}}";
    let edited = change(Client::GeminiCli, text, &wish(Client::GeminiCli, &[])).unwrap();
    let value = Format::Json.parse(&edited).unwrap();
    assert_eq!(value["mcp"], json!({"excluded": ["a"]}), "{edited}");
}

#[test]
fn an_entry_is_removed_from_a_changed_file() {
    for (client, text) in FIXTURES {
        let take = match client {
            Client::ClaudeDesktop => ["crm", "orders"],
            _ => ["crm", "tickets"],
        };
        let wish = wish(client, &take);
        let installed_text = change(client, text, &wish).unwrap();
        let document = client.format().parse(&installed_text).unwrap();
        let written = installed(client, &document).unwrap().clone();
        // Meanwhile the client changes the file.
        let changed = match client.format() {
            Format::Json => installed_text.replacen('{', "{\n  \"numStartups2\": 43,", 1),
            Format::Toml => installed_text.replacen("model = \"o4\"", "model = \"o5\"", 1),
            Format::Yaml => installed_text.replacen("claude-sonnet", "claude-opus", 1),
        };
        assert_ne!(changed, installed_text, "{client}");
        let restored = restore(client, &changed, text, &wish.take, &written).unwrap();
        assert!(restored.left.is_empty(), "{client}: {restored:?}");
        let mut now = client.format().parse(&restored.text).unwrap();
        let before = client.format().parse(text).unwrap();
        match client.format() {
            Format::Json => drop(now.as_object_mut().unwrap().shift_remove("numStartups2")),
            Format::Toml => now["model"] = "o4".into(),
            Format::Yaml => now["GOOSE_MODEL"] = "claude-sonnet".into(),
        }
        assert_eq!(now, before, "{client}: {}", restored.text);

        let edited = changed.replace("/usr/bin/codeyard", "/mine/codeyard");
        let error = restore(client, &edited, text, &wish.take, &written).unwrap_err();
        assert!(matches!(error, Refused::Differs(_)), "{client}: {error}");
        let error = restore(client, text, text, &wish.take, &written).unwrap_err();
        let is_named = error.to_string().contains("no longer has an entry `codeyard`");
        assert!(is_named, "{client}: {error}");
    }
}

#[test]
fn an_entry_that_uses_other_files_stays() {
    let with = |args: &[&str]| {
        entering(ProcessEntry {
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            ..started()
        })
    };
    let cases: [(&[&str], &[&str], [&str; 2]); 4] = [
        (
            &["mcp", "--config", "/a.json"],
            &["mcp"],
            [
                "starts codeyard with `--config /a.json`",
                "called without options",
            ],
        ),
        (
            &["mcp"],
            &["mcp", "--data", "/d"],
            ["starts codeyard without options", "called with `--data /d`"],
        ),
        (
            &["mcp", "--data=/d", "--config", "/a.json"],
            &["mcp", "--config", "/a.json", "--data", "/e"],
            [
                "starts codeyard with `--config /a.json --data /d`",
                "called with `--config /a.json --data /e`",
            ],
        ),
        (
            &["mcp", "--settings", "/s"],
            &["mcp"],
            ["with `--settings /s`", "the same options"],
        ),
    ];
    for (client, text) in FIXTURES {
        for (there, wanted, told) in cases {
            let first = change(client, text, &with(there)).unwrap();
            let error = change(client, &first, &with(wanted)).unwrap_err().to_string();
            assert!(
                told.iter().all(|words| error.contains(words)),
                "{client}: {error}"
            );
            assert_eq!(change(client, &first, &with(there)).unwrap(), first, "{client}");
        }
        let elsewhere = entering(ProcessEntry {
            env: vec![("XDG_DATA_HOME".to_owned(), "/d".to_owned())],
            ..started()
        });
        let first = change(client, text, &elsewhere).unwrap();
        let error = change(client, &first, &wish(client, &[]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("with `XDG_DATA_HOME=/d`, and"),
            "{client}: {error}"
        );
        assert_eq!(change(client, &first, &elsewhere).unwrap(), first, "{client}");
    }
}

#[test]
fn entries_compare_by_resolved_directories_not_by_spelling() {
    let with = |places: &[(&str, &str)]| {
        entering(ProcessEntry {
            env: places
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            home: "/home/ana".into(),
            ..started()
        })
    };
    let config = "XDG_CONFIG_HOME";
    let data = "XDG_DATA_HOME";
    let same: [[&[(&str, &str)]; 2]; 3] = [
        [&[(config, "/home/ana/.config/")], &[]],
        [&[], &[(data, "/home/ana/.local/share")]],
        [&[(config, "relative")], &[]],
    ];
    let other: [[&[(&str, &str)]; 2]; 3] = [
        [&[], &[(config, "/tmp/other")]],
        [&[(data, "/tmp/other")], &[]],
        [
            &[(config, "/home/ana/.config")],
            &[(config, "/tmp/other"), (data, "/home/ana/.local/share")],
        ],
    ];
    for (client, text) in FIXTURES {
        let twice = |[first, second]: [&[(&str, &str)]; 2]| {
            let first = change(client, text, &with(first)).unwrap();
            change(client, &first, &with(second))
        };
        for places in same {
            assert!(twice(places).is_ok(), "{client}: {places:?}");
        }
        for places in other {
            let error = twice(places).unwrap_err().to_string();
            assert!(
                error.contains("=/tmp/other`") && error.contains("=/home/ana/."),
                "{client}: {error}"
            );
        }
    }
}

#[test]
fn an_old_form_of_our_entry_is_recognised() {
    let text = r#"{"context_servers": {"codeyard": {"source": "custom", "command":
        {"path": "codeyard", "args": ["mcp", "--config", "/mine.json"]}}}}"#;
    let same = entering(ProcessEntry {
        args: ["mcp", "--config", "/mine.json"].map(str::to_owned).to_vec(),
        ..started()
    });
    let edited = change(Client::Zed, text, &same).unwrap();
    let entry = Format::Json.parse(&edited).unwrap()["context_servers"]["codeyard"].clone();
    assert_eq!(entry["command"], "/usr/bin/codeyard");
    assert_eq!(entry["args"], json!(["mcp", "--config", "/mine.json"]));
}

#[test]
fn numbers_and_comments_of_our_entry_stay() {
    let text = "[mcp_servers.codeyard]\n# mine\ncommand = \"/old/codeyard\" # moved\nargs = [\"mcp\"]\n\
        tool_timeout_sec = 2.5 # seconds\n\n[mcp_servers.codeyard.env]\n# kept\nA = \"b\"\n";
    let edited = change(Client::Codex, text, &wish(Client::Codex, &[])).unwrap();
    let expected = text.replace("/old/codeyard", "/usr/bin/codeyard");
    let expected = expected.replace("# seconds\n", "# seconds\nenabled = true\n");
    assert_eq!(edited, expected);
    let value = Format::Toml.parse("").unwrap();
    let entry = json!({"command": "x", "tool_timeout_sec": 2.5});
    let list = ["mcp_servers".to_owned()];
    let text = edited_of(Format::Toml, value, Step::Set(&list, "a", entry));
    assert!(text.contains("tool_timeout_sec = 2.5"), "{text}");
}

fn edited_of(format: Format, before: Value, step: Step<'_>) -> String {
    edited(format, "", before, vec![step]).unwrap()
}

#[test]
fn only_our_own_texts_may_be_shown() {
    for client in Client::ALL {
        let wish = ProcessEntry {
            command: "/usr/bin/codeyard".to_owned(),
            args: ["mcp", "--data", "/d"].map(str::to_owned).to_vec(),
            env: vec![("XDG_DATA_HOME".to_owned(), "/data".to_owned())],
            home: "/home/ana".into(),
            passed: vec!["CRM_TOKEN".to_owned()],
        };
        let mut entry = fresh(client, &OwnEntry::Process(wish));
        let texts = own_texts(client, &entry);
        let mut all = Vec::new();
        scalars(&entry, &mut all);
        all.retain(|text| !["stdio", "local", "true"].contains(&text.as_str()) && !texts.contains(text));
        assert_eq!(all, [""; 0], "{client}");
        for field in ["env", "envs", "environment"] {
            entry[field] = json!({"MINE": "s3cret", "CRM_TOKEN": "s3cret"});
        }
        entry["note"] = "s3cret".into();
        assert!(
            !own_texts(client, &entry).contains(&"s3cret".to_owned()),
            "{client}"
        );
    }
}

pub(super) fn scalars(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|value| scalars(value, found)),
        Value::Array(items) => items.iter().for_each(|value| scalars(value, found)),
        Value::String(text) => found.push(text.clone()),
        other => found.push(other.to_string()),
    }
}
