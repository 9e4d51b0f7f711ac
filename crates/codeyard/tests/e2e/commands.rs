//! The commands for people and scripts: output, streams and exit codes.

mod calls;
mod friendly;
mod messages;
mod python;
mod saved;
mod scripts;

mod stubs;

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Codeyard, ServerDefinition, is_gone, run, wait_until};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

/// Runs a command at a terminal with one line of input; returns everything shown. The command must succeed.
async fn at_a_terminal(codeyard: &Codeyard, args: &[&str], answer: &str) -> String {
    let own = codeyard.command(args.iter().copied()).unwrap();
    let own = own.as_std();
    let words = [own.get_program()].into_iter().chain(own.get_args());
    let line: Vec<String> = words
        .map(|word| format!("'{}'", word.to_string_lossy()))
        .collect();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test owns the process and kills it on drop"
    )]
    let mut script = Command::new("script");
    script
        .args(["-qec", &line.join(" "), "/dev/null"])
        .kill_on_drop(true);
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    script.current_dir(codeyard.work_directory());
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().unwrap();
    let mut input = script.stdin.take().unwrap();
    input.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    let ended = script.wait_with_output().await.unwrap();
    drop(input);
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{args:?}: {shown}");
    shown
}

#[tokio::test]
async fn run_prints_as_an_ordinary_program_does() {
    let codeyard = Codeyard::with_stub().unwrap();
    let code =
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nreturn await tools.stub.add(a=1, b=2)";
    let ended = run(&codeyard, &["run", "-"], code).await;
    assert_eq!(
        (ended.out.as_str(), ended.code),
        ("out\n{\n  \"sum\": 3\n}\n", 0),
        "{ended:?}"
    );
    assert_eq!(ended.err, "err\n");

    let file = codeyard.work_directory().join("prog.py");
    std::fs::write(&file, "print('before')\nraise ValueError('boom')").unwrap();
    let ended = run(&codeyard, &["run", "prog.py"], "").await;
    assert_eq!((ended.out.as_str(), ended.code), ("before\n", 1));
    assert!(
        ended.err.contains("line 2") && ended.err.ends_with("ValueError: boom\n"),
        "{}",
        ended.err
    );

    let ended = run(
        &codeyard,
        &["run", "-", "--timeout", "300ms"],
        "import time\ntime.sleep(60)",
    )
    .await;
    assert_eq!(ended.code, 124);
    assert!(
        ended.err.ends_with("Execution timed out after 300ms\n"),
        "{}",
        ended.err
    );

    let ended = run(&codeyard, &["run", "-", "--json"], "print('x')\n{'a': 1}").await;
    let described = ended.json();
    assert_eq!(
        (&described["status"], &described["stdout"]),
        (&json!("completed"), &json!("x\n"))
    );
    assert_eq!(described["result"], json!({"a": 1}));
    assert!(described["usage"]["wall_ms"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn run_saves_images_in_the_named_directory() {
    let codeyard = Codeyard::new().unwrap();
    let png = "import base64\nreturn base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')";
    let ended = run(&codeyard, &["run", "-", "--images", "charts"], png).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let saved = std::fs::read(codeyard.work_directory().join("charts/figure-1.png")).unwrap();
    assert!(saved.starts_with(b"\x89PNG"));
    let ended = run(&codeyard, &["run", "-"], png).await;
    assert!(ended.err.contains("--images DIR saves it"), "{ended:?}");
}

#[tokio::test]
async fn mistakes_on_the_command_line_exit_with_2() {
    let codeyard = Codeyard::with_stub().unwrap();
    for (args, told) in [
        (&["run", "-", "--timeout", "5"][..], "such as `60s`"),
        (&["run", "-", "--timeout", "10m"], "use 300000ms"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["call", "stub.add", "{}", "--log", "loud"], "not a level"),
        (&["call", "stub.add", "[1]"], "must be a JSON object"),
        (
            &["call", "stub.add", "{\"a\": 1}"],
            "missing required argument 'b'",
        ),
        (&["call", "stub.ad", "{}"], "add"),
        (&["call", "add", "{}"], "SERVER.TOOL"),
        (&["tools", "show", "stub.nothing"], "has no tool"),
        (&["demo-server", "orderz"], "orders, crm, mailbox"),
        (&["trust", "nowhere"], "nowhere: there is no such file"),
        (
            &["tools", "--config", "missing.json"],
            "missing.json: there is no such file",
        ),
    ] {
        let ended = run(&codeyard, args, "").await;
        assert_eq!(ended.code, 2, "{args:?}: {ended:?}");
        assert!(
            ended.err.contains(told) && ended.out.is_empty(),
            "{args:?}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn every_mistake_of_every_file_is_reported_before_the_start() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server_json("a", json!({"args": []}))
        .server_json("b", json!({"command": "${NOT_SET_ANYWHERE}", "timeout": "5s"}))
        .settings("[limits]\nmemroy = \"1 GiB\"");
    for args in [&["mcp"][..], &["tools"], &["run", "-"]] {
        let ended = run(&codeyard, args, "").await;
        assert_eq!(ended.code, 2, "{ended:?}");
        let told = [
            "mcpServers.a.command: is missing",
            "mcpServers.b.command: the server is not used: the variable NOT_SET_ANYWHERE is not set",
            "mcpServers.b.timeout: expected a number of milliseconds",
            "limits.memroy: unknown limit `memroy`; did you mean `memory`?",
        ];
        for mistake in told {
            assert!(ended.err.contains(mistake), "{mistake}: {}", ended.err);
        }
    }
}

#[tokio::test]
async fn tools_are_listed_found_shown_and_called() {
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = run(&codeyard, &["tools"], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.starts_with("stub - Stub server\n"), "{}", ended.out);
    assert!(
        ended
            .out
            .contains("tools.stub.add(a: float, b: float) -> {sum: float}\n"),
        "{}",
        ended.out
    );
    let listing = run(&codeyard, &["tools", "--json"], "").await.json();
    assert_eq!(listing["servers"][0]["name"], "stub");
    let ended = run(&codeyard, &["tools", "add", "two", "numbers", "--limit", "1"], "").await;
    assert!(ended.out.trim_start().starts_with("tools.stub.add("), "{ended:?}");
    let ended = run(&codeyard, &["tools", "show", "stub.add"], "").await;
    assert!(ended.out.contains("\"required\""), "{ended:?}");
    let definition = run(&codeyard, &["tools", "show", "stub.add", "--json"], "")
        .await
        .json();
    assert_eq!(definition["name"], "add");
    let ended = run(&codeyard, &["call", "stub.add", "{\"a\": 1, \"b\": 2}"], "").await;
    assert_eq!((ended.json(), ended.code), (json!({"sum": 3}), 0));
    let ended = run(
        &codeyard,
        &["call", "stub.echo", "-"],
        "{\"message\": \"from a file\"}",
    )
    .await;
    assert_eq!((ended.out.as_str(), ended.code), ("from a file\n", 0));
    let raw = run(
        &codeyard,
        &["call", "stub.add", "{\"a\": 1, \"b\": 2}", "--json"],
        "",
    )
    .await
    .json();
    assert!(raw["content"].is_array());
}

#[tokio::test]
async fn failures_of_tools_and_servers_have_their_own_codes() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("dead", &ServerDefinition::new("false", &[]));
    let ended = run(&codeyard, &["call", "stub.fail", "{\"message\": \"nope\"}"], "").await;
    assert_eq!(
        (ended.out.as_str(), ended.err.as_str(), ended.code),
        ("", "error: nope\n", 1)
    );
    let ended = run(&codeyard, &["call", "stub.crash"], "").await;
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.err.contains("stub"), "{ended:?}");
    let ended = run(&codeyard, &["tools"], "").await;
    assert_eq!(ended.code, 4, "one server is dead: {ended:?}");
    assert!(
        ended.out.contains("tools.stub.add(") && ended.out.contains("dead"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_projects_servers_run_only_while_it_is_trusted() {
    let codeyard = Codeyard::new().unwrap();
    let project = codeyard.work_directory().join(".mcp.json");
    let write = |text: String| std::fs::write(&project, text).unwrap();
    let servers = json!({"mcpServers": {"own": ServerDefinition::stub().to_json()}}).to_string();
    write(servers.clone());
    let ended = run(&codeyard, &["tools"], "").await;
    assert!(
        ended.err.contains("is not trusted") && ended.err.contains("codeyard trust"),
        "{ended:?}"
    );
    assert!(!ended.out.contains("tools.own."), "{ended:?}");

    let ended = run(&codeyard, &["trust"], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.out.contains("stub-server stub\n"),
        "the whole command is shown: {}",
        ended.out
    );
    let ended = run(&codeyard, &["tools"], "").await;
    assert!(
        ended.out.contains("tools.own.add(") && ended.err.is_empty(),
        "{ended:?}"
    );

    write(format!("{servers}\n"));
    let ended = run(&codeyard, &["tools"], "").await;
    assert!(
        ended.err.contains("has changed since it was trusted"),
        "{ended:?}"
    );
    assert!(!ended.out.contains("tools.own."), "{ended:?}");
}

#[tokio::test]
async fn python_and_machine_are_described() {
    let codeyard = Codeyard::new().unwrap();
    let info = run(&codeyard, &["python", "info", "--json"], "").await.json();
    assert!(info["interpreter"]["executable"].is_string(), "{info}");
    assert_eq!(info["environment"], Value::Null);
    let ended = run(&codeyard, &["python", "info"], "").await;
    assert!(
        ended.out.starts_with("Python 3.") && ended.out.contains("codeyard python sync"),
        "{ended:?}"
    );
    let report = run(&codeyard, &["doctor", "--json"], "").await;
    assert_eq!(report.code, 0, "{report:?}");
    let report = report.json();
    assert_eq!(report["serves"], true);
    assert!(
        report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .any(|check| check["name"] == "session")
    );
    let ended = run(&codeyard, &["doctor"], "").await;
    assert!(ended.out.contains("programs can run here"), "{ended:?}");
}

#[tokio::test]
async fn without_python_nothing_runs_and_the_remedy_is_named() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[python]\npath = \"/nowhere/python3\"");
    for args in [&["run", "-"][..], &["doctor"], &["python", "info"]] {
        let ended = run(&codeyard, args, "print(1)").await;
        assert_eq!(ended.code, 3, "{args:?}: {ended:?}");
        let told = format!("{}{}", ended.out, ended.err);
        assert!(told.contains("/nowhere/python3"), "{args:?}: {told}");
    }
    // Clients are still served; each program gets the reason for not running.
    let mut client = codeyard.mcp(test_support::Era::Legacy).await.unwrap();
    let ran = client
        .call_tool("execute_code", json!({"code": "print(1)"}))
        .await
        .unwrap();
    assert_eq!(
        (&ran["isError"], &ran["structuredContent"]["status"]),
        (&json!(true), &json!("refused"))
    );
    assert!(
        ran["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("/nowhere/python3"),
        "{ran}"
    );
}

#[tokio::test]
async fn completions_are_scripts() {
    let codeyard = Codeyard::new().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = codeyard.run(["completions", shell]).await.unwrap();
        assert!(output.status.success());
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("demo-server"),
            "{shell}"
        );
    }
}

#[tokio::test]
async fn the_demo_ends_well_on_the_standard_library() {
    let codeyard = Codeyard::new().unwrap();
    let ended = run(&codeyard, &["demo"], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for told in [
        "\"processed\":10500",
        "left out: it needs pandas and matplotlib, which `codeyard python sync` adds",
        "\"orders_in_memory\":10000",
        "\"got_through\":[]",
        "10,500 rows processed with",
    ] {
        assert!(ended.out.contains(told), "{told}: {}", ended.out);
    }
    assert!(!codeyard.work_directory().join("codeyard-demo.png").exists());
}

#[tokio::test]
async fn the_demo_draws_with_the_managed_environment() {
    if test_support::managed_data().is_none() {
        // The test run creates the environment; elsewhere the chart cannot be drawn.
        return;
    }
    let codeyard = Codeyard::new().unwrap().managed_environment().unwrap();
    let ended = run(&codeyard, &["demo", "--out", "pictures"], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let chart = std::fs::read(codeyard.work_directory().join("pictures/codeyard-demo.png")).unwrap();
    assert!(chart.starts_with(b"\x89PNG"));
}

/// C343, its last line.
#[tokio::test]
async fn a_signal_ends_a_run_and_everything_with_it() {
    let codeyard = Codeyard::with_stub().unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut command = codeyard.command(["run", "-"]).unwrap();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let program = "import time\nawait tools.stub.pid()\ntime.sleep(60)";
        let mut stdin = child.stdin.take().unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stdin, program.as_bytes())
            .await
            .unwrap();
        drop(stdin);
        let pid = child.id().unwrap();
        let server = wait_until("the server runs", || server_of(pid)).await;
        let start = Instant::now();
        send(signal, pid);
        let status = child.wait().await.unwrap();
        assert_eq!(status.code(), Some(code), "{signal}");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        wait_until("the server is gone", || is_gone(server).then_some(())).await;
    }
}

/// Sends a signal to a single process.
#[expect(
    clippy::disallowed_methods,
    reason = "a test sends signals from outside, as a shell does"
)]
fn send(signal: &str, pid: u32) {
    let mut kill = std::process::Command::new("kill");
    let sent = kill.args([format!("-{signal}"), pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// The stub server among the processes below this one.
fn server_of(pid: u32) -> Option<u32> {
    let found = test_support::descendants(pid)
        .into_iter()
        .find(|process| process.command.contains("stub-server") && !process.command.contains("__supervise"));
    found.map(|process| process.pid)
}

#[tokio::test]
async fn a_reader_that_closes_the_pipe_is_no_error() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut command = codeyard.command(["tools", "--json"]).unwrap();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .await
        .unwrap();
    assert_eq!((child.wait().await.unwrap().code(), err.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn serving_ends_with_success_on_a_signal() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut client = codeyard.mcp(test_support::Era::Legacy).await.unwrap();
    client
        .call_tool("execute_code", json!({"code": "await tools.stub.pid()"}))
        .await
        .unwrap();
    let pid = client.pid().unwrap();
    let server = wait_until("the server runs", || server_of(pid)).await;
    send("TERM", pid);
    assert!(client.wait().await.unwrap().success(), "{}", client.stderr());
    wait_until("the server is gone", || is_gone(server).then_some(())).await;
}

#[tokio::test]
async fn standard_output_has_results_only() {
    let codeyard = Codeyard::with_stub().unwrap().env("CODEYARD_LOG", "trace");
    let mut command = codeyard.command(["mcp"]).unwrap();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "execute_code", "arguments": {"code": "print(await tools.stub.echo(message='hi'))"}}}),
    ];
    for request in requests {
        tokio::io::AsyncWriteExt::write_all(&mut stdin, format!("{request}\n").as_bytes())
            .await
            .unwrap();
    }
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in [1, 2] {
        let line = lines.next_line().await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert_eq!(answer["id"], id);
    }
    drop(stdin);
    assert_eq!(lines.next_line().await.unwrap(), None);
    assert!(child.wait().await.unwrap().success());
}
