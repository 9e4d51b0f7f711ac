//! Codeyard installed as an address: each client's note on the token, refusals, and undo.

use std::os::unix::fs::PermissionsExt;

use clients::Client;
use serde_json::{Value, json};

use crate::adopt::{CURSOR, Home, demo, fixture};

const URL: &str = "http://127.0.0.1:8700/mcp";
const TOKEN: &str = "0123456789abcdef0123";

/// A client whose file holds addresses: its path below the home directory, its fixture, and its note on the token.
const CLIENTS: [(Client, &str, &str, &str); 9] = [
    (
        Client::ClaudeCode,
        ".claude.json",
        "claude-code.json",
        "variable CODEYARD_TOKEN",
    ),
    (
        Client::Cursor,
        ".cursor/mcp.json",
        "cursor.json",
        "variable CODEYARD_TOKEN",
    ),
    (
        Client::VsCode,
        ".config/Code/User/mcp.json",
        "vscode.json",
        "asks for the token",
    ),
    (
        Client::Windsurf,
        ".codeium/windsurf/mcp_config.json",
        "windsurf.json",
        "variable CODEYARD_TOKEN",
    ),
    (
        Client::GeminiCli,
        ".gemini/settings.json",
        "gemini-cli.json",
        "variable CODEYARD_TOKEN",
    ),
    (
        Client::Codex,
        ".codex/config.toml",
        "codex.toml",
        "variable CODEYARD_TOKEN",
    ),
    (
        Client::Zed,
        ".config/zed/settings.json",
        "zed.json",
        "the token itself is written into this file",
    ),
    (
        Client::Opencode,
        ".config/opencode/opencode.jsonc",
        "opencode.jsonc",
        "variable CODEYARD_TOKEN",
    ),
    (
        Client::Goose,
        ".config/goose/config.yaml",
        "goose.yaml",
        "variable CODEYARD_TOKEN",
    ),
];

/// Writes a token file; returns its path.
fn token_file(home: &Home, mode: u32) -> String {
    home.write("token", format!("{TOKEN}\n").as_bytes());
    let file = home.path("token");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    file.to_str().unwrap().to_owned()
}

