//! Servers that print their secrets: no error, log or bill contains the secrets.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::adopt::{Home, ended};

/// All secrets, as in the client's file.
const SECRETS: [&str; 5] = [
    "ghp_s3cr3tARGVaaaaaaaa",
    "s3cr3tKEYbbbb",
    "ntn_s3cr3tINNERcccc",
    "s3cr3tPWdddd",
    "s3cr3tURLeeee",
];

/// Prints its command line, and ends.
const TALKATIVE: &str = "#!/bin/sh\necho \"started with $* and $DATABASE_URL, $HEADERS\" >&2\necho \"${HEADERS#*Bearer }\" >&2\necho \"${DATABASE_URL#*me:}\" >&2\nexit 3\n";

/// Prints each request, and refuses.
async fn refusing(listener: TcpListener) {
    while let Ok((mut stream, _from)) = listener.accept().await {
        let mut request = vec![0; 16 * 1024];
        let count = stream.read(&mut request).await.unwrap_or_default();
        let head = String::from_utf8_lossy(&request[..count]);
        let body = format!("bad request: {}", head.lines().take(1).collect::<String>());
        let answer = format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

#[track_caller]
fn check(place: &str, text: &str, expected: &str) {
    assert!(text.contains(expected), "{place}: {text}");
    for secret in SECRETS {
        assert!(!text.contains(secret), "{place} shows {secret}: {text}");
    }
}

async fn home(port: u16) -> Home {
    let home = Home::new();
    home.write("talkative", TALKATIVE.as_bytes());
    let program = home.path("talkative");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let servers = json!({"mcpServers": {
        "started": {
            "command": program,
            "args": [format!("--token={}", SECRETS[0]), "--api-key", SECRETS[1]],
            "env": {
                "HEADERS": format!("{{\"Authorization\": \"Bearer {}\"}}", SECRETS[2]),
                "DATABASE_URL": format!("postgres://me:{}@h/db", SECRETS[3]),
            },
        },
        "reached": {"url": format!("http://127.0.0.1:{port}/mcp?token={}", SECRETS[4])},
    }});
    home.write(crate::adopt::CURSOR, servers.to_string().as_bytes());
    home
}

#[tokio::test]
async fn secrets_that_a_server_prints_are_never_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(refusing(listener));
    let home = home(port).await;
    let imported = home.done(&["import", "cursor", "--yes"]).await;
    check("the bill", &imported.out, "[hidden]");
    check("its standard error", &imported.err, "CODEYARD_STARTED_TOKEN");
    for name in ["started", "reached"] {
        // The server is disabled because its connection failed.
        ended(home.command(&["servers", "enable", name, "--yes"])).await;
        let tested = ended(home.command(&["--log", "trace", "servers", "test", name])).await;
        check("the test", &format!("{}{}", tested.out, tested.err), "[hidden]");
        let program = format!(
            "try:\n    await tools.{name}.x()\nexcept Exception as e:\n    print('seen', repr(e))\nawait tools.{name}.x()\n"
        );
        home.write("program.py", program.as_bytes());
        let file = home.path("program.py");
        let ran = ended(home.command(&["--log", "trace", "run", file.to_str().unwrap()])).await;
        check("the program", &format!("{}{}", ran.out, ran.err), name);
    }
    let logged = home.done(&["servers", "logs", "started"]).await;
    check(
        "the log",
        &logged.out,
        "started with --token=[hidden] --api-key [hidden]",
    );
    let kept = std::fs::read_to_string(home.data().join("logs/started.log")).unwrap();
    check("the kept log", &kept, "[hidden]@h/db");
    let shown = home.done(&["config", "show"]).await;
    check("the settings", &shown.out, "started");
    server.abort();
}
