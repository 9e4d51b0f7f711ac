//! Files that are broken, or break while in use.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::servers_command::{Yard, stub, stub_words};

/// Longest wait, also acceptable to a person.
const SOON: Duration = Duration::from_secs(30);

/// A new content of a file, and a part of its message.
const BROKEN: [(Becomes, &str); 8] = [
    (Becomes::Directory, "this is a directory; name a file in it"),
    (
        Becomes::Pipe,
        "this is not a regular file; write the text into a regular file",
    ),
    (Becomes::Large, "the file is larger than 16 MiB"),
    (Becomes::Text(b"{\"mcpServers\": {\"stub\": {"), "line 1"),
    (Becomes::Text(b"\xff\xfe{}"), "line 1"),
    (Becomes::Text(b""), "line 1"),
    (
        Becomes::Text(b"{\"servers\": {}}"),
        "rename `servers` to `mcpServers`",
    ),
    (Becomes::Nothing, "there is no such file"),
];

#[derive(Debug, Clone, Copy)]
enum Becomes {
    Directory,
    Pipe,
    /// 100 MB without disk blocks.
    Large,
    Text(&'static [u8]),
    Nothing,
}

impl Becomes {
    /// Replaces the file with this.
    fn put(self, file: &Path) {
        clear(file);
        match self {
            Becomes::Directory => std::fs::create_dir(file).unwrap(),
            Becomes::Pipe => mknodat(CWD, file, FileType::Fifo, Mode::from(0o600), 0).unwrap(),
            Becomes::Large => std::fs::File::create(file).unwrap().set_len(100_000_000).unwrap(),
            Becomes::Text(text) => std::fs::write(file, text).unwrap(),
            Becomes::Nothing => {}
        }
    }
}

fn clear(file: &Path) {
    let _ = std::fs::remove_file(file);
    let _ = std::fs::remove_dir(file);
}

#[tokio::test]
async fn commands_report_a_broken_file_without_waiting() {
    let yard = Yard::new();
    let [program, kind] = stub_words();
    for (becomes, told) in BROKEN {
        for args in [
            &["tools"][..],
            &["config", "check"],
            &["servers"],
            &["mcp"],
            &["servers", "add", "new", "--yes", "--", &program, &kind],
            &["servers", "remove", "stub", "--yes"],
        ] {
            // Servers can be added to a missing file, and to a file with an unrelated list.
            let is_change = args.contains(&"add") || args.contains(&"remove");
            if is_change && (matches!(becomes, Becomes::Nothing) || told.starts_with("rename")) {
                continue;
            }
            becomes.put(&yard.file());
            let begun = Instant::now();
            let ended = yard.run(args).await;
            assert!(
                ended.code == 2 && ended.err.contains(told) && ended.err.contains("servers.json"),
                "{becomes:?} {args:?}: {ended:?}"
            );
            assert!(
                !ended.err.contains("no server is configured"),
                "{becomes:?} {args:?}: {ended:?}"
            );
            assert!(begun.elapsed() < SOON, "{becomes:?} {args:?}");
        }
    }
}

#[tokio::test]
async fn a_file_that_breaks_leaves_the_servers_unchanged() {
    let yard = Yard::with(&json!({"stub": stub()}));
    let mut client = yard.serve(&[]).await;
    for (becomes, told) in BROKEN {
        becomes.put(&yard.file());
        let broken = until(&yard, |broken| broken.is_string()).await;
        assert!(broken.as_str().unwrap().contains(told), "{becomes:?}: {broken}");
        let code = json!({"code": "return await tools.stub.add(a=1, b=2)"});
        let ran = client.call_tool("execute_code", code).await.unwrap();
        assert_eq!(
            ran["structuredContent"]["result"],
            json!({"sum": 3}),
            "{becomes:?}"
        );
        clear(&yard.file());
        yard.write(&json!({"stub": stub()}));
        until(&yard, Value::is_null).await;
    }
    let told = client.stderr();
    let times = told.matches("the servers stay as they were").count();
    // Between the break and the repair, the file may be missing for a moment.
    assert!((BROKEN.len()..=2 * BROKEN.len()).contains(&times), "{told}");
}

/// Waits until `codeyard ps` shows this about the configuration.
async fn until(yard: &Yard, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let broken = yard.ps().await[0]["configuration"]["broken"].clone();
        if is_so(&broken) {
            return broken;
        }
        assert!(begun.elapsed() < SOON, "{broken}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_damaged_tool_list_is_set_aside_with_one_warning_and_fetched_again() {
    let yard = Yard::with(
        &json!({"one": stub(), "two": {"command": stub()["command"], "args": ["stub", "--extras"]}}),
    );
    yard.done(&["tools"]).await;
    let directory = yard.codeyard.data_directory().join("cache/tools");
    let lists = || -> Vec<_> {
        let entries = std::fs::read_dir(&directory).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
            .collect()
    };
    assert_eq!(lists().len(), 2);
    for damage in [
        &b"{\"format\": 1, \"era\": \"legacy\", \"tools\": [{\"na"[..],
        b"",
        b"\xff\xfe",
        b"[]",
    ] {
        let list = lists().remove(0);
        std::fs::write(&list, damage).unwrap();
        let told = yard.done(&["tools"]).await;
        assert_eq!(
            told.err.matches("this list of tools is damaged").count(),
            1,
            "{told:?}"
        );
        assert!(
            told.err.contains(&*list.to_string_lossy()) && told.out.contains("tools.one.add("),
            "{told:?}"
        );
        assert_eq!(std::fs::read(list.with_extension("damaged")).unwrap(), damage);
        let again = yard.done(&["tools"]).await;
        assert_eq!((again.out, again.err.as_str()), (told.out, ""), "{damage:?}");
        assert_eq!(lists().len(), 2);
    }
}
