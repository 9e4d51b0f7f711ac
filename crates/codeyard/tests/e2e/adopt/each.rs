//! Each of the ten clients, on a file in its own format: import, install, repeat, undo, and undo after a change.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use clients::{Client, ClientFile};
use serde_json::{Value, json};

use crate::adopt::{Home, fixture};

/// The expectations for one client.
struct Case {
    client: Client,
    /// Its file below the home directory.
    path: &'static str,
    fixture: &'static str,
    /// Servers that codeyard uses after the import.
    used: &'static [&'static str],
    /// Servers that codeyard imports as disabled.
    disabled: &'static [&'static str],
    /// Servers that cannot be imported.
    left: &'static [&'static str],
    /// Literal secrets of the file.
    secrets: &'static [&'static str],
    /// The rules from the first server's `allow` and `deny`, and its refused tools.
    rules: Option<(Value, &'static [&'static str])>,
}

async fn check(case: &Case) {
    let original = fixture(case.fixture);
    let home = Home::with(case.path, &original);
    let id = case.client.id();
    imports(&home, case).await;
    keeps_tools_from_the_model(&home, case).await;
    let dry = home.done(&["install", id, "--dry-run"]).await;
    assert!(dry.out.contains("+") && dry.out.contains("codeyard"), "{dry:?}");
    no_secret(case, &dry.out);
    assert_eq!(home.read(case.path), original, "a dry run changes nothing");
    let installed = home.done(&["install", id, "--yes"]).await;
    no_secret(case, &format!("{}{}", installed.out, installed.err));
    let changed = home.read(case.path);
    is_installed(&home, case, &changed);
    let again = home.done(&["install", id, "--yes"]).await;
    assert!(again.out.contains("installed there already"), "{again:?}");
    assert_eq!(home.read(case.path), changed);
    home.done(&["install", id, "--undo", "--yes"]).await;
    assert_eq!(home.read(case.path), original, "byte for byte");
    let directory = Path::new(case.path).parent().unwrap().to_str().unwrap();
    let names = home.list(directory);
    assert!(
        !names.iter().any(|name| name.contains("before-codeyard")),
        "{names:?}"
    );
    is_undone_in_part(&home, case).await;
    is_not_undone_over_changes(&home, case).await;
}

async fn imports(home: &Home, case: &Case) {
    let id = case.client.id();
    let dry = home.done(&["import", id, "--dry-run"]).await;
    no_secret(case, &dry.out);
    assert!(
        !home.path(".config/codeyard").exists(),
        "a dry run changes nothing"
    );
    let imported = home.done(&["import", id, "--yes", "--json"]).await;
    no_secret(case, &format!("{}{}", imported.out, imported.err));
    let told = imported.json();
    let ours = home.ours();
    let names = |wanted: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let servers = ours["mcpServers"].as_object().unwrap().iter();
        let wanted = servers.filter(|(_, entry)| wanted(entry));
        wanted.map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&|entry| entry["disabled"] != true), case.used, "{told:#}");
    assert_eq!(
        names(&|entry| entry["disabled"] == true),
        case.disabled,
        "{told:#}"
    );
    let servers = told["servers"].as_array().unwrap();
    let left = servers.iter().filter(|server| server["fate"] == "left");
    let left: Vec<&str> = left.map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(left, case.left, "{told:#}");
    let (before, after) = (&told["bill"]["tokens_before"], &told["bill"]["tokens_after"]);
    assert!(
        before.as_u64() > Some(0) && after.as_u64() <= Some(300),
        "{told:#}"
    );
    no_secret(case, &ours.to_string());
    if !case.secrets.is_empty() {
        let kept = std::fs::read_to_string(home.secrets()).unwrap();
        assert!(case.secrets.iter().all(|secret| kept.contains(secret)), "{kept}");
        let mode = home.secrets().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let before = ours.to_string();
    let again = home.done(&["import", id, "--yes"]).await;
    assert!(again.out.contains("there already"), "{again:?}");
    assert_eq!(home.ours().to_string(), before);
    home.done(&["config", "check"]).await;
}

