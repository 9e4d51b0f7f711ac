//! Silent errors: lost originals, leaked secrets, dropped guards, and servers that stop others.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{Era, McpClient, codeyard_binary};
use tokio::process::Command;

use crate::adopt::{CURSOR, Home, OURS, demo, demo_with, ended};

#[tokio::test]
async fn two_concurrent_installations_keep_the_original() {
    let home = Home::of_cursor(json!({"mine": {"command": "never-started"}}));
    let original = home.read(CURSOR);
    let both = futures_util::future::join(
        home.run(&["install", "cursor", "--yes"]),
        home.run(&["install", "cursor", "--yes"]),
    );
    let (one, other) = both.await;
    assert!(one.code == 0 || other.code == 0, "{one:?} {other:?}");
    let backups: Vec<String> = home.list(".cursor");
    let backups: Vec<&String> = backups
        .iter()
        .filter(|name| name.contains("before-codeyard"))
        .collect();
    assert_eq!(backups.len(), 1, "{one:?} {other:?}");
    home.done(&["install", "cursor", "--undo", "--yes"]).await;
    assert_eq!(home.read(CURSOR), original);
}

#[tokio::test]
async fn a_secret_gets_a_name_that_no_other_server_refers_to() {
    let home = Home::of_cursor(json!({"crm": demo_with("env", json!({"CRM_TOKEN": "hush-hush-hush"}))}));
    let other = demo_with("env", json!({"X": "${CODEYARD_CRM_TOKEN:-none}"}));
    home.write(
        OURS,
        json!({"mcpServers": {"other": other}}).to_string().as_bytes(),
    );
    home.done(&["import", "cursor", "--yes"]).await;
    assert_eq!(
        home.ours()["mcpServers"]["crm"]["env"],
        json!({"CRM_TOKEN": "${CODEYARD_CRM_TOKEN_2}"})
    );
}

#[tokio::test]
async fn a_database_password_stays_out_of_a_client_s_file() {
    let home = Home::of_cursor(json!({}));
    let original = home.read(CURSOR);
    let secret = "postgres://yard:hush-hush@example.com/yard";
    home.refused(
        &["install", "cursor", "--yes", "--database", secret],
        &["would hold the password", "CODEYARD_DATABASE_URL"],
    )
    .await;
    assert_eq!(home.read(CURSOR), original);
    let open = "postgres://yard@example.com/yard";
    home.done(&["install", "cursor", "--yes", "--database", open])
        .await;
    assert!(home.read(CURSOR).contains(open), "{}", home.read(CURSOR));
}

#[tokio::test]
async fn a_word_is_a_client_even_if_a_file_has_its_name() {
    let home = Home::of_cursor(json!({"crm": demo("crm")}));
    home.write(
        "cursor",
        b"{\"mcpServers\": {\"evil\": {\"command\": \"touch\", \"args\": [\"evil\"]}}}",
    );
    let mut command = home.command(&["import", "cursor", "--yes"]);
    command.current_dir(home.directory());
    let imported = ended(command).await;
    assert_eq!(imported.code, 0, "{imported:?}");
    assert!(home.ours()["mcpServers"]["evil"].is_null() && !home.path("evil").exists());
    home.refused(&["import", "emacs"], &["does not know a client `emacs`"])
        .await;
}

#[tokio::test]
async fn a_guarded_server_stays_disabled_until_a_person_enables_it() {
    for (entry, told) in [
        (
            demo_with("excludeTools", json!("update_customers")),
            "`excludeTools` hides tools from the model, but is not a list of names that a rule can match",
        ),
        (
            demo_with("sandboxEnabled", json!(true)),
            "`sandboxEnabled` guards",
        ),
        (
            demo_with("env", json!({"X": "${FOO:}"})),
            "`${FOO:}` has no meaning",
        ),
    ] {
        let home = Home::of_cursor(json!({ "crm": entry }));
        let imported = home.done(&["import", "cursor", "--yes"]).await;
        assert!(imported.out.contains(told), "{told}: {imported:?}");
        assert_eq!(home.ours()["mcpServers"]["crm"]["disabled"], true, "{told}");
        home.done(&["tools"]).await;
    }
}

#[tokio::test]
async fn a_variable_of_this_shell_is_named_before_the_question() {
    let home = Home::of_cursor(json!({"crm": demo_with("env", json!({"T": "${env:CRM_TOKEN}"}))}));
    for args in [
        &["import", "cursor", "--dry-run"][..],
        &["import", "cursor", "--yes", "--json"],
        &["install", "cursor", "--dry-run"],
        &["install", "cursor", "--yes", "--json"],
    ] {
        let mut command = home.command(args);
        command.env("CRM_TOKEN", "x");
        let told = ended(command).await;
        assert!(told.out.contains("CRM_TOKEN"), "{args:?}: {told:?}");
    }
}

