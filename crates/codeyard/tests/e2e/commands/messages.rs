//! Texts for a new user: help, and messages about mistakes.
//!
//! Each test compares a whole transcript.

use std::fmt::Write as _;

use serde_json::json;
use test_support::{Codeyard, ServerDefinition, stub_server};

use super::run;

/// Compares with the test's snapshot; the transcript includes the commands.
macro_rules! assert_transcript {
    ($transcript:expr) => {{
        let transcript = $transcript;
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(transcript) })
    }};
}

/// Runs the commands one after another and records the visible output of each.
pub(super) async fn transcript(codeyard: &Codeyard, commands: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (line, input) in commands {
        let args: Vec<&str> = line.split_whitespace().collect();
        let ended = run(codeyard, &args, input).await;
        if input.is_empty() {
            writeln!(out, "$ codeyard {line}").unwrap();
        } else {
            writeln!(out, "$ codeyard {line} <<'EOF'\n{input}\nEOF").unwrap();
        }
        let said = format!("{}{}", ended.out, ended.err);
        // Versions of Python underline different parts of a line.
        let is_underline = |line: &str| !line.is_empty() && line.chars().all(|c| " ~^".contains(c));
        for line in said.lines().filter(|line| !is_underline(line)) {
            writeln!(out, "{line}").unwrap();
        }
        write!(out, "[exit {}]\n\n", ended.code).unwrap();
    }
    let work = codeyard.work_directory().canonicalize().unwrap();
    let directory = codeyard.directory().canonicalize().unwrap();
    out.replace(&*work.to_string_lossy(), "WORK")
        .replace(&*directory.to_string_lossy(), "HERE")
        .replace(&*stub_server().to_string_lossy(), "stub-server")
}

const COMMANDS: [&str; 27] = [
    "",
    "mcp",
    "run",
    "saved",
    "saved show",
    "saved remove",
    "saved import",
    "tools",
    "tools show",
    "call",
    "login",
    "logout",
    "trust",
    "python",
    "python sync",
    "python add",
    "python remove",
    "python list",
    "python info",
    "doctor",
    "demo",
    "serve",
    "token",
    "user",
    "team",
    "demo-server",
    "completions",
];

#[tokio::test]
async fn every_help_has_an_example() {
    let codeyard = Codeyard::new().unwrap();
    for command in COMMANDS {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let ended = run(&codeyard, &args, "").await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let examples = ended.out.split("Example").nth(1).unwrap_or_default();
        let words = format!("codeyard {command}");
        let is_named = examples.contains(words.trim_end()) || examples.contains("\"command\": \"codeyard\"");
        assert!(is_named, "{command}: {}", ended.out);
    }
}

#[tokio::test]
async fn a_machine_on_which_nothing_is_configured() {
    let codeyard = Codeyard::new().unwrap();
    let commands = [
        ("tools", ""),
        ("tools send mail", ""),
        ("call mail.send", ""),
        ("trust", ""),
        (
            "run -",
            "print(runtime.list_servers_sync())\nawait tools.mail.send(to='ana')",
        ),
    ];
    assert_transcript!(transcript(&codeyard, &commands).await);
}

#[tokio::test]
async fn mistakes_on_the_command_line() {
    let codeyard = Codeyard::with_stub().unwrap();
    let commands = [
        ("runn", ""),
        ("run --json", ""),
        ("run missing.py", ""),
        ("run .", ""),
        ("run - --timeout 5", ""),
        ("run - --timeout 10m", ""),
        ("run - --settings missing.toml", ""),
        ("tools --config missing.json", ""),
        ("tools show stub.ad", ""),
        ("tools show stub", ""),
        ("call stub.add {\"a\":1}", ""),
        ("call stub.add {\"a\":1,\"b\":\"x\"}", ""),
        ("call stub.add {\"a\":1,", ""),
        ("call stub.add [1,2]", ""),
        ("call stbu.add", ""),
        ("trust nowhere", ""),
        ("demo-server orderz", ""),
        ("completions tcsh", ""),
    ];
    assert_transcript!(transcript(&codeyard, &commands).await);
}

#[tokio::test]
async fn programs_that_fail() {
    let codeyard = Codeyard::with_stub().unwrap();
    let commands = [
        ("run -", "def f(:\n    pass"),
        (
            "run -",
            "def ratio(a, b):\n    return a / b\n\nprint('before')\nratio(1, 0)",
        ),
        ("run -", "import sys\nsys.exit(3)"),
        ("run -", "await tools.stub.ad(a=1, b=2)"),
        ("run -", "await tools.stub.add(a=1)"),
        ("run -", "await tools.stub.fail(message='no such person')"),
        ("run -", "tools.stub.add(a=1, b=2)"),
        ("run -", "import pandas"),
        ("run -", "import numpyy"),
        ("run - --timeout 300ms", "x = 1\nwhile True: x += 1"),
        ("run -", "open('/etc/motd', 'w')"),
    ];
    assert_transcript!(transcript(&codeyard, &commands).await);
}

#[tokio::test]
async fn servers_that_fail() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("exits", &ServerDefinition::hostile("exit"))
        .server(
            "absent",
            &ServerDefinition::new("no-such-command-anywhere", &[]).env("PATH", "/nowhere"),
        )
        .server("odd", &ServerDefinition::hostile("no-schema"));
    let commands = [
        ("call exits.echo {\"message\":\"x\"} --log off", ""),
        ("call absent.echo --log off", ""),
        ("tools --log off", ""),
    ];
    assert_transcript!(transcript(&codeyard, &commands).await);
}

#[tokio::test]
async fn every_mistake_of_the_configuration() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server_json("listed", json!({"command": ["node", "x.js"]}))
        .server_json(
            "unset",
            json!({"command": "x", "env": {"TOKEN": "${NOT_SET_ANYWHERE}"}}),
        )
        .server_json("late", json!({"command": "x", "timeout": "5s", "args": "y"}))
        .server_json("none", json!({}))
        .settings(
            "[limits]\nmemroy = \"1 GiB\"\nmemory = \"1 GB\"\nnetwork = \"allow-list\"\n[polcy]\nallow = []",
        );
    assert_transcript!(transcript(&codeyard, &[("tools", "")]).await);
}

#[tokio::test]
async fn what_is_odd_but_no_mistake() {
    let codeyard = Codeyard::new().unwrap().server_json(
        "foreign",
        json!({"command": "x", "alwaysAllow": ["y"], "disabled": true}),
    );
    assert_transcript!(transcript(&codeyard, &[("tools", "")]).await);
}

#[tokio::test]
async fn a_project_is_trusted() {
    let codeyard = Codeyard::new().unwrap();
    let project = codeyard.work_directory().join(".mcp.json");
    let clock = ServerDefinition::replay("time");
    let mut entry = clock.env("TOKEN", "${HOME}").to_json();
    entry["args"] = json!(["replay", "a file; rm -rf ~"]);
    std::fs::write(&project, json!({"mcpServers": {"clock": entry}}).to_string()).unwrap();
    let mut out = transcript(&codeyard, &[("tools --log off", ""), ("trust", "")]).await;
    std::fs::write(&project, "{\"mcpServers\": {}}").unwrap();
    out.push_str(&transcript(&codeyard, &[("tools", "")]).await);
    assert_transcript!(out);
}