/// Codeyard hides from the model what the client hides.
async fn keeps_tools_from_the_model(home: &Home, case: &Case) {
    let ours = home.ours();
    let crm = &ours["mcpServers"]["crm"];
    let (rules, refused) = case.rules.clone().unwrap_or((json!([null, null]), &[]));
    assert_eq!(json!([crm["allow"], crm["deny"]]), rules, "{crm}");
    let listed = home.done(&["tools", "--json"]).await.json();
    let servers = listed["servers"].as_array().unwrap().iter();
    let tools = servers.flat_map(|server| server["tools"].as_array().unwrap());
    let denied = tools.filter(|tool| tool["denied"] == true);
    let denied: Vec<&str> = denied.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(denied, refused, "{listed:#}");
}

/// The client's own view of the file afterwards.
fn is_installed(home: &Home, case: &Case, text: &str) {
    let used = used(home, case, text);
    let has = |name: &&str| used.iter().any(|known| known == name);
    assert!(has(&"codeyard"), "{used:?}");
    assert!(!case.used.iter().any(&has), "{used:?}");
    // The client keeps servers that codeyard does not use.
    assert!(case.left.iter().all(has), "{used:?}");
}

/// The servers that the client uses.
fn used(home: &Home, case: &Case, text: &str) -> Vec<String> {
    let place = ClientFile {
        client: case.client,
        path: home.path(case.path),
        project: None,
    };
    let found = clients::read(&place, Path::new("/"), text).unwrap();
    let used = found.into_iter().filter(|server| server.is_enabled);
    used.map(|server| server.name).collect()
}

/// After a change by the client, an undo keeps the change and restores the servers.
async fn is_undone_in_part(home: &Home, case: &Case) {
    let id = case.client.id();
    home.done(&["install", id, "--yes"]).await;
    let changed = home.read(case.path).replace("demo-server", "demo-server-2");
    home.write(case.path, format!("{changed}\n").as_bytes());
    let undone = home.done(&["install", id, "--undo", "--yes"]).await;
    assert!(undone.out.contains("only codeyard's part"), "{undone:?}");
    no_secret(case, &format!("{}{}", undone.out, undone.err));
    let now = home.read(case.path);
    assert_eq!(now.contains("demo-server-2"), changed.contains("demo-server-2"));
    let used = used(home, case, &now);
    assert!(!used.contains(&"codeyard".to_owned()), "{used:?}");
    assert!(
        case.used
            .iter()
            .all(|name| used.iter().any(|known| known == name)),
        "{used:?} {now}"
    );
    home.refused(&["install", id, "--undo", "--yes"], &["nothing to undo"])
        .await;
    home.write(case.path, fixture(case.fixture).as_bytes());
}

/// After a change of our entry, an undo keeps the change.
async fn is_not_undone_over_changes(home: &Home, case: &Case) {
    let id = case.client.id();
    home.done(&["install", id, "--yes"]).await;
    let binary = test_support::codeyard_binary();
    let changed = home
        .read(case.path)
        .replace(binary.to_str().unwrap(), "/mine/codeyard");
    home.write(case.path, changed.as_bytes());
    home.refused(
        &["install", id, "--undo", "--yes"],
        &[
            "was changed since",
            "differs from the written entry",
            "before-codeyard",
        ],
    )
    .await;
    assert_eq!(home.read(case.path), changed);
}

