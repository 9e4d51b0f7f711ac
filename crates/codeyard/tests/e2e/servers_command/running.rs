//! The view of running codeyards, and their reloads of a changed configuration.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, McpClient, is_gone, stub_server, wait_until};

use crate::servers_command::{Yard, stub};

/// Longest wait, also acceptable to a person.
const SOON: Duration = Duration::from_secs(30);

async fn add(client: &mut McpClient) -> Value {
    let code = "return await tools.stub.add(a=1, b=2)";
    let ran = client
        .call_tool("execute_code", json!({ "code": code }))
        .await
        .unwrap();
    ran["structuredContent"].clone()
}

/// Polls until the answer meets the condition.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(begun.elapsed() < SOON, "waited {SOON:?} until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn two_processes_are_seen_and_a_killed_one_disappears() {
    let yard = Yard::with(&json!({"stub": stub()}));
    assert!(yard.ps().await.is_empty());
    let mut first = yard.serve(&[]).await;
    let mut second = yard.serve(&[]).await;
    let bridge = yard.serve(&["--surface", "bridge"]).await;
    assert_eq!(add(&mut first).await["result"], json!({"sum": 3}));
    add(&mut first).await;
    add(&mut second).await;
    let all = yard.ps().await;
    let of = |pid: Option<u32>| all.iter().find(|status| status["pid"] == json!(pid)).unwrap();
    let one = of(first.pid());
    assert_eq!(
        (
            &one["surface"],
            &one["sessions"],
            &one["runs"],
            &one["servers"],
            &one["servers_running"]
        ),
        (&json!("code"), &json!(1), &json!(2), &json!(1), &json!(1)),
        "{one}"
    );
    assert!(
        one["client"].as_str().is_some_and(|client| !client.is_empty()),
        "{one}"
    );
    assert_eq!(of(bridge.pid())["surface"], "bridge");
    let table = yard.done(&["ps"]).await.out;
    assert!(table.starts_with("pid") && table.lines().count() == 4, "{table}");
    let server = yard.server("stub").await;
    assert_eq!(
        (&server["state"], &server["calls"]),
        (&json!("running"), &json!(3)),
        "{server}"
    );
    assert_eq!(server["running_in"].as_array().unwrap().len(), 2);
    let table = yard.done(&["servers"]).await.out;
    assert!(table.contains("running (2)"), "{table}");

    let mode = |path: &PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    let sockets_now = yard.sockets();
    assert_eq!(sockets_now.len(), 3);
    assert!(sockets_now.iter().all(|socket| mode(socket) == 0o600));
    assert_eq!(mode(&sockets_now[0].parent().unwrap().to_path_buf()), 0o700);
    // A process removes its socket at its end; a killed one leaves it for the next query.
    let pid = first.pid().unwrap();
    first.kill().unwrap();
    first.wait().await.unwrap();
    assert!(is_gone(pid));
    second.finish().await.unwrap();
    assert_eq!(yard.sockets().len(), 2);
    let third = yard.serve(&[]).await;
    let names = |pids: [Option<u32>; 2]| {
        let mut names = pids.map(|pid| format!("{}.sock", pid.unwrap()));
        names.sort();
        names
    };
    wait_until("the socket of the killed one is gone", || {
        let left: Vec<String> = yard
            .sockets()
            .iter()
            .map(|socket| socket.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        (left == names([bridge.pid(), third.pid()])).then_some(())
    })
    .await;
    assert_eq!(yard.ps().await.len(), 2);
}

#[tokio::test]
async fn invalid_input_at_the_socket_is_answered_or_dropped() {
    let yard = Yard::with(&json!({"stub": stub()}));
    let mut client = yard.serve(&[]).await;
    let socket = wait_until("the socket is there", || yard.sockets().pop()).await;
    for (said, answered) in [
        (&b"\n"[..], "not a valid question"),
        (b"{}\n", "not a valid question"),
        (b"\xff\xfe\x00\n", "not a valid question"),
        (
            b"{\"codeyard\": 2, \"ask\": \"status\"}\n",
            "speaks version 1, not 2",
        ),
        (
            b"{\"codeyard\": 1, \"ask\": \"secrets\"}\n",
            "not a valid question",
        ),
        (
            b"{\"codeyard\": 1, \"ask\": \"status\", \"more\": 1}\n",
            "\"pid\"",
        ),
        (&[b'x'; 5000], "not a valid question"),
    ] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.write_all(said).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A client that sends more than the limit may lose the end of the answer.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(answered), "{said:?}: {answer}");
    }
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(
        stream.read(&mut [0]).unwrap(),
        0,
        "an empty request must get no answer"
    );
    // Silent clients use up places, but delay neither serving nor the end.
    let silent: Vec<UnixStream> = (0..64)
        .filter_map(|_| UnixStream::connect(&socket).ok())
        .collect();
    assert_eq!(add(&mut client).await["result"], json!({"sum": 3}));
    drop(silent);
    until("it answers again", async || {
        let all = yard.ps().await;
        all[0]["pid"]
            .is_u64()
            .then_some(())
            .filter(|()| all[0]["error"].is_null())
    })
    .await;
    client.finish().await.unwrap();
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_suspended_server_is_shown_as_suspended() {
    let mut hasty = stub();
    hasty["timeout"] = json!(100);
    let yard = Yard::with(&json!({"stub": hasty}));
    let mut client = yard.serve(&[]).await;
    let late = "try:\n    await tools.stub.slow(seconds=5)\nexcept ToolError:\n    pass\n";
    let ran = client
        .call_tool("execute_code", json!({ "code": late.repeat(8) }))
        .await
        .unwrap();
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran}");
    let server = yard.server("stub").await;
    assert_eq!(server["state"], "suspended", "{server}");
    assert!(
        server["last_error"].as_str().unwrap().contains("did not answer"),
        "{server}"
    );
    client.finish().await.unwrap();
}

