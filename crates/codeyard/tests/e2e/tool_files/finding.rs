//! The discovery of tool files, without running them.

use std::fs;
use std::mem::MaybeUninit;
use std::time::Instant;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition, run};

use super::{ADD, CONVERT, client, with_files};

/// The names that a search finds.
async fn found(client: &mut CodeClient, query: &str) -> Vec<String> {
    let answer = client.search(json!({"query": query})).await;
    let tools = answer["structuredContent"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            format!(
                "{}.{}",
                tool["server"].as_str().unwrap(),
                tool["tool"].as_str().unwrap()
            )
        })
        .collect()
}

// C178
#[tokio::test]
async fn directories_and_files_are_servers_and_tools() {
    let files = [
        ("calculator/add.py", ADD),
        ("units/convert.py", CONVERT),
        ("units/__init__.py", ADD),
    ];
    let codeyard = with_files(Codeyard::new().unwrap(), &files);
    let listed = run(&codeyard, &["tools", "--json"], "").await;
    assert_eq!(listed.code, 0, "{listed:?}");
    let servers = listed.json()["servers"].clone();
    let names: Vec<&str> = servers
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["calculator", "units"]);
    assert_eq!(servers[1]["tools"][0]["name"], "convert");
    let shown = run(&codeyard, &["tools", "units.convert"], "").await;
    let signature = "tools.units.convert(value: float, unit: str = 'km') -> dict[str, float]";
    assert!(shown.out.contains(signature), "{shown:?}");
    let table = run(&codeyard, &["servers"], "").await;
    assert!(
        table
            .out
            .lines()
            .any(|line| line.starts_with("units") && line.contains("files")),
        "{table:?}"
    );
    let named = codeyard.work_directory().join("my-tools");
    let other = Codeyard::new().unwrap();
    let listed = run(&other, &["tools", "--tools", &named.to_string_lossy()], "").await;
    assert!(listed.out.ends_with("2 tools of 2 servers\n"), "{listed:?}");
    let missing = run(&other, &["tools", "--tools", "nowhere"], "").await;
    assert!(
        missing.code == 2 && missing.err.contains("directory of tool files does not exist"),
        "{missing:?}"
    );
}

// C178
#[tokio::test]
async fn the_sample_tools_are_found() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tool-files");
    let codeyard = Codeyard::new().unwrap();
    let listed = run(&codeyard, &["tools", "--json", "--tools", samples], "").await;
    let json = listed.json();
    let servers = json["servers"].as_array().unwrap().iter();
    let counts: Vec<(&str, usize)> = servers
        .map(|server| {
            (
                server["name"].as_str().unwrap(),
                server["tools"].as_array().unwrap().len(),
            )
        })
        .collect();
    let expected = [
        ("calculator", 3),
        ("database", 3),
        ("filesystem", 3),
        ("weather", 2),
    ];
    assert_eq!((counts.as_slice(), listed.code), (expected.as_slice(), 0));
    assert_eq!(json.get("findings"), None, "{json}");
}

// C179
#[tokio::test]
async fn a_new_file_is_found_without_a_restart() {
    let (directory, mut client) = client(&[]).await;
    assert!(
        found(&mut client, "add two numbers")
            .await
            .contains(&"calculator.add".to_owned())
    );
    fs::create_dir(directory.join("images")).unwrap();
    let text = "def resize(width: int) -> int:\n    'Resize a picture.'\n    return width\n";
    fs::write(directory.join("images/resize.py"), text).unwrap();
    assert_eq!(found(&mut client, "resize a picture").await[0], "images.resize");
    client
        .check("print(await tools.images.resize(width=3))", "3\n")
        .await;
    fs::write(directory.join("images/turn.py"), text.replace("resize", "turn")).unwrap();
    client
        .check("from servers.images import turn\nprint(turn(width=4))", "4\n")
        .await;
    client
        .check(
            "print(sorted(t['name'] for t in runtime.tools('images')))",
            "['resize', 'turn']\n",
        )
        .await;
    fs::remove_file(directory.join("images/turn.py")).unwrap();
    let gone = client.run("from servers.images import turn\nturn(width=4)").await;
    assert!(
        gone.status() == "refused" && gone.error().contains("servers.images.turn does not exist"),
        "{gone:?}"
    );
}

// C180
#[tokio::test]
async fn nothing_of_a_file_happens_when_it_is_found() {
    let (_, mut client) = client(&[(
        "images/resize.py",
        "open('/workspace/executed', 'w').close()\n\ndef resize():\n    'Resize image'\n    return 1\n",
    )])
    .await;
    assert_eq!(found(&mut client, "resize").await[0], "images.resize");
    let there = "import os\nprint(os.path.exists('/workspace/executed'))";
    client.check(there, "False\n").await;
    client
        .check(&format!("await tools.images.resize()\n{there}"), "True\n")
        .await;
}