#[tokio::test]
async fn an_unset_variable_leaves_out_one_server_and_is_said() {
    let home = Home::new();
    let lost = demo_with("env", json!({"T": "${NOT_SET_ANYWHERE}"}));
    home.write(
        OURS,
        json!({"mcpServers": {"crm": demo("crm"), "lost": lost}})
            .to_string()
            .as_bytes(),
    );
    let told = "mcpServers.lost.env.T: the server is not used: the variable NOT_SET_ANYWHERE is not set";
    let tools = home.done(&["tools"]).await;
    assert!(
        tools.err.contains(told) && tools.out.contains("tools.crm."),
        "{tools:?}"
    );

    let mut command = home.command(&["mcp"]);
    command.kill_on_drop(true);
    let mut client = McpClient::spawn(command).unwrap();
    client.open(Era::Legacy).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    let mut command = home.command(&["ps"]);
    command.env("NOT_SET_ANYWHERE", "set here");
    let ps = ended(command).await;
    assert!(ps.err.contains(told), "{ps:?}");
    client.finish().await.unwrap();

    let servers = home.run(&["servers", "--json"]).await.json();
    let lost = servers["servers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "lost");
    assert_eq!(lost.unwrap()["state"], "unset", "{servers}");
}

#[tokio::test]
async fn the_remedy_for_an_unused_server_depends_on_the_cause() {
    let home = Home::of_cursor(json!({"crm": demo_with("env", json!({"A": "${env:NOWHERE_SET}"}))}));
    home.done(&["import", "cursor", "--yes"]).await;
    let is_told = async |args: &[&str], remedy: &str| {
        let told = home.done(args).await;
        let line = format!("codeyard has this server but does not use it; {remedy}\n");
        assert!(told.out.contains(&line), "{line}: {told:?}");
    };
    let then = "set NOWHERE_SET where codeyard is started, then `codeyard servers enable crm`";
    is_told(&["install", "cursor", "--dry-run"], then).await;
    is_told(&["import", "cursor", "--dry-run"], then).await;
    home.write(
        OURS,
        home.read(OURS)
            .replace("\"disabled\": true", "\"disabled\": false")
            .as_bytes(),
    );
    let set = "set NOWHERE_SET where codeyard is started";
    is_told(&["install", "cursor", "--dry-run"], set).await;
    is_told(&["import", "cursor", "--dry-run"], set).await;
    let mut command = home.command(&["install", "cursor", "--dry-run"]);
    command.env("NOWHERE_SET", "1");
    let taken = ended(command).await;
    assert!(taken.out.contains("used by codeyard: crm"), "{taken:?}");
}

#[tokio::test]
async fn another_server_of_our_name_stays() {
    let home = Home::of_cursor(json!({"codeyard": {"command": "npx", "args": ["another"]}}));
    let before = home.read(CURSOR);
    home.refused(
        &["install", "cursor", "--yes"],
        &["a server named `codeyard`", "another name first"],
    )
    .await;
    assert_eq!(home.read(CURSOR), before);
}

#[tokio::test]
async fn an_entry_with_other_files_stays_and_is_named() {
    let home = Home::of_cursor(json!({}));
    let file_name = home.path("mine.json");
    let file_name = file_name.to_str().unwrap();
    home.write("mine.json", b"{\"mcpServers\": {}}");
    home.done(&["install", "cursor", "--yes", "--config", file_name])
        .await;
    let first = home.read(CURSOR);
    assert!(first.contains("mine.json"), "{first}");
    // The client keeps a server of the other codeyard, because this one lacks it.
    let mut file: Value = serde_json::from_str(&first).unwrap();
    file["mcpServers"]["crm"] = json!({"command": codeyard_binary(), "args": ["demo-server", "crm"]});
    home.write(CURSOR, file.to_string().as_bytes());
    let now = home.read(CURSOR);
    home.done(&["import", "cursor", "--yes"]).await;
    home.refused(
        &["install", "cursor", "--yes"],
        &[
            "starts codeyard with `--config ",
            "mine.json",
            "give the same options",
            "nothing was changed",
        ],
    )
    .await;
    assert_eq!(home.read(CURSOR), now);
    // With the same options, codeyard is already installed.
    home.write(CURSOR, first.as_bytes());
    home.done(&["install", "cursor", "--yes", "--config", file_name])
        .await;
    assert_eq!(home.read(CURSOR), first);
}

#[tokio::test]
async fn undoing_from_elsewhere_names_the_data_directory() {
    let home = Home::of_cursor(json!({}));
    home.done(&["install", "cursor", "--yes"]).await;
    let elsewhere = Home::new();
    let mut command = elsewhere.command(&["install", "cursor", "--undo"]);
    command.env("HOME", home.directory());
    let refused = ended(command).await;
    assert!(
        refused.code == 2
            && refused
                .err
                .contains(&format!("give `--data {}`, or remove", home.data().display())),
        "{refused:?}"
    );
}

#[tokio::test]
async fn no_spelling_of_a_secret_is_shown() {
    let text = r#"{"mcpServers": {
        "odd": {"command": 3, "env": {"TOKEN": "s3cret-one"}},
        "spelled": {"command": "x", "env": {"TOKEN": "s3cret\u002dtwo"}},
        // "old": {"env": {"TOKEN": "s3cret-three"}}
        "crm": {"command": "x", "args": ["postgres://u:s3cret-four@h/db", "https://h/?k=1&token=s3cret-five"]}
    }}"#;
    let home = Home::with(CURSOR, text);
    for args in [
        &["import", "cursor", "--dry-run"][..],
        &["import", "cursor", "--yes"],
        &["install", "cursor", "--dry-run"],
        &["install", "cursor", "--yes"],
        &["install", "cursor", "--undo", "--dry-run"],
    ] {
        let told = home.done(args).await;
        assert!(
            !format!("{}{}", told.out, told.err).contains("s3cret"),
            "{args:?}: {told:?}"
        );
    }
}

