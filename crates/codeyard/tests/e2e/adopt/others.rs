//! Other users of the machine: files that they can change are not trusted, and our files are private.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::json;

use crate::adopt::{CURSOR, Home, OURS, demo, demo_with, ended};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn new_files_are_private_under_every_umask() {
    let home = Home::of_cursor(json!({"crm": demo_with("env", json!({"CRM_TOKEN": "hush-hush-hush"}))}));
    std::fs::remove_dir_all(home.data()).ok();
    std::fs::remove_dir_all(home.path(".config")).ok();
    let open = ["sh", "-c", "umask 000; exec \"$0\" \"$@\""];
    let imported = ended(home.command_below(&open, &["import", "cursor", "--yes"])).await;
    assert_eq!(imported.code, 0, "{imported:?}");
    for directory in [home.path(".config"), home.path(".config/codeyard"), home.data()] {
        assert_eq!(mode(&directory), 0o700, "{directory:?}");
    }
    for file in [home.path(OURS), home.secrets()] {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}

#[tokio::test]
async fn a_file_writable_by_others_starts_nothing() {
    let home = Home::new();
    let marker = home.path("started");
    let entry = json!({"command": "touch", "args": [marker]});
    home.write(
        OURS,
        json!({"mcpServers": {"evil": entry}}).to_string().as_bytes(),
    );
    let (file, directory) = (home.path(OURS), home.path(".config/codeyard"));
    for (file_mode, directory_mode, told) in [
        (0o666, 0o755, "chmod o-w"),
        (0o644, 0o777, "may write to the directory"),
    ] {
        set_mode(&file, file_mode);
        set_mode(&directory, directory_mode);
        for args in [&["tools"][..], &["servers", "add", "more", "--yes", "--", "true"]] {
            home.refused(args, &["codeyard/mcp.json", told]).await;
        }
    }
    assert!(!marker.exists() && home.ours()["mcpServers"]["more"].is_null());
    set_mode(&directory, 0o755);
    home.done(&["servers"]).await;
}

#[tokio::test]
async fn settings_that_others_may_write_to_are_refused() {
    let home = Home::new();
    home.write(".config/codeyard/codeyard.toml", b"");
    set_mode(&home.path(".config/codeyard/codeyard.toml"), 0o666);
    home.refused(&["tools"], &["codeyard.toml", "chmod o-w"]).await;
}

#[tokio::test]
async fn no_secret_goes_where_others_may_write() {
    let home = Home::of_cursor(json!({"crm": demo_with("env", json!({"CRM_TOKEN": "hush-hush-hush"}))}));
    std::fs::create_dir_all(home.data()).unwrap();
    set_mode(&home.data(), 0o777);
    let refused = home.run(&["import", "cursor", "--yes"]).await;
    assert!(
        refused.code != 0
            && refused.err.contains("may write to the directory")
            && refused.err.contains("--data"),
        "{refused:?}"
    );
    assert!(!home.secrets().exists() && !home.path(OURS).exists());
}

#[tokio::test]
async fn a_copy_that_was_changed_restores_nothing() {
    let home = Home::of_cursor(json!({"crm": demo("crm")}));
    let original = home.read(CURSOR);
    home.done(&["import", "cursor", "--yes"]).await;
    home.done(&["install", "cursor", "--yes"]).await;
    let installed = home.read(CURSOR);
    let copy = ".cursor/mcp.json.before-codeyard";
    let theirs = original.replace("demo-server", "their-server");
    let changed = installed.replacen('{', "{\"more\": 1,", 1);
    for (kept, now) in [
        ("", &installed),
        (theirs.as_str(), &installed),
        (theirs.as_str(), &changed),
    ] {
        home.write(copy, kept.as_bytes());
        home.write(CURSOR, now.as_bytes());
        home.refused(
            &["install", "cursor", "--undo", "--yes"],
            &[
                "before-codeyard: was changed after it was made",
                "nothing was changed",
                "remove the entry `codeyard`",
            ],
        )
        .await;
        assert_eq!((home.read(copy).as_str(), &home.read(CURSOR)), (kept, now));
    }
    home.write(copy, original.as_bytes());
    home.write(CURSOR, installed.as_bytes());
    home.done(&["install", "cursor", "--undo", "--yes"]).await;
    assert_eq!(home.read(CURSOR), original);
}
