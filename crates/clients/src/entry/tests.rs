//! Clients' entries and their translations.

use serde_json::json;

use super::*;

#[track_caller]
fn check(client: Client, entry: Value, expected: Value, noted: &[&str]) {
    let found = translate(client, None, &entry).unwrap();
    assert_eq!(Value::Object(found.definition), expected, "{client}: {entry}");
    assert_eq!(found.notes.len(), noted.len(), "{:?}", found.notes);
    for (note, expected) in found.notes.iter().zip(noted) {
        assert!(note.contains(expected), "{note}");
    }
}

#[track_caller]
fn refused(client: Client, entry: Value, why: &str) {
    let found = translate(client, None, &entry).unwrap_err();
    assert!(found.contains(why), "{found}");
}

#[test]
fn processes() {
    let plain = json!({"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}});
    check(Client::ClaudeDesktop, plain.clone(), plain.clone(), &[]);
    check(
        Client::Zed,
        json!({"source": "custom", "command": {"path": "npx", "args": ["-y", "x"], "env": {"A": "b"}}, "settings": {}}),
        plain.clone(),
        &["`settings`"],
    );
    check(
        Client::Opencode,
        json!({"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": "b"}, "timeout": 5000}),
        plain.clone(),
        &[],
    );
    check(
        Client::Goose,
        json!({"type": "stdio", "cmd": "npx", "args": ["-y", "x"], "envs": {"A": "b"}, "env_keys": ["K"], "timeout": 300, "bundled": null}),
        json!({"command": "npx", "args": ["-y", "x"], "env": {"A": "b", "K": "${K}"}, "timeout": 300_000}),
        &[],
    );
    check(
        Client::Codex,
        json!({"command": "a", "env_vars": ["K", {"name": "L"}], "tool_timeout_sec": 5.5}),
        json!({"command": "a", "env": {"K": "${K:-}", "L": "${L:-}"}, "timeout": 5500}),
        &[],
    );
    check(
        Client::GeminiCli,
        json!({"command": "a", "cwd": "/w", "env": {"N": 3}, "timeout": 10, "trust": true, "excludeTools": []}),
        json!({"command": "a", "env": {"N": "3"}, "cwd": "/w", "timeout": 10}),
        &[],
    );
    check(
        Client::Cursor,
        json!({"command": "a", "envFile": ".env", "zzz": 1}),
        json!({"command": "a"}),
        &["zzz"],
    );
}

#[test]
fn addresses() {
    let url = "https://mcp.example.com/x";
    check(
        Client::Windsurf,
        json!({"serverUrl": url, "headers": {"A": "${env:B}"}}),
        json!({"url": url, "headers": {"A": "${B}"}}),
        &[],
    );
    check(
        Client::GeminiCli,
        json!({"httpUrl": url}),
        json!({"type": "http", "url": url}),
        &[],
    );
    check(
        Client::GeminiCli,
        json!({"url": url}),
        json!({"type": "sse", "url": url}),
        &[],
    );
    check(
        Client::Codex,
        json!({"url": url, "bearer_token_env_var": "T", "http_headers": {"X": "y"}, "env_http_headers": {"Z": "W"}}),
        json!({"url": url, "headers": {"X": "y", "Authorization": "Bearer ${T}", "Z": "${W}"}}),
        &[],
    );
    check(
        Client::Goose,
        json!({"type": "streamable_http", "uri": url}),
        json!({"type": "http", "url": url}),
        &[],
    );
    check(
        Client::Opencode,
        json!({"type": "remote", "url": url, "oauth": {}}),
        json!({"url": url}),
        &["codeyard login"],
    );
    check(
        Client::VsCode,
        json!({"type": "sse", "url": url}),
        json!({"type": "sse", "url": url}),
        &[],
    );
}

#[test]
fn entries_that_are_not_servers_are_refused_with_a_reason() {
    refused(
        Client::Goose,
        json!({"type": "builtin", "name": "developer"}),
        "part of Goose",
    );
    refused(
        Client::Zed,
        json!({"source": "extension", "settings": {}}),
        "extension",
    );
    refused(
        Client::Opencode,
        json!({"enabled": false}),
        "neither a command nor an address",
    );
    refused(Client::VsCode, json!({"url": "unix:///run/x.sock"}), "socket");
    refused(Client::Cursor, json!({"command": 3}), "`command`");
    refused(Client::Cursor, json!({"command": "a", "args": "b"}), "`args`");
    refused(
        Client::Cursor,
        json!({"command": "a", "env": {"A": []}}),
        "`env.A`",
    );
    refused(Client::Cursor, json!("a"), "not an object");
}

#[test]
fn servers_of_a_project_run_in_its_directory() {
    let project = Some(Path::new("/p"));
    for (entry, cwd) in [
        (json!({"command": "a"}), "/p"),
        (json!({"command": "a", "cwd": "sub"}), "/p/sub"),
        (json!({"command": "a", "cwd": "/x"}), "/x"),
    ] {
        let found = translate(Client::VsCode, project, &entry).unwrap();
        assert_eq!(found.definition["cwd"], cwd);
    }
}

#[test]
fn a_guard_of_tools_is_a_gap_with_their_names() {
    #[track_caller]
    fn check(client: Client, field: &str, value: Value, told: &str) {
        let entry = json!({"command": "a", field: value});
        let found = translate(client, None, &entry).unwrap();
        let filters = found.filters.iter().map(|filter| filter.told("SERVER"));
        let gaps: Vec<String> = found.gaps.iter().cloned().chain(filters).collect();
        let gaps = gaps.join("|");
        assert!(
            gaps.contains(told) && gaps.is_empty() == told.is_empty() && found.notes.is_empty(),
            "{field}: {found:?}"
        );
    }
    check(
        Client::GeminiCli,
        "excludeTools",
        json!(["rm", "mv"]),
        "write \"deny\": [\"rm\",\"mv\"] into the entry of `SERVER`",
    );
    check(
        Client::GeminiCli,
        "includeTools",
        json!(["ls"]),
        "only some tools: write \"allow\": [\"ls\",",
    );
    check(
        Client::GeminiCli,
        "includeTools",
        json!(["ls(-l)"]),
        "write \"allow\": [\"ls\",",
    );
    check(
        Client::Codex,
        "enabled_tools",
        json!(["ls(-l)"]),
        "write \"allow\": [\"ls(-l)\",",
    );
    check(
        Client::Goose,
        "available_tools",
        json!(["ls"]),
        "write \"allow\": [\"ls\",",
    );
    check(
        Client::Codex,
        "enabled_tools",
        json!([]),
        "write \"allow\": [\"resources/*\"",
    );
    check(Client::ClaudeCode, "deny", json!(["rm"]), "`deny` guards");
    check(
        Client::Codex,
        "disabled_tools",
        json!(["rm"]),
        "write \"deny\": [\"rm\"]",
    );
    check(
        Client::Codex,
        "disabled_tools",
        json!("rm"),
        "not a list of names",
    );
    check(
        Client::Codex,
        "disabled_tools",
        json!([" rm"]),
        "not a list of names",
    );
    check(
        Client::Codex,
        "default_tools_approval_mode",
        json!("prompt"),
        "guards this server in Codex",
    );
    check(
        Client::Codex,
        "tools",
        json!({"rm": {"approval_mode": "prompt"}}),
        "`tools` guards",
    );
    check(
        Client::VsCode,
        "sandboxEnabled",
        json!(true),
        "`sandboxEnabled` guards",
    );
    check(Client::VsCode, "sandboxEnabled", json!(false), "");
    check(Client::GeminiCli, "excludeTools", json!([]), "");
    check(Client::Goose, "available_tools", json!([]), "");
}

#[test]
fn a_file_of_variables_is_reported() {
    let entry = json!({"command": "a", "envFile": "${workspaceFolder}/.env"});
    let found = translate(Client::VsCode, Some(Path::new("/p")), &entry).unwrap();
    assert_eq!(found.env_file.as_deref(), Some("/p/.env"));
}