/// Connects as another user; returns the answer.
fn ask_as(user: u32, socket: &Path) -> Vec<u8> {
    let user = rustix::process::Uid::from_raw(user);
    let ask = || {
        // A user belongs to a thread here; this thread ends with the answer.
        rustix::thread::set_thread_res_uid(user, user, user).unwrap();
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        // For a refused user, the socket may be closed by now.
        let _ = stream.write_all(b"{\"codeyard\": 1, \"ask\": \"status\"}\n");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    };
    std::thread::scope(|scope| scope.spawn(ask).join().unwrap())
}

#[tokio::test]
async fn only_the_same_user_and_root_are_answered_whatever_the_modes_are() {
    let yard = Yard::with(&json!({}));
    if yard.file().metadata().unwrap().uid() != 0 {
        return; // Only root can be another user.
    }
    let client = yard.serve(&[]).await;
    let socket = wait_until("the socket is there", || yard.sockets().pop()).await;
    let open =
        |path: &Path, mode: u32| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    open(&socket, 0o666);
    let places = socket.ancestors().skip(1);
    for place in places.take_while(|place| place.starts_with(yard.codeyard.directory())) {
        open(place, 0o711);
    }
    assert_eq!(ask_as(65534, &socket), b"");
    let own = ask_as(0, &socket);
    assert!(own.starts_with(b"{\"codeyard\":1,\"answer\""), "{own:?}");
    client.finish().await.unwrap();
}

#[tokio::test]
async fn eight_clients_may_connect_at_once_for_a_limited_time() {
    let yard = Yard::with(&json!({}));
    let client = yard.serve(&[]).await;
    let socket = wait_until("the socket is there", || yard.sockets().pop()).await;
    let connect = || {
        let stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream
    };
    let begun = Instant::now();
    let mut silent: Vec<UnixStream> = (0..8).map(|_| connect()).collect();
    // Accepted in sequence: the ninth comes when all places are taken.
    assert_eq!(connect().read(&mut [0]).unwrap(), 0, "the ninth is closed");
    assert!(begun.elapsed() < Duration::from_secs(4), "it is closed at once");
    for stream in &mut silent {
        assert_eq!(
            stream.read(&mut [0]).unwrap(),
            0,
            "a silent client is disconnected"
        );
    }
    let waited = begun.elapsed();
    assert!(
        waited >= Duration::from_secs(4),
        "a silent client has five seconds, not {waited:?}"
    );
    drop(silent);
    assert_eq!(yard.ps().await.len(), 1);
    client.finish().await.unwrap();
}

#[tokio::test]
async fn a_changed_configuration_is_reloaded_while_codeyard_serves() {
    let yard = Yard::with(&json!({}));
    let mut client = yard.serve(&[]).await;
    assert_eq!(add(&mut client).await["status"], "refused");
    yard.write(&json!({"stub": stub()}));
    until("the new server is there", async || {
        (add(&mut client).await["result"] == json!({"sum": 3})).then_some(())
    })
    .await;
    let process = yard.server("stub").await["processes"].clone();
    assert_eq!(process.as_array().unwrap().len(), 1);
    // A broken file leaves the servers unchanged, and is reported.
    yard.write_text("{\"mcpServers\": {\"stub\": {\"command\": ");
    let told = until("the broken file is reported", async || {
        let told = yard.run(&["ps"]).await.err;
        told.contains("keeps its previous servers").then_some(told)
    })
    .await;
    assert!(told.contains("servers.json: line 1"), "{told}");
    assert_eq!(add(&mut client).await["result"], json!({"sum": 3}));
    let listed = yard.run(&["servers"]).await;
    assert!(
        listed.code == 2 && listed.err.contains("keeps its previous servers"),
        "{listed:?}"
    );
    // After the repair, an unchanged server keeps its process, and a removed one ends.
    let before = client.stderr();
    assert_eq!(
        before.matches("the servers stay as they were").count(),
        1,
        "{before}"
    );
    yard.write(&json!({"stub": stub(), "other": stub()}));
    until("the mended file counts", async || {
        let all = yard.ps().await;
        (all[0]["configuration"]["broken"].is_null() && all[0]["servers"] == 2).then_some(())
    })
    .await;
    assert_eq!(yard.server("stub").await["processes"], process);
    yard.done(&["servers", "disable", "stub"]).await;
    until("the disabled server is gone", async || {
        (add(&mut client).await["status"] == "refused").then_some(())
    })
    .await;
    assert_eq!(yard.server("stub").await["state"], "disabled");
    client.finish().await.unwrap();
}

