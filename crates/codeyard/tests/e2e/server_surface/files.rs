//! `fs_browse`, `fs_read` and `fs_write`.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{Codeyard, MetaTools, MetaToolsClient};

/// The envelope of a refusal.
fn refusal(error: &str) -> Value {
    json!({"output": "", "error": error, "metrics": {}, "tool_calls_made": []})
}

#[tokio::test]
async fn c064_the_root_lists_four_directories() {
    let mut client = MetaToolsClient::with_stub().await;
    let listed = client.call("fs_browse", json!({"path": "/"})).await;
    assert_eq!(listed.names(), ["tools", "scratch", "skills", "results"]);
    assert_eq!(listed.fields()["truncated"], false);
    for entry in listed.fields()["entries"].as_array().unwrap() {
        let fields: Vec<&String> = entry.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["name", "path", "type", "description", "size_bytes"]);
        assert_eq!(entry["type"], "directory");
    }
    let text: Value = serde_json::from_str(listed.0["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, listed.fields());
}

#[tokio::test]
async fn files_are_written_listed_and_read() {
    let mut client = MetaToolsClient::with_stub().await;
    let written = client
        .call("fs_write", json!({"path": "/scratch/a/b.txt", "content": "é\n"}))
        .await;
    let fields: Vec<&String> = written.fields().as_object().unwrap().keys().collect();
    assert_eq!(fields, ["path", "size_bytes", "modified_at"]);
    assert_eq!(written.fields()["size_bytes"], 3);
    let read = client.call("fs_read", json!({"path": "/scratch/a/b.txt"})).await;
    assert_eq!(
        read.fields(),
        &json!({
            "path": "/scratch/a/b.txt",
            "content": "é\n",
            "size_bytes": 3,
            "modified_at": written.fields()["modified_at"],
        })
    );
    let listed = client.call("fs_browse", json!({"path": "/scratch"})).await;
    let entry = &listed.fields()["entries"][0];
    assert_eq!(
        (&entry["name"], &entry["type"], &entry["path"]),
        (&json!("a"), &json!("directory"), &json!("/scratch/a"))
    );
    let file = client
        .call("fs_browse", json!({"path": "/scratch/a/b.txt"}))
        .await;
    assert_eq!(file.names(), ["b.txt"]);
    let stub = client
        .call("fs_read", json!({"path": "/tools/stub/add.py"}))
        .await;
    assert!(
        stub.fields()["content"].as_str().unwrap().contains("def add("),
        "{stub:?}"
    );
}

#[tokio::test]
async fn c069_hostile_and_wrong_paths_are_refused() {
    let mut client = MetaToolsClient::with_stub().await;
    let long = format!("/scratch/{}", "a".repeat(5_000));
    for (tool, path, error) in [
        ("fs_read", "", "path is required"),
        ("fs_read", "  ", "path is required"),
        (
            "fs_read",
            "/tools",
            "Path is a directory, not a file: /tools. Use fs_browse to list directories.",
        ),
        ("fs_read", "/scratch/nope", "Path not found: /scratch/nope"),
        ("fs_browse", "/scratch/nope", "Path not found: /scratch/nope"),
        (
            "fs_read",
            "/home/x",
            "Path '/home/x' is outside the virtual filesystem",
        ),
        (
            "fs_browse",
            "/workspace",
            "Path '/workspace' is outside the virtual filesystem",
        ),
        (
            "fs_read",
            "/Scratch/x",
            "Path '/Scratch/x' is outside the virtual filesystem",
        ),
        (
            "fs_read",
            "/scratch/../../etc/passwd",
            "EACCES: path traversal denied: /scratch/../../etc/passwd",
        ),
        ("fs_browse", "..", "EACCES: path traversal denied: .."),
        ("fs_read", "/scratch/a\0b", "EACCES: invalid path"),
        (
            "fs_read",
            "/scratch/%2e%2e/x",
            "Path not found: /scratch/%2e%2e/x",
        ),
        (
            "fs_read",
            "/scratch/\u{ff0e}\u{ff0e}/x",
            "Path not found: /scratch/\u{ff0e}\u{ff0e}/x",
        ),
        (
            "fs_read",
            "/proc/self/environ",
            "Path '/proc/self/environ' is outside the virtual filesystem",
        ),
    ] {
        let result = client.call(tool, json!({ "path": path })).await;
        assert_eq!(
            (result.fields(), result.is_error()),
            (&refusal(error), true),
            "{tool} {path:?}"
        );
    }
    let result = client.call("fs_read", json!({ "path": long })).await;
    assert!(
        result.error().starts_with("Path too long (5009 bytes"),
        "{result:?}"
    );
    let result = client.call("fs_read", json!({"path": 5})).await;
    assert_eq!(result.error(), "path must be a string");
    for path in ["/tools/stub/add.py", "/skills/x", "/etc/x", "/x", "/workspace/x"] {
        let result = client
            .call("fs_write", json!({"path": path, "content": "x"}))
            .await;
        let error =
            format!("EACCES: write denied for path: {path}. Only /scratch and /results are writable.");
        assert_eq!(result.error(), error);
    }
    client.check_healthy().await;
}

#[tokio::test]
async fn c071_c270_links_lead_nowhere() {
    let mut client = MetaToolsClient::with_stub().await;
    let directory = client.codeyard.directory().to_owned();
    c071_c270(&mut client, &directory).await;
}

pub async fn c071_c270(client: &mut impl MetaTools, directory: &Path) {
    let canary = directory.join("canary.txt");
    std::fs::write(&canary, "canary-file-91c2").unwrap();
    let canary = canary.to_str().unwrap().to_owned();
    let code = format!(
        "import os\nfor name, to in [('l', '/etc'), ('h', {canary:?}), ('d', '/tools'), ('s', '/scratch')]:\n    \
         os.symlink(to, f'/scratch/{{name}}')"
    );
    client.check(&code, "").await;
    for (tool, path) in [
        ("fs_read", "/scratch/l/passwd"),
        ("fs_read", "/scratch/h"),
        ("fs_browse", "/scratch/l"),
        ("fs_browse", "/scratch/l/"),
        ("fs_read", "/scratch/s/s/h"),
    ] {
        let result = client.call(tool, json!({ "path": path })).await;
        let text = result.0.to_string();
        assert!(
            !text.contains("root:") && !text.contains("canary-file"),
            "{tool} {path}: {result:?}"
        );
        assert!(result.is_error(), "{tool} {path}: {result:?}");
    }
    for path in ["/scratch/l/x", "/scratch/d/x"] {
        let result = client
            .call("fs_write", json!({"path": path, "content": "x"}))
            .await;
        assert!(result.is_error(), "{path}: {result:?}");
    }
    for line in [
        "grep -r canary /scratch",
        "cat /scratch/h",
        "cat /scratch/l/passwd",
        "ls /scratch/l",
    ] {
        let result = client.run(line).await;
        assert!(
            !result.0.to_string().contains("canary-file"),
            "{line}: {result:?}"
        );
        assert!(result.is_error(), "{line}: {result:?}");
    }
    let result = client.run("print(open('/scratch/h').read())").await;
    assert!(result.error().contains("FileNotFoundError"), "{result:?}");
}

#[tokio::test]
async fn c073_reading_is_limited() {
    let mut client = MetaToolsClient::with_stub().await;
    c073(&mut client).await;
}

pub async fn c073(client: &mut impl MetaTools) {
    for (size, is_read) in [(1_048_576_usize, true), (1_048_577, false)] {
        let content = "x".repeat(size);
        let written = client
            .call("fs_write", json!({"path": "/scratch/big", "content": content}))
            .await;
        assert_eq!(written.fields()["size_bytes"], size);
        let read = client.call("fs_read", json!({"path": "/scratch/big"})).await;
        assert_eq!(!read.is_error(), is_read);
        if !is_read {
            assert_eq!(
                read.error(),
                "File too large (1048577 bytes, limit 1048576). Use shell_exec to read large files with custom parsing."
            );
        }
    }
}

#[tokio::test]
async fn c075_content_is_required() {
    let mut client = MetaToolsClient::with_stub().await;
    c075(&mut client).await;
}

pub async fn c075(client: &mut impl MetaTools) {
    let result = client.call("fs_write", json!({"path": "/scratch/x"})).await;
    assert_eq!(result.fields(), &refusal("content is required"));
    let result = client.call("fs_read", json!({"path": "/scratch/x"})).await;
    assert_eq!(result.error(), "Path not found: /scratch/x");
    client
        .call("fs_write", json!({"path": "/scratch/x", "content": ""}))
        .await;
    let result = client.call("fs_read", json!({"path": "/scratch/x"})).await;
    assert_eq!(result.fields()["size_bytes"], 0);
}

#[tokio::test]
async fn c077_a_list_shows_whether_it_is_complete() {
    let mut client = MetaToolsClient::with_stub().await;
    c077(&mut client).await;
}

pub async fn c077(client: &mut impl MetaTools) {
    client
        .check(
            "for n in 'abc': write_file(f't/{n}', '')\nwrite_file('t/.h', '')",
            "",
        )
        .await;
    for (max, count, truncated) in [
        (json!(2), 2, true),
        (json!(3), 3, false),
        (json!(4), 3, false),
        (json!(99_999), 3, false),
        (json!(true), 3, false),
        (json!("x"), 3, false),
        (json!(-1), 1, true),
    ] {
        let result = client
            .call("fs_browse", json!({"path": "/scratch/t", "max_entries": max}))
            .await;
        let found = (result.names().len(), &result.fields()["truncated"]);
        assert_eq!(found, (count, &json!(truncated)), "{max}: {result:?}");
    }
    let all = client
        .call("fs_browse", json!({"path": "/scratch/t", "include_hidden": true}))
        .await;
    assert_eq!(all.names(), [".h", "a", "b", "c"]);
}

#[tokio::test]
async fn c079_binary_files_are_named_as_such() {
    let mut client = MetaToolsClient::with_stub().await;
    c079(&mut client).await;
}

pub async fn c079(client: &mut impl MetaTools) {
    client
        .check("open('/scratch/b.bin', 'wb').write(bytes([0xff, 0xfe, 0]))", "")
        .await;
    let result = client.call("fs_read", json!({"path": "/scratch/b.bin"})).await;
    assert_eq!(
        result.error(),
        "File is not UTF-8 text (3 bytes): /scratch/b.bin. Use shell_exec to read binary files."
    );
}

#[tokio::test]
async fn odd_names_are_listed_and_read() {
    let mut client = MetaToolsClient::with_stub().await;
    let code = "import os\nfor name in (b'a\\nb', b'\\x1b[2J', b'\\xff\\xfe', b'-rf'):\n    \
                open(b'/scratch/' + name, 'w').write('odd')";
    client.check(code, "").await;
    let listed = client.call("fs_browse", json!({"path": "/scratch"})).await;
    let entries = listed.fields()["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 4, "{listed:?}");
    for entry in entries {
        let read = client.call("fs_read", json!({"path": entry["path"]})).await;
        assert_eq!(read.fields()["content"], "odd", "{entry}");
    }
    let lines = client.run("ls").await;
    assert_eq!(lines.output().lines().count(), 4, "{lines:?}");
    client.check("cat -- -rf", "odd").await;
}

#[tokio::test]
async fn quotas_are_checked_before_a_write() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .limit("file_size=1MiB")
        .limit("disk=2MiB");
    let mut client = MetaToolsClient::of(codeyard).await;
    let content = "x".repeat(1_048_577);
    let result = client
        .call("fs_write", json!({"path": "/scratch/x", "content": content}))
        .await;
    assert_eq!(
        result.error(),
        "Content too large (1048577 bytes, limit 1048576). Reduce content size."
    );
    for (name, is_written) in [("a", true), ("b", true), ("c", false)] {
        let content = "x".repeat(1_000_000);
        let path = format!("/results/{name}");
        let result = client
            .call("fs_write", json!({"path": path, "content": content}))
            .await;
        assert_eq!(!result.is_error(), is_written, "{name}: {result:?}");
    }
    let listed = client.call("fs_browse", json!({"path": "/results"})).await;
    assert_eq!(listed.names(), ["a", "b"], "a refused write must leave nothing");
}
