//! `codeyard saved`: data saved by the bridge's programs, and data of the original bridge.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use test_support::{BridgeClient, Codeyard, Mode, run};

use super::at_a_terminal;
use super::messages::transcript;

/// Data of the original bridge: two good functions, two good memories, and other content of such files.
fn original(codeyard: &Codeyard) -> PathBuf {
    let kept = codeyard.work_directory().join("MCPs");
    std::fs::create_dir_all(kept.join("memory")).unwrap();
    let tools = include_str!("saved/original_user_tools.py");
    std::fs::write(kept.join("user_tools.py"), tools).unwrap();
    for (file, text) in [
        (
            "a_b.json",
            r#"{"key": "a/b", "value": {"goal": "x"}, "metadata": {}, "created_at": 1763803200.5, "updated_at": 1763803300.25}"#,
        ),
        (
            "spread.json",
            r#"{"value": [1, 2], "created_at": 1763803200, "updated_at": 1763803200}"#,
        ),
        ("twice.json", r#"{"key": "a/b", "value": 1}"#),
        ("empty.json", r#"{"key": "", "value": 1}"#),
        ("other.json", r#"{"key": "k"}"#),
        ("broken.json", "{nan"),
        ("list.json", "[1]"),
        ("notes.txt", "not looked at"),
    ] {
        std::fs::write(kept.join("memory").join(file), text).unwrap();
    }
    kept
}

/// The text with all dates and times replaced.
fn without_times(text: &str) -> String {
    let shapes = ["dddd-dd-dd", "dd:dd:dd", "dddd-dd-ddTdd:dd:dd.dddZ"];
    let is_like = |word: &str, shape: &str| {
        let alike = |(c, s): (char, char)| if s == 'd' { c.is_ascii_digit() } else { c == s };
        word.len() == shape.len() && word.chars().zip(shape.chars()).all(alike)
    };
    let word = |word: &str| {
        let bare = word.trim_matches([',', '"']);
        let shape = shapes.iter().find(|shape| is_like(bare, shape));
        shape.map_or_else(|| word.to_owned(), |shape| word.replace(bare, shape))
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

macro_rules! assert_transcript {
    ($transcript:expr) => {{
        let transcript = without_times(&$transcript);
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(transcript) })
    }};
}

#[tokio::test]
async fn what_the_original_kept_is_taken_over_shown_and_removed() {
    let codeyard = Codeyard::new().unwrap();
    original(&codeyard);
    let commands = [
        "saved",
        "saved import MCPs",
        "saved import MCPs --yes",
        "saved import MCPs --yes",
        "saved",
        "saved show area",
        "saved show a/b",
        "saved show spread",
        "saved show spread --memory",
        "saved show nothing",
        "saved show area --memory",
        "saved remove area",
        "saved remove area spread --yes",
        "saved remove area a/b --yes",
        "saved remove --all --memory --yes",
        "saved remove --all --yes",
        "saved remove --all --yes",
        "saved remove",
        "saved import nowhere",
        "saved --principal ann",
    ];
    let commands = commands.map(|line| (line, ""));
    assert_transcript!(transcript(&codeyard, &commands).await);
}

#[tokio::test]
async fn everything_is_told_as_json_too() {
    let codeyard = Codeyard::new().unwrap();
    original(&codeyard);
    let commands = [
        "saved --json",
        "saved import MCPs --yes --json",
        "saved --json",
        "saved show area --json",
        "saved show a/b --json",
        "saved remove area a/b --yes --json",
    ];
    let mut out = String::new();
    for line in commands {
        let args: Vec<&str> = line.split(' ').collect();
        let ended = run(&codeyard, &args, "").await;
        let shown: Value = serde_json::from_str(&ended.out).unwrap();
        out.push_str(&format!("$ codeyard {line}\n{shown:#}\n\n"));
    }
    assert_transcript!(out);
}

/// The saved items, as JSON.
async fn saved(codeyard: &Codeyard, args: &[&str]) -> Value {
    run(codeyard, &[&["saved", "--json"], args].concat(), "")
        .await
        .json()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_state_directory_is_private_and_one_that_is_not_is_warned_of() {
    let codeyard = Codeyard::new().unwrap();
    original(&codeyard);
    let import = ["saved", "import", "MCPs", "--yes", "--state"];
    let ended = run(&codeyard, &[&import[..], &["state"]].concat(), "").await;
    assert_eq!(
        (ended.out.as_str(), ended.code),
        ("took over 2 tools and 2 memories\n", 0),
        "{ended:?}"
    );
    let state = codeyard.work_directory().join("state");
    assert_eq!((mode(&state), mode(&state.join("codeyard.db"))), (0o700, 0o600));
    assert_eq!(saved(&codeyard, &[]).await["tools"], json!([]));
    assert_eq!(
        saved(&codeyard, &["--state", "state"]).await["tools"][0]["name"],
        "area"
    );

    let open = codeyard.work_directory().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let ended = run(&codeyard, &[&import[..], &["open"]].concat(), "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.err.contains("every user of this machine may write to"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn links_pipes_and_directories_are_no_memories() {
    let codeyard = Codeyard::new().unwrap();
    let kept = original(&codeyard);
    let pipe = kept.join("memory/pipe.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    std::fs::create_dir(kept.join("memory/directory.json")).unwrap();
    std::os::unix::fs::symlink("/nowhere", kept.join("memory/gone.json")).unwrap();
    std::fs::write(kept.join("user_tools.py"), [0xff, 0xfe]).unwrap();
    let ended = run(&codeyard, &["saved", "import", "MCPs", "--yes", "--json"], "").await;
    let told = ended.json();
    for (place, why) in [
        ("memory/pipe.json", "is not a regular file"),
        ("memory/directory.json", "is not a regular file"),
        ("memory/gone.json", "is gone"),
        ("user_tools.py", "is not UTF-8 text"),
    ] {
        let left = json!({"place": place, "why": why});
        assert!(
            told["left"].as_array().unwrap().contains(&left),
            "{place}: {told}"
        );
    }
    assert_eq!(told["taken"].as_array().unwrap().len(), 2, "{told}");
}

/// Imports the original bridge's data, and removes all of it.
async fn import_and_remove(codeyard: &Codeyard) {
    original(codeyard);
    for args in [
        ["saved", "import", "MCPs", "--yes"],
        ["saved", "remove", "--all", "--yes"],
    ] {
        assert_eq!(run(codeyard, &args, "").await.code, 0);
    }
}

#[tokio::test]
async fn changes_are_events_without_what_is_saved() {
    let codeyard = Codeyard::new().unwrap();
    import_and_remove(&codeyard).await;
    let mut client = BridgeClient::of(codeyard).await;
    let code = "def kept(): return 'source of it'\nsave_tool(kept)\nsave_memory('key', 'value of it')\ndelete_memory('key')";
    assert!(!client.run(code).await.is_error());
    assert!(client.mcp.finish().await.unwrap().success());
    let codeyard = client.codeyard;
    let mut database = open(&codeyard.data_directory().join("codeyard.db")).await;
    let events: Vec<(String, String)> = sqlx::query_as("SELECT kind, detail FROM events ORDER BY seq")
        .fetch_all(&mut database)
        .await
        .unwrap();
    let told: Vec<String> = events
        .iter()
        .map(|(kind, detail)| format!("{kind} {detail}"))
        .collect();
    let expected = [
        "tool_saved area",
        "tool_saved spread",
        "memory_saved a/b",
        "memory_saved spread",
        "tool_removed area",
        "tool_removed spread",
        "memory_removed a/b",
        "memory_removed spread",
        "tool_saved kept",
        "memory_saved key",
        "memory_removed key",
    ];
    assert_eq!(told, expected);
}

// S4-D09
#[tokio::test]
async fn what_is_saved_stays_without_records_and_names_its_run() {
    let codeyard = Codeyard::new().unwrap().settings("[records]\nrecord = \"off\"");
    let mut client = BridgeClient::of(codeyard).await;
    assert!(!client.run("save_memory('k', {'n': 1})").await.is_error());
    let kept = saved(&client.codeyard, &[]).await;
    assert_eq!(kept["memories"][0]["key"], "k");
    assert!(
        kept["memories"][0]["run"].as_str().unwrap().starts_with("r-"),
        "{kept}"
    );
    assert_eq!(
        saved(&client.codeyard, &["--principal", "ann"]).await["memories"],
        json!([])
    );
}

#[tokio::test]
async fn two_bridges_on_one_file_lose_nothing() {
    let one = BridgeClient::of(Codeyard::new().unwrap()).await;
    let data = one.codeyard.data_directory();
    let two = BridgeClient::of(Codeyard::new().unwrap().data(data)).await;
    let saving = |mut client: BridgeClient, name: &'static str| async move {
        let code = format!(
            "for n in range(100):\n    save_memory(f'{name}-{{n}}', n)\n    \
             update_memory('sum', lambda old: (old or 0) + 1)\nprint('done')"
        );
        let answer = client.run(&code).await;
        assert_eq!(answer.text(), "done", "{answer:?}");
        client
    };
    let (mut one, _two) = tokio::join!(saving(one, "one"), saving(two, "two"));
    let answer = one.run("print(load_memory('sum'), len(list_memories()))").await;
    assert_eq!(answer.text(), "200 201", "{answer:?}");
}

#[tokio::test]
async fn a_killed_bridge_loses_nothing_that_was_answered() {
    let mut client = BridgeClient::of(Codeyard::new().unwrap()).await;
    let answer = client
        .run("for n in range(50): save_memory(f'k{n}', n)\nprint('answered')")
        .await;
    assert_eq!(answer.text(), "answered", "{answer:?}");
    client
        .start(json!({"code": "while True: save_memory('more', 1)"}))
        .await;
    client.mcp.kill().unwrap();
    client.mcp.wait().await.unwrap();
    let kept = saved(&client.codeyard, &[]).await;
    let keys: Vec<&str> = kept["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["key"].as_str().unwrap())
        .collect();
    assert!(
        (0..50).all(|n| keys.contains(&format!("k{n}").as_str())),
        "{keys:?}"
    );
}

async fn open(file: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(file)
        .connect()
        .await
        .unwrap()
}

/// The bridge continues; its program and `codeyard saved` report the error.
async fn check_trouble(codeyard: Codeyard, what: &str) {
    let ended = run(&codeyard, &["saved", "import", "MCPs", "--yes"], "").await;
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.err.contains(what), "{ended:?}");
    let mut client = BridgeClient::of(codeyard).await;
    let code = "try: save_memory('k', 1)\nexcept RuntimeError as e: print(e)";
    let answer = client.run(code).await;
    let place = client.codeyard.data_directory().to_string_lossy().into_owned();
    assert!(
        answer.text().contains(what) && !answer.text().contains(&place),
        "{answer:?}"
    );
    client.check_healthy().await;
}

#[tokio::test]
async fn a_damaged_database_is_reported_and_stays_unchanged() {
    let codeyard = Codeyard::new().unwrap();
    original(&codeyard);
    let file = codeyard.data_directory().join("codeyard.db");
    std::fs::create_dir_all(codeyard.data_directory()).unwrap();
    std::fs::write(&file, "somebody's notes".repeat(500)).unwrap();
    check_trouble(codeyard, "is damaged").await;
}

#[tokio::test]
async fn a_locked_database_is_reported() {
    let codeyard = Codeyard::new().unwrap();
    import_and_remove(&codeyard).await;
    let mut holder = open(&codeyard.data_directory().join("codeyard.db")).await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut holder).await.unwrap();
    check_trouble(codeyard, "is locked by another program").await;
    holder.close().await.unwrap();
}

#[tokio::test]
async fn on_a_full_disk_a_save_reports_its_failure() {
    let codeyard = Codeyard::new().unwrap();
    if !Mode::of(&codeyard).await.unwrap().is_root {
        return; // Only root can mount a small disk to fill.
    }
    original(&codeyard);
    let codeyard = codeyard.on_full_disk().unwrap();
    let ended = run(&codeyard, &["saved", "import", "MCPs", "--yes"], "").await;
    assert_eq!((ended.code, ended.out.as_str()), (5, ""), "{ended:?}");
    assert!(ended.err.contains("cannot grow"), "{ended:?}");
}

#[tokio::test]
async fn on_a_terminal_it_asks() {
    let codeyard = Codeyard::new().unwrap();
    original(&codeyard);
    for (command, answer, told) in [
        ("import MCPs", "n", "nothing was taken over"),
        ("import MCPs", "y", "took over 2 tools and 2 memories"),
        ("remove area a/b", "", "nothing was removed"),
        ("remove area a/b", "yes", "removed 1 tool and 1 memory"),
    ] {
        let args: Vec<&str> = ["saved"].into_iter().chain(command.split(' ')).collect();
        let shown = at_a_terminal(&codeyard, &args, answer).await;
        assert!(
            shown.contains("[y/N]") && shown.contains(told),
            "{command}: {shown}"
        );
    }
}
