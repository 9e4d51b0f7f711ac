//! The servers that an import takes or leaves, and its report.

use serde_json::{Value, json};
use test_support::codeyard_binary;

use crate::adopt::{CURSOR, Home, demo, ended, fixture};

/// Each name and its result.
fn fates(told: &Value) -> Vec<String> {
    let servers = told["servers"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    servers
        .map(|server| {
            format!(
                "{} {} {}",
                text(&server["name"]),
                text(&server["fate"]),
                text(&server["as"])
            )
        })
        .collect()
}

#[tokio::test]
async fn without_a_name_every_client_is_listed() {
    let home = Home::with(CURSOR, &fixture("cursor.json"));
    home.write(".codex/config.toml", fixture("codex.toml").as_bytes());
    home.write(".gemini/settings.json", b"{ broken");
    let listed = home.done(&["import"]).await;
    let found = |words: &[&str]| {
        listed
            .out
            .lines()
            .any(|line| words.iter().all(|word| line.contains(word)))
    };
    assert!(
        found(&["Cursor", "cursor", " 4 ", ".cursor/mcp.json"]),
        "{listed:?}"
    );
    assert!(found(&["Codex", " 3 ", " 2 "]), "{listed:?}");
    assert!(found(&["Gemini CLI", "line 1"]), "{listed:?}");
    assert!(!found(&["Goose"]), "{listed:?}");
    let json = home.done(&["import", "--json"]).await.json();
    assert_eq!(json["clients"].as_array().unwrap().len(), 3);
    let nothing = Home::new().done(&["import"]).await;
    assert!(nothing.out.contains("no client's file was found"), "{nothing:?}");
}

#[tokio::test]
async fn the_bill_is_printed() {
    let home =
        Home::of_cursor(json!({"crm": demo("crm"), "orders": demo("orders"), "mailbox": demo("mailbox")}));
    let imported = home.done(&["import", "cursor", "--yes"]).await;
    for words in [
        "server   tools  tokens",
        "added 3 servers to ",
        "the definitions of 9 tools cost 1,079 tokens with every question in Cursor now; with codeyard 200",
        "`codeyard install cursor` puts codeyard in their place",
    ] {
        assert!(imported.out.contains(words), "{words}: {imported:?}");
    }
    assert!(
        imported.err.contains("run on this machine, with your rights"),
        "{imported:?}"
    );
}

#[tokio::test]
async fn the_bill_counts_what_the_client_uses() {
    let home = Home::of_cursor(json!({"crm": demo("crm")}));
    home.done(&["import", "cursor", "--yes"]).await;
    let mut crm = demo("crm");
    crm["disabled"] = true.into();
    let text = json!({"mcpServers": {"crm": crm, "orders": demo("orders")}}).to_string();
    home.write(".codeium/windsurf/mcp_config.json", text.as_bytes());
    let bill = home.done(&["import", "windsurf", "--yes", "--json"]).await.json()["bill"].clone();
    let lines = bill["servers"].as_array().unwrap();
    let orders = lines.iter().find(|line| line["name"] == "orders").unwrap();
    assert_eq!(lines.len(), 2, "{bill}");
    assert_eq!(bill["tokens_before"], orders["tokens"], "{bill}");
}

#[tokio::test]
async fn without_an_answer_there_is_no_total() {
    let home = Home::of_cursor(json!({"lost": {"command": "/nowhere/lost"}}));
    let told = home.done(&["import", "cursor", "--yes"]).await;
    assert!(
        told.out.contains("/nowhere/lost") && !told.out.contains("with every question"),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_default_that_is_a_secret_causes_a_warning() {
    let mut entry = demo("crm");
    entry["env"] = json!({"TOKEN": "${env:CRM_TOKEN:-ghp_bbbbbbbbbbbbbbbbbbbb}"});
    let text = json!({"mcpServers": {"crm": entry}}).to_string();
    let home = Home::new();
    home.write(".claude.json", text.replace("env:", "").as_bytes());
    let told = home.done(&["import", "claude-code", "--yes"]).await;
    assert!(
        told.out
            .contains("crm: the default of `${CRM_TOKEN:-...}` looks like a secret"),
        "{told:?}"
    );
}

#[tokio::test]
async fn servers_that_are_there_and_names_that_are_taken() {
    let home = Home::of_cursor(
        json!({"crm": demo("crm"), "tools": demo("orders"), "self": {"command": codeyard_binary(), "args": ["mcp"]}}),
    );
    home.write(
        ".config/codeyard/mcp.json",
        json!({"mcpServers": {"crm": demo("mailbox")}})
            .to_string()
            .as_bytes(),
    );
    let told = home.done(&["import", "cursor", "--yes", "--json"]).await.json();
    assert_eq!(
        fates(&told),
        ["crm new crm-cursor", "tools new tools-cursor", "self left self"]
    );
    let told = home.done(&["import", "cursor", "--yes", "--json"]).await.json();
    assert_eq!(
        fates(&told),
        [
            "crm known crm-cursor",
            "tools known tools-cursor",
            "self left self"
        ]
    );
}

#[tokio::test]
async fn a_server_that_fails_is_kept_or_left_by_choice() {
    let servers = json!({"crm": demo("crm"), "gone": {"command": "no-such-program-here"}});
    let home = Home::of_cursor(servers.clone());
    let kept = home.done(&["import", "cursor", "--yes"]).await;
    assert!(kept.out.contains("gone    -"), "{kept:?}");
    let told = format!("{}{}", kept.out, kept.err);
    assert_eq!(told.matches("did not start").count(), 1, "{kept:?}");
    assert!(
        kept.err
            .contains("added as disabled, because connecting failed: gone"),
        "{kept:?}"
    );
    assert_eq!(home.ours()["mcpServers"]["gone"]["disabled"], true);
    let installed = home.done(&["install", "cursor", "--yes"]).await;
    assert!(installed.out.contains("`gone` stays as it is"), "{installed:?}");
    assert!(home.read(CURSOR).contains("no-such-program-here"));
    let home = Home::of_cursor(servers);
    let left = home.done(&["import", "cursor", "--yes", "--leave-failed"]).await;
    assert!(left.out.contains("added 1 server"), "{left:?}");
    assert!(home.ours()["mcpServers"]["gone"].is_null());
    // The client still has the server.
    let installed = home.done(&["install", "cursor", "--yes"]).await;
    assert!(installed.out.contains("`gone` stays as it is"), "{installed:?}");
    assert!(home.read(CURSOR).contains("no-such-program-here"));
}

#[tokio::test]
async fn secrets_reach_the_server_and_nothing_else() {
    let mut entry = demo("crm");
    entry["env"] = json!({"CRM_TOKEN": "hush-hush-hush", "REGION": "EMEA"});
    let home = Home::of_cursor(json!({ "crm": entry }));
    let imported = home.done(&["import", "cursor", "--yes"]).await;
    assert!(imported.out.contains("CODEYARD_CRM_TOKEN"), "{imported:?}");
    let entry = &home.ours()["mcpServers"]["crm"];
    assert_eq!(
        entry["env"],
        json!({"CRM_TOKEN": "${CODEYARD_CRM_TOKEN}", "REGION": "EMEA"})
    );
    home.done(&["servers", "test", "crm"]).await;
    let shown = home.done(&["config", "show"]).await;
    assert!(!shown.out.contains("hush-hush-hush"), "{shown:?}");
    // The client's secret takes precedence over the environment.
    let mut command = home.command(&["servers", "test", "crm"]);
    command.env("CODEYARD_CRM_TOKEN", "");
    assert_eq!(ended(command).await.code, 0);
    std::fs::set_permissions(
        home.secrets(),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    home.refused(
        &["servers", "test", "crm"],
        &["secrets.json", "other users may read the file", "chmod 600"],
    )
    .await;
}

#[tokio::test]
async fn a_missing_variable_is_named_and_stops_nothing_else() {
    let home = Home::with(CURSOR, &fixture("cursor.json"));
    let imported = home.done(&["import", "cursor", "--yes"]).await;
    for words in [
        "here: `${workspaceFolder}` is the open project in Cursor",
        "orders: the variable ORDERS_TOKEN is not set",
        "when that is done, `codeyard servers enable orders`",
    ] {
        assert!(imported.out.contains(words), "{words}: {imported:?}");
    }
    let mut command = home.command(&["servers", "enable", "orders", "--yes"]);
    let enabled = ended({
        command.env("ORDERS_TOKEN", "x");
        command
    })
    .await;
    assert_eq!(enabled.code, 0, "{enabled:?}");
    let mut command = home.command(&["install", "cursor", "--yes", "--json"]);
    command.env("ORDERS_TOKEN", "x");
    let installed = ended(command).await.json();
    assert_eq!(installed["taken"], json!(["crm", "orders"]));
}

#[tokio::test]
async fn a_project_s_file_is_read_by_its_path() {
    let home = Home::new();
    let mut entry = demo("crm");
    entry["env"] = json!({"HERE": "${workspaceFolder}/data"});
    home.write(
        "shop/.vscode/mcp.json",
        json!({"servers": {"crm": entry}}).to_string().as_bytes(),
    );
    let path = home.path("shop/.vscode/mcp.json");
    home.done(&["import", path.to_str().unwrap(), "--yes"]).await;
    let crm = &home.ours()["mcpServers"]["crm"];
    let shop = home.path("shop");
    assert_eq!(crm["cwd"], json!(shop));
    assert_eq!(crm["env"]["HERE"], json!(shop.join("data")));
    home.write("list.json", b"{\"a\": 1}");
    let path = home.path("list.json");
    home.refused(
        &["import", path.to_str().unwrap()],
        &["holds no list of MCP servers"],
    )
    .await;
}

#[tokio::test]
async fn variables_are_named_for_clients_that_pass_on_only_listed_ones() {
    for (client, path, expected) in [
        ("codex", ".codex/config.toml", "env_vars = [\"CRM_TOKEN\"]"),
        (
            "gemini-cli",
            ".gemini/settings.json",
            "\"CRM_TOKEN\": \"${CRM_TOKEN}\"",
        ),
        ("cursor", CURSOR, "\"CRM_TOKEN\": \"${env:CRM_TOKEN}\""),
    ] {
        let home = Home::with(path, "");
        let mut entry = demo("crm");
        entry["env"] = json!({"T": "${CRM_TOKEN}"});
        home.write(
            ".config/codeyard/mcp.json",
            json!({"mcpServers": {"crm": entry}}).to_string().as_bytes(),
        );
        let mut command = home.command(&["install", client, "--yes"]);
        command.env("CRM_TOKEN", "x");
        let installed = ended(command).await;
        assert!(home.read(path).contains(expected), "{installed:?}");
        assert!(
            installed.out.contains("must be set where") && installed.out.contains(": CRM_TOKEN"),
            "{installed:?}"
        );
    }
}
