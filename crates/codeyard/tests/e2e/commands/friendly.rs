//! A new user's first commands: lists, single entries, the newest run, help, and a server started by hand.

use std::process::Stdio;

use serde_json::json;
use test_support::{Codeyard, ServerDefinition};

use super::messages::transcript;
use super::run;

/// Fails with a traceback of several lines.
const FAILING: &str = "echo 'Traceback (most recent call last):' >&2; echo '  File \"x.py\", line 3' >&2; echo 'RuntimeError: DATABASE_URL is not set' >&2; exit 1";

/// Compares with the test's snapshot; the transcript includes the commands.
macro_rules! assert_transcript {
    ($transcript:expr) => {{
        let transcript = $transcript;
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(transcript) })
    }};
}

#[tokio::test]
async fn help_shows_own_options_and_names_the_shared_ones() {
    let codeyard = Codeyard::new().unwrap();
    let commands = [
        "call --help",
        "servers add --help",
        "help runs",
        "help options",
        "help servers lst",
    ];
    assert_transcript!(transcript(&codeyard, &commands.map(|line| (line, ""))).await);
}

#[tokio::test]
async fn servers_are_listed_and_shown() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("failing", &ServerDefinition::new("sh", &["-c", FAILING]))
        .server(
            "masked",
            &ServerDefinition::new("no-such-command", &["--port", "80", "--token=abcd1234"])
                .env("LEVEL", "debug")
                .env("API_KEY", "abcd1234"),
        );
    let listed = run(&codeyard, &["servers", "list"], "").await;
    assert_eq!(listed.out, run(&codeyard, &["servers"], "").await.out);
    let commands = [
        "servers list",
        "servers show stub",
        "servers show masked",
        "servers show stubb",
        "servers test failing",
        "call failing.any",
    ];
    assert_transcript!(transcript(&codeyard, &commands.map(|line| (line, ""))).await);
}

#[tokio::test]
async fn the_newest_run_is_shown_and_each_says_what_it_did() {
    let codeyard = Codeyard::with_stub().unwrap();
    let none = run(&codeyard, &["runs", "last"], "").await;
    assert_eq!(
        (none.err.as_str(), none.code),
        ("nothing has been recorded yet\n", 0)
    );
    run(&codeyard, &["run", "-"], "1 + 1").await;
    let program =
        "for n in range(3):\n    await tools.stub.add(a=n, b=1)\nawait tools.stub.echo(message='x')";
    run(&codeyard, &["run", "-"], program).await;
    let check = async |line: usize, what: &str| {
        let listed = run(&codeyard, &["runs"], "").await.out;
        let shown = listed.lines().nth(line).unwrap_or_default();
        assert!(shown.contains(what), "{listed}");
    };
    check(0, "what").await;
    check(1, "stub.add x3, stub.echo").await;
    check(2, "python, 5 bytes, no tool").await;
    let last = run(&codeyard, &["runs", "last", "--json"], "").await.json();
    assert_eq!(last["calls"].as_array().unwrap().len(), 4, "{last}");
}

#[tokio::test]
async fn clients_are_listed_with_where_codeyard_is_installed() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .home_file(".cursor/mcp.json", "{\"mcpServers\": {}}")
        .unwrap()
        .home_file(".gemini/settings.json", "{broken")
        .unwrap();
    let check = async |client: &str, found: bool, installed: Option<bool>| {
        let listed = run(&codeyard, &["install", "--json"], "").await.json();
        let clients = listed["clients"].as_array().unwrap();
        let one = clients.iter().find(|one| one["client"] == client).unwrap();
        assert_eq!(
            (&one["found"], &one["installed"]),
            (&json!(found), &json!(installed)),
            "{one}"
        );
    };
    check("cursor", true, Some(false)).await;
    check("gemini-cli", true, None).await;
    check("zed", false, Some(false)).await;
    let installed = run(&codeyard, &["install", "cursor", "--yes"], "").await;
    assert_eq!(installed.code, 0, "{installed:?}");
    check("cursor", true, Some(true)).await;
    let wrong = run(&codeyard, &["install", "--undo"], "").await;
    assert!(
        wrong.code == 2 && wrong.err.contains("--undo needs the client"),
        "{wrong:?}"
    );
    let wrong = run(&codeyard, &["install", "curser"], "").await;
    assert!(
        wrong.code == 2 && wrong.err.contains("did you mean `cursor`?"),
        "{wrong:?}"
    );
}

/// The text for a person who starts codeyard at a terminal and ends it at once.
const AT_A_TERMINAL: &str = include_str!("friendly/start_at_a_terminal.py");

#[tokio::test]
async fn a_server_that_a_person_starts_says_what_it_is() {
    let codeyard = Codeyard::new().unwrap();
    let terminal = Codeyard::new().unwrap().below(["python3", "-c", AT_A_TERMINAL]);
    let mut command = terminal.command(["mcp"]).unwrap();
    let ended = command.stdin(Stdio::null()).output().await.unwrap();
    let seen = String::from_utf8(ended.stdout).unwrap();
    assert!(
        seen.contains("This is an MCP server") && seen.trim_end().ends_with(" 0"),
        "{seen}"
    );
    let piped = run(&codeyard, &["mcp"], "").await;
    assert_eq!((piped.err.as_str(), piped.code), ("", 0));
}