fn mode(home: &Home, path: &str) -> u32 {
    home.path(path).metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn each_client_is_installed_and_undone() {
    for (client, path, name, told) in CLIENTS {
        let original = fixture(name);
        let home = Home::with(path, &original);
        std::fs::set_permissions(home.path(path), PermissionsExt::from_mode(0o644)).unwrap();
        let token = token_file(&home, 0o600);
        let install = ["install", client.id(), "--url", URL, "--token-file", &token];
        let with = |option: &'static str| [&install[..], &[option]].concat();
        let dry = home.done(&with("--dry-run")).await;
        assert_eq!(home.read(path), original, "{client}: a dry run changes nothing");
        let installed = home.done(&with("--yes")).await;
        let both = format!("{}{}", dry.out, installed.out);
        assert!(both.contains(URL) && both.contains(told), "{client}: {both}");
        assert!(!both.contains(TOKEN), "{client}: {both}");
        let now = home.read(path);
        assert!(now.contains(URL) && !now.contains("--config"), "{client}: {now}");
        let (holds, expected) = match client {
            Client::Zed => (true, 0o600),
            _ => (false, 0o644),
        };
        assert_eq!(
            (now.contains(TOKEN), mode(&home, path)),
            (holds, expected),
            "{client}"
        );
        let again = home.done(&with("--yes")).await;
        assert!(
            again.out.contains("installed there already"),
            "{client}: {again:?}"
        );
        home.refused(
            &["install", client.id(), "--yes"],
            &["connects to http://127.0.0.1:8700/mcp"],
        )
        .await;
        let undone = home.done(&["install", client.id(), "--undo", "--yes"]).await;
        assert!(!undone.out.contains(TOKEN), "{client}: {undone:?}");
        assert_eq!(home.read(path), original, "{client}: byte for byte");
    }
}

#[tokio::test]
async fn a_file_that_changed_loses_only_our_part() {
    for (client, path, name, _) in CLIENTS {
        let home = Home::with(path, &fixture(name));
        let token = token_file(&home, 0o600);
        home.done(&[
            "install",
            client.id(),
            "--url",
            URL,
            "--token-file",
            &token,
            "--yes",
        ])
        .await;
        let changed = home.read(path).replace("demo-server", "demo-server-2");
        home.write(path, changed.as_bytes());
        let undone = home.done(&["install", client.id(), "--undo", "--yes"]).await;
        assert!(
            undone.out.contains("only codeyard's part"),
            "{client}: {undone:?}"
        );
        assert!(!undone.out.contains(TOKEN), "{client}: {undone:?}");
        let now = home.read(path);
        assert!(now.contains("demo-server-2"), "{client}: {now}");
        for words in [URL, TOKEN, "CODEYARD_TOKEN", "codeyard-token"] {
            assert!(!now.contains(words), "{client}: {now}");
        }
    }
}

#[tokio::test]
async fn servers_are_imported_on_this_machine_and_stay_for_another() {
    let home = Home::of_cursor(json!({"crm": demo("crm")}));
    home.done(&["import", "cursor", "--yes"]).await;
    let elsewhere = [
        "install",
        "cursor",
        "--url",
        "https://example.com/mcp",
        "--dry-run",
    ];
    let told = home.done(&elsewhere).await.out;
    for words in [
        "`crm` stays as it is",
        "on another machine",
        "without --token-file no token is sent",
    ] {
        assert!(told.contains(words), "{told}");
    }
    let installed = home
        .done(&["install", "cursor", "--url", URL, "--yes", "--json"])
        .await
        .json();
    assert_eq!(installed["taken"], json!(["crm"]), "{installed}");
    assert_eq!(
        (&installed["url"], &installed["token_in"]),
        (&json!(URL), &Value::Null)
    );
    let file: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    assert_eq!(file, json!({"mcpServers": {"codeyard": {"url": URL}}}));
    // Codeyard does not take itself over.
    let imported = home.done(&["import", "cursor", "--yes"]).await;
    assert!(
        imported.out.contains("codeyard itself, over HTTP"),
        "{imported:?}"
    );
    assert_eq!(home.ours()["mcpServers"].as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn a_token_that_others_can_read_on_the_way_is_told() {
    let home = Home::of_cursor(json!({}));
    let token = token_file(&home, 0o600);
    let near = [
        "install",
        "cursor",
        "--url",
        &"http 10.0.0.7:8700/mcp".replacen(' ', "://", 1),
        "--token-file",
        &token,
        "--dry-run",
    ];
    let told = home.done(&near).await.out;
    assert!(told.contains("sent without encryption"), "{told}");
}

#[tokio::test]
async fn what_cannot_be_connected_to_is_refused_with_the_remedy() {
    let home = Home::of_cursor(json!({}));
    home.write(".config/Claude/claude_desktop_config.json", b"{}");
    let original = home.read(CURSOR);
    let open = token_file(&home, 0o644);
    for (arguments, told) in [
        (&["cursor", "--url", "http://example.com/mcp"][..], "use https"),
        (
            &["cursor", "--url", "http://127.0.0.1:8700"],
            "codeyard serves clients at /mcp",
        ),
        (
            &["cursor", "--url", "https://me:hush@example.com/mcp"],
            "--token-file FILE",
        ),
        (
            &["cursor", "--url", URL, "--token-file", &open],
            "other users may read it",
        ),
        (
            &["cursor", "--url", URL, "--token-file", "/nowhere"],
            "--token-file /nowhere",
        ),
        (&["cursor", "--url", URL, "--undo"], "--undo"),
        (&["cursor", "--token-file", &open], "--url"),
        (&["--url", URL], "--url needs the client"),
        (&["claude-desktop", "--url", URL], "leave out `--url`"),
    ] {
        let arguments = [&["install"], arguments].concat();
        home.refused(&arguments, &[told]).await;
    }
    assert_eq!(home.read(CURSOR), original);
    home.done(&["install", "cursor", "--yes"]).await;
    home.refused(
        &["install", "cursor", "--url", URL, "--yes"],
        &["starts codeyard", "undo that installation"],
    )
    .await;
}