#[tokio::test]
async fn a_changed_configuration_is_announced_to_the_client() {
    let yard = Yard::with(&json!({"stub": stub()}));
    let mut client = yard.serve(&[]).await;
    let described = async |client: &mut McpClient| {
        let tools = client.tools().await.unwrap();
        tools[1]["description"].as_str().unwrap().to_owned()
    };
    assert!(described(&mut client).await.ends_with(" Servers: stub."));
    yard.write(&json!({"stub": stub(), "another": stub()}));
    let changed = "notifications/tools/list_changed";
    client.notification(changed).await.unwrap();
    assert!(described(&mut client).await.ends_with(" Servers: another, stub."));
    yard.write(&json!({}));
    client.notification(changed).await.unwrap();
    assert!(described(&mut client).await.ends_with(" signatures."));
    client.finish().await.unwrap();
}

#[tokio::test]
async fn changed_rules_of_an_entry_apply_soon() {
    let yard = Yard::with(&json!({"stub": stub()}));
    let mut client = yard.serve(&[]).await;
    assert_eq!(add(&mut client).await["result"], json!({"sum": 3}));
    let mut guarded = stub();
    guarded["deny"] = json!(["add"]);
    yard.write(&json!({ "stub": guarded }));
    let code = "try:\n    await tools.stub.add(a=1, b=2)\nexcept ToolError as e:\n    return str(e)";
    until("the rule counts", async || {
        let ran = client
            .call_tool("execute_code", json!({ "code": code }))
            .await
            .unwrap();
        let told = ran["structuredContent"]["result"].as_str()?;
        told.contains("(deny rule 'add' of mcpServers.stub of ")
            .then_some(())
    })
    .await;
    client.finish().await.unwrap();
}

#[tokio::test]
async fn a_missing_file_is_reported() {
    let mut client = CodeClient::with_stub().await;
    client
        .check("print(await tools.stub.echo(message='there'))", "there\n")
        .await;
    let file = client.codeyard.directory().join("config/codeyard/mcp.json");
    std::fs::remove_file(&file).unwrap();
    until("the lost file is told", async || {
        let told = client.mcp.stderr();
        told.contains("mcp.json: was removed, so its definitions are no longer used")
            .then_some(())
    })
    .await;
    let ran = client.run("await tools.stub.echo(message='gone')").await;
    assert!(ran.is_error() && ran.error().contains("stub"), "{ran:?}");
}

#[tokio::test]
async fn standard_error_of_servers_is_kept_without_secrets() {
    let script = "echo \"begun with $TOKEN\" >&2; exec \"$0\" stub";
    let yard = Yard::with(&json!({
        "a/b": {"command": "sh", "args": ["-c", script, stub_server()], "env": {"TOKEN": "s3cret-value"}},
    }));
    let none = yard.done(&["servers", "logs", "a/b"]).await;
    assert_eq!(
        (none.out.as_str(), none.err.as_str()),
        ("", "`a/b` has not been started yet\n")
    );
    let file = yard.file();
    let follow = [
        "servers",
        "logs",
        "a/b",
        "--follow",
        "--config",
        file.to_str().unwrap(),
    ];
    let mut command = yard.codeyard.command(follow).unwrap();
    let mut following = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    yard.done(&["servers", "test", "a/b"]).await;
    let log = yard.codeyard.data_directory().join("logs/a%2fb.log");
    let text = wait_until("the line is there", || {
        let text = std::fs::read_to_string(&log).ok()?;
        text.contains("begun with").then_some(text)
    })
    .await;
    assert!(
        text.contains("begun with [hidden]\n") && text.starts_with("--- 2"),
        "{text}"
    );
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let shown = yard.done(&["servers", "logs", "a/b"]).await;
    assert_eq!(shown.out, text);
    let mut lines = tokio::io::BufReader::new(following.stdout.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("begun with [hidden]\n") {
        let read = tokio::io::AsyncBufReadExt::read_line(&mut lines, &mut seen);
        let count = tokio::time::timeout(SOON, read).await.unwrap().unwrap();
        assert!(count > 0, "{seen}");
    }
    following.kill().await.unwrap();
}