/// Unchanged files cost a run nothing: their directories are listed at most once a second.
#[tokio::test]
async fn runs_do_not_read_unchanged_files() {
    const RUNS: usize = 30;
    let (directory, mut client) = client(&[]).await;
    client.check("print(1)", "1\n").await;
    let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
    add_watch(&watch, directory.join("units"), WatchFlags::OPEN).unwrap();
    let begun = Instant::now();
    for _ in 0..RUNS {
        client.check("print(1)", "1\n").await;
    }
    let seconds = usize::try_from(begun.elapsed().as_secs()).unwrap() + 2;
    let mut events = [MaybeUninit::uninit(); 64 * 1024];
    let mut events = Reader::new(watch, &mut events);
    let mut looks = 0;
    while let Ok(event) = events.next() {
        looks += usize::from(event.file_name().is_none());
    }
    assert!(looks <= seconds.min(RUNS), "{looks} looks of {RUNS} runs");

    // The very next run sees a change.
    let one = "def one():\n    'One'\n    return 1\n";
    fs::write(directory.join("units/one.py"), one).unwrap();
    client.check("print(await tools.units.one())", "1\n").await;
}

// C181
#[tokio::test]
async fn a_broken_file_is_reported_and_the_others_work() {
    let files = [("bad/x.py", "def ("), ("good/add.py", ADD)];
    let codeyard = with_files(Codeyard::new().unwrap(), &files);
    let listed = run(&codeyard, &["tools"], "").await;
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(
        listed.out.contains("tools.good.add") && listed.out.contains("bad/x.py:1: is not valid Python"),
        "{listed:?}"
    );
    assert_eq!(listed.err.matches("bad/x.py:1").count(), 1, "{listed:?}");
    let json = run(&codeyard, &["tools", "--json"], "").await.json();
    assert_eq!(json["findings"][0]["is_used"], false);
    let called = run(&codeyard, &["call", "good.add", r#"{"a": 1, "b": 2}"#], "").await;
    assert_eq!((called.code, called.out.as_str()), (0, "3\n"), "{called:?}");
}

#[tokio::test]
async fn a_file_for_a_newer_python_is_reported_and_offered() {
    let label = "def label(row: dict):\n    'Labels'\n    return f\"{row[\"name\"]}\"\n";
    let codeyard = with_files(Codeyard::new().unwrap(), &[("new/label.py", label)]);
    let listed = run(&codeyard, &["tools"], "").await;
    assert!(
        listed.out.contains("tools.new.label")
            && listed
                .out
                .contains("new/label.py:3: may be refused where programs run")
            && listed.out.contains("added in Python 3.12"),
        "{listed:?}"
    );
    let json = run(&codeyard, &["tools", "--json"], "").await.json();
    assert_eq!(json["findings"][0]["is_used"], true);
}

#[tokio::test]
async fn a_configured_server_precedes_a_directory_of_its_name() {
    let codeyard = Codeyard::new().unwrap().server("stub", &ServerDefinition::stub());
    let codeyard = with_files(
        codeyard,
        &[(
            "Stub/echo.py",
            "def echo(message):\n    'Mine'\n    return 'file'\n",
        )],
    );
    let listed = run(&codeyard, &["tools", "--json"], "").await;
    let findings = listed.json()["findings"].to_string();
    assert!(findings.contains("a configured server is named"), "{listed:?}");
    let called = run(&codeyard, &["call", "stub.echo", r#"{"message": "server"}"#], "").await;
    assert!(called.out.contains("server"), "{called:?}");
}

#[tokio::test]
async fn everything_hidden_by_a_server_is_reported_once() {
    let echo = "def echo(message):\n    'Mine'\n    return 'file'\n";
    let codeyard = Codeyard::new().unwrap().server("stub", &ServerDefinition::stub());
    let codeyard = with_files(codeyard, &[("stub/echo.py", echo), ("good/add.py", ADD)]);
    let other = codeyard.work_directory().join("other");
    fs::create_dir_all(other.join("servers/stub")).unwrap();
    fs::write(other.join("servers/stub/more.py"), echo).unwrap();
    let (other, again) = (other.display().to_string(), super::directory(&codeyard));
    let again = again.display().to_string();
    let words = [
        "tools", "--json", "--tools", &other, "--tools", &again, "--tools", &other,
    ];
    let listed = run(&codeyard, &words, "").await;
    let findings = listed.json()["findings"].clone();
    let told: Vec<&str> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let message = finding["message"].as_str().unwrap();
            assert!(
                message.contains("a configured server is named `stub` too"),
                "{finding}"
            );
            finding["place"].as_str().unwrap()
        })
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    for directory in ["my-tools/servers/stub", "other/servers/stub"] {
        assert!(told.iter().any(|told| told.ends_with(directory)), "{told:?}");
    }
}

#[tokio::test]
async fn policy_holds_for_files_too() {
    let denying = Codeyard::new()
        .unwrap()
        .settings("[policy]\ndeny = [\"a/shut\"]\n");
    let codeyard = with_files(denying, &[("a/open.py", ADD), ("a/shut.py", ADD)]);
    let mut client = CodeClient::of(codeyard).await;
    let code = "import os\nprint('open.py' in os.listdir('/tools/a'), 'shut.py' in os.listdir('/tools/a'))\n\
        try:\n    await tools.a.shut(a=1, b=2)\nexcept ToolError as error:\n    print(error.kind)";
    client.check(code, "True False\ndenied\n").await;
}
