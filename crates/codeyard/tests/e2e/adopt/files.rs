//! Files that cannot be changed, or only with care: the error names each, and the original stays whole.

use std::os::unix::fs::{PermissionsExt, symlink};

use test_support::codeyard_binary;

use crate::adopt::{CURSOR, Home, fixture};

/// Neither command changes the file, and both print these words.
async fn stays(home: &Home, told: &[&str]) {
    let before = std::fs::read(home.path(CURSOR)).ok();
    home.refused(&["install", "cursor", "--yes"], told).await;
    assert_eq!(std::fs::read(home.path(CURSOR)).ok(), before);
    assert!(home.list(".cursor").iter().all(|name| !name.contains("codeyard")));
}

#[tokio::test]
async fn malformed_or_half_written() {
    let whole = fixture("cursor.json");
    for (text, told) in [
        (&whole[..whole.len() / 2], "line "),
        ("{\"mcpServers\": [1]}", "`mcpServers` is not an object"),
        ("[]", "expected an object"),
        ("{\"mcpServers\": {}} }", "line 1"),
    ] {
        let home = Home::with(CURSOR, text);
        stays(&home, &[".cursor/mcp.json", told, "nothing was changed"]).await;
        home.refused(&["import", "cursor", "--yes"], &[".cursor/mcp.json", told])
            .await;
        assert!(!home.path(".config/codeyard/mcp.json").exists());
    }
    let home = Home::new();
    home.write(CURSOR, b"{\"mcpServers\": {\"\xff\": {}}}");
    stays(&home, &["not valid UTF-8"]).await;
}

#[tokio::test]
async fn malformed_toml_and_yaml() {
    let home = Home::with(".codex/config.toml", "[mcp_servers.a\ncommand = 'a'\n");
    home.refused(
        &["install", "codex", "--yes"],
        &["config.toml", "line 1", "not valid TOML"],
    )
    .await;
    let home = Home::with(
        ".config/goose/config.yaml",
        "extensions: {crm: {enabled: true}}\n",
    );
    home.refused(
        &["install", "goose", "--yes"],
        &["config.yaml", "line 1", "by hand"],
    )
    .await;
}

#[tokio::test]
async fn not_writable() {
    let home = Home::with(CURSOR, "{}");
    std::fs::set_permissions(home.path(CURSOR), PermissionsExt::from_mode(0o444)).unwrap();
    stays(&home, &[".cursor/mcp.json", "is write-protected", "chmod u+w"]).await;
}

#[tokio::test]
async fn of_another_user() {
    let home = Home::with(CURSOR, "{}");
    let other = if rustix::process::geteuid().as_raw() == 65534 {
        65533
    } else {
        65534
    };
    // Only root can make such a file.
    if std::os::unix::fs::chown(home.path(CURSOR), Some(other), None).is_ok() {
        let told = format!("belongs to the user {other}");
        stays(&home, &[".cursor/mcp.json", &told]).await;
    }
}

#[tokio::test]
async fn no_file_and_no_directory() {
    let home = Home::new();
    home.refused(
        &["install", "cursor", "--yes"],
        &[".cursor", "does not exist", "start Cursor once"],
    )
    .await;
    home.refused(&["import", "cursor"], &[".cursor/mcp.json", "does not exist"])
        .await;
    std::fs::create_dir(home.path(".cursor")).unwrap();
    home.done(&["install", "cursor", "--yes"]).await;
    assert!(home.read(CURSOR).contains("codeyard"));
    home.done(&["install", "cursor", "--undo", "--yes"]).await;
    assert!(home.list(".cursor").is_empty());
}

#[tokio::test]
async fn a_link_stays_a_link() {
    let home = Home::with("dotfiles/cursor.json", "{\n  // mine\n}\n");
    std::fs::create_dir(home.path(".cursor")).unwrap();
    symlink(home.path("dotfiles/cursor.json"), home.path(CURSOR)).unwrap();
    let installed = home.done(&["install", "cursor", "--yes"]).await;
    assert!(installed.out.contains("the file is a link"), "{installed:?}");
    assert!(home.path(CURSOR).symlink_metadata().unwrap().is_symlink());
    assert!(home.read("dotfiles/cursor.json").contains("// mine"));
    assert!(home.read("dotfiles/cursor.json").contains("codeyard"));
    home.done(&["install", "cursor", "--undo", "--yes"]).await;
    assert_eq!(home.read("dotfiles/cursor.json"), "{\n  // mine\n}\n");
    std::fs::remove_file(home.path("dotfiles/cursor.json")).unwrap();
    home.refused(&["install", "cursor", "--yes"], &["broken symbolic link"])
        .await;
}