fn no_secret(case: &Case, text: &str) {
    for secret in case.secrets {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[tokio::test]
async fn claude_desktop() {
    check(&Case {
        client: Client::ClaudeDesktop,
        path: ".config/Claude/claude_desktop_config.json",
        fixture: "claude-desktop.json",
        used: &["crm", "orders"],
        disabled: &[],
        left: &[],
        secrets: &["sk-test-0123456789abcdef"],
        rules: None,
    })
    .await;
}

#[tokio::test]
async fn claude_code() {
    check(&Case {
        client: Client::ClaudeCode,
        path: ".claude.json",
        fixture: "claude-code.json",
        used: &["crm"],
        disabled: &["tickets"],
        left: &[],
        secrets: &["tickets-0123456789"],
        rules: None,
    })
    .await;
}

#[tokio::test]
async fn cursor() {
    check(&Case {
        client: Client::Cursor,
        path: ".cursor/mcp.json",
        fixture: "cursor.json",
        used: &["crm"],
        // One refers to an unset variable, one to the open project.
        disabled: &["orders", "here", "tickets"],
        left: &[],
        secrets: &["crm-0123456789", "tickets-0123456789"],
        rules: None,
    })
    .await;
}

#[tokio::test]
async fn vs_code() {
    check(&Case {
        client: Client::VsCode,
        path: ".config/Code/User/mcp.json",
        fixture: "vscode.json",
        used: &["orders"],
        disabled: &["crm", "tickets"],
        left: &[],
        secrets: &[],
        rules: None,
    })
    .await;
}

#[tokio::test]
async fn windsurf() {
    check(&Case {
        client: Client::Windsurf,
        path: ".codeium/windsurf/mcp_config.json",
        fixture: "windsurf.json",
        used: &["crm", "mailbox"],
        disabled: &["orders", "tickets"],
        left: &[],
        secrets: &["crm-0123456789"],
        rules: Some((json!([null, ["update_customers"]]), &["update_customers"])),
    })
    .await;
}

#[tokio::test]
async fn gemini_cli() {
    check(&Case {
        client: Client::GeminiCli,
        path: ".gemini/settings.json",
        fixture: "gemini-cli.json",
        used: &["crm"],
        disabled: &["mailbox", "tickets", "events"],
        left: &[],
        secrets: &["tickets-0123456789"],
        rules: Some((
            json!([
                [
                    "list_customers",
                    "get_customer",
                    "update_customer",
                    "resources/*",
                    "prompts/*",
                    "completion/*"
                ],
                ["update_customer"]
            ]),
            &["update_customer", "update_customers"],
        )),
    })
    .await;
}

#[tokio::test]
async fn codex() {
    check(&Case {
        client: Client::Codex,
        path: ".codex/config.toml",
        fixture: "codex.toml",
        used: &["crm"],
        disabled: &["orders", "tickets"],
        left: &[],
        secrets: &["crm-0123456789"],
        rules: Some((json!([null, ["update_customers"]]), &["update_customers"])),
    })
    .await;
}

#[tokio::test]
async fn zed() {
    check(&Case {
        client: Client::Zed,
        path: ".config/zed/settings.json",
        fixture: "zed.json",
        used: &["crm"],
        disabled: &["orders", "tickets"],
        left: &["mcp-server-postgres"],
        secrets: &["tickets-0123456789"],
        rules: None,
    })
    .await;
}

#[tokio::test]
async fn opencode() {
    check(&Case {
        client: Client::Opencode,
        path: ".config/opencode/opencode.jsonc",
        fixture: "opencode.jsonc",
        used: &["mailbox"],
        disabled: &["crm", "orders", "tickets"],
        left: &[],
        secrets: &[],
        rules: None,
    })
    .await;
}

#[tokio::test]
async fn goose() {
    check(&Case {
        client: Client::Goose,
        path: ".config/goose/config.yaml",
        fixture: "goose.yaml",
        used: &["crm"],
        disabled: &["orders", "tickets"],
        left: &["developer"],
        secrets: &["crm-0123456789", "tickets-0123456789"],
        rules: Some((
            json!([
                [
                    "list_customers",
                    "get_customer",
                    "resources/*",
                    "prompts/*",
                    "completion/*"
                ],
                null
            ]),
            &["update_customer", "update_customers"],
        )),
    })
    .await;
}