#[tokio::test]
async fn a_damaged_list_of_changes_leaves_nothing_behind() {
    let home = Home::of_cursor(json!({}));
    let list = home.secrets().with_file_name("installed.json");
    std::fs::create_dir_all(list.parent().unwrap()).unwrap();
    std::fs::write(&list, "{").unwrap();
    let refused = home.run(&["install", "cursor", "--yes"]).await;
    assert!(
        refused.code != 0 && refused.err.contains("installed.json"),
        "{refused:?}"
    );
    assert_eq!(home.list(".cursor"), ["mcp.json"]);
}

#[tokio::test]
async fn a_path_with_dots_is_the_user_s_own_file() {
    let home = Home::of_cursor(json!({"crm": demo("crm")}));
    let path = home.path(".cursor/../.cursor/mcp.json");
    let imported = home.done(&["import", path.to_str().unwrap(), "--yes"]).await;
    assert!(imported.out.contains("`codeyard install cursor`"), "{imported:?}");
    assert!(home.ours()["mcpServers"]["crm"]["cwd"].is_null());
}

#[tokio::test]
async fn a_file_of_variables_is_read_and_kept() {
    let home = Home::of_cursor(json!({
        "crm": demo_with("envFile", json!("${userHome}/crm.env")),
        "orders": demo_with("envFile", json!(".env")),
        "mailbox": demo_with("envFile", json!("/nowhere/.env")),
    }));
    home.write("crm.env", b"# crm\nREGION=EMEA\nTOKEN='hush-hush-hush'\n");
    let imported = home.done(&["import", "cursor", "--yes"]).await;
    let entry = &home.ours()["mcpServers"]["crm"];
    assert_eq!(
        entry["env"],
        json!({"REGION": "EMEA", "TOKEN": "${CODEYARD_CRM_TOKEN}"})
    );
    assert!(!imported.out.contains("hush-hush-hush"), "{imported:?}");
    for words in [
        "orders: `envFile` (.env) is relative to whichever project is open, which codeyard does not know",
        "mailbox: `envFile` (/nowhere/.env) there is no such file",
    ] {
        assert!(imported.out.contains(words), "{words}: {imported:?}");
    }
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the process stands for a client, and is ended by the test"
)]
async fn a_running_client_is_reported() {
    let home = Home::with(".config/zed/settings.json", "{}");
    let program = home.path("zed-editor");
    std::fs::copy("/bin/sleep", &program).unwrap();
    let mut running = Command::new(&program)
        .arg("600")
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pid = running.id().unwrap();
    let name = format!("/proc/{pid}/comm");
    while std::fs::read_to_string(Path::new(&name)).unwrap().trim_end() != "zed-editor" {
        tokio::task::yield_now().await;
    }
    let told = home.done(&["install", "zed", "--yes"]).await;
    assert!(
        told.out
            .contains(&format!("Zed is running (process {pid}): restart it")),
        "{told:?}"
    );
    running.kill().await.unwrap();
}