#[tokio::test]
async fn empty_marked_and_of_windows() {
    for text in [
        "",
        "{}",
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t}\r\n}\r\n",
        "{\"mcpServers\": {}}",
    ] {
        let home = Home::with(CURSOR, text);
        let import = home.done(&["import", "cursor", "--yes"]).await;
        assert!(import.out.contains("nothing to take over"), "{import:?}");
        std::fs::set_permissions(home.path(CURSOR), PermissionsExt::from_mode(0o640)).unwrap();
        home.done(&["install", "cursor", "--yes"]).await;
        let changed = home.read(CURSOR);
        let lines = changed.matches('\n').count();
        assert!(
            !text.contains("\r\n") || changed.matches("\r\n").count() == lines,
            "{changed:?}"
        );
        assert_eq!(changed.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        let mode = home.path(CURSOR).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        home.done(&["install", "cursor", "--undo", "--yes"]).await;
        assert_eq!(home.read(CURSOR), text);
    }
}

#[tokio::test]
async fn without_consent_nothing_is_written() {
    let home = Home::with(CURSOR, &fixture("cursor.json"));
    home.refused(&["import", "cursor"], &["--yes"]).await;
    home.refused(&["install", "cursor"], &["--yes"]).await;
    assert_eq!(home.read(CURSOR), fixture("cursor.json"));
    assert!(!home.path(".config/codeyard/mcp.json").exists() && !home.secrets().exists());
    home.refused(&["install", "cursor", "--undo", "--yes"], &["nothing to undo"])
        .await;
    home.refused(&["install", "emacs"], &["`emacs`", "claude-desktop", "goose"])
        .await;
    home.refused(&["import", "./nowhere.json"], &["nowhere.json", "does not exist"])
        .await;
}

#[tokio::test]
async fn a_backup_that_is_gone_restores_nothing() {
    let home = Home::with(CURSOR, "{}");
    home.done(&["install", "cursor", "--yes"]).await;
    let installed = home.read(CURSOR);
    std::fs::remove_file(home.path(".cursor/mcp.json.before-codeyard")).unwrap();
    home.refused(
        &["install", "cursor", "--undo", "--yes"],
        &["before-codeyard", "nothing can be restored"],
    )
    .await;
    assert_eq!(home.read(CURSOR), installed);
}

#[tokio::test]
async fn a_second_installation_keeps_the_first_original() {
    let home = Home::with(CURSOR, "{}\n");
    home.done(&["install", "cursor", "--yes"]).await;
    let first = home.read(CURSOR);
    let binary = codeyard_binary();
    let added = first.replacen(
        "\"mcpServers\": {",
        &format!("\"mcpServers\": {{\n    \"crm\": {{\"command\": {binary:?}, \"args\": [\"demo-server\", \"crm\"]}},"),
        1,
    );
    home.write(CURSOR, added.as_bytes());
    home.done(&["import", "cursor", "--yes"]).await;
    home.done(&["install", "cursor", "--yes"]).await;
    assert!(!home.read(CURSOR).contains("demo-server"));
    assert_eq!(home.list(".cursor").len(), 3);
    home.done(&["install", "cursor", "--undo", "--yes"]).await;
    let undone = home.read(CURSOR);
    assert!(
        undone.contains("demo-server") && !undone.contains("\"codeyard\":"),
        "{undone}"
    );
}

#[tokio::test]
async fn a_file_that_is_nested_deep_is_refused() {
    let text = format!("extensions:\n  a:\n    {}\n", "- ".repeat(4000));
    let home = Home::with(".config/goose/config.yaml", &text);
    for command in ["import", "install"] {
        home.refused(
            &[command, "goose", "--yes"],
            &[
                "line 3: is nested more than 128 levels deep",
                "nothing was changed",
            ],
        )
        .await;
    }
}
