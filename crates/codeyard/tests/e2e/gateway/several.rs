//! Several processes with one database and one data directory serve the same sessions of a user.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{PostgresServer, run};

use super::actors::{ADMIN, ALICE, ANA};
use super::running::{Gateway, code, installation, until};
use crate::http::served::{self, initialize};

/// Longest time until another process opens a killed process's sessions: a lease of six seconds, and a launch,
/// which parallel tests delay.
const TAKE_OVER: Duration = Duration::from_secs(60);
/// Twice the time after which a process's lease has expired.
const LEASE: Duration = Duration::from_secs(12);

/// Longest wait of one request. During the lease it waits for the process that holds it; later it may launch a session.
fn patience(begun: Instant) -> Duration {
    match begun.elapsed() < LEASE {
        true => Duration::from_secs(1),
        false => Duration::from_secs(30),
    }
}

const GONE: &str = "variables are gone: the process of codeyard that ran it has ended";

struct Several {
    one: Gateway,
    other: Gateway,
    /// The path of a virtual server.
    id: String,
    _postgres: PostgresServer,
    _data: tempfile::TempDir,
}

async fn process(url: &str, data: &Path) -> Gateway {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let advertised = format!("http://{address}");
    let codeyard = installation().env("CODEYARD_DATABASE_URL", url).data(data);
    Gateway::start_with(codeyard, &["--listen", &address, "--advertise", &advertised]).await
}

impl Several {
    async fn start() -> Several {
        let postgres = PostgresServer::start().unwrap();
        let url = postgres.make("gateway").unwrap();
        let data = tempfile::tempdir().unwrap();
        let one = process(&url, data.path()).await;
        let other = process(&url, data.path()).await;
        let id = one.cs_a(&json!({})).await;
        Several {
            one,
            other,
            id,
            _postgres: postgres,
            _data: data,
        }
    }

    async fn sessions(&self, gateway: &Gateway) -> Value {
        let mut sessions = gateway
            .get(&ANA, &format!("/servers/{}/code/sessions", self.id))
            .await;
        for session in sessions.as_array_mut().unwrap() {
            // Each process measures times by its own clock.
            for time in ["created_at", "last_used_at", "generated_at"] {
                session[time].take();
            }
        }
        sessions
    }
}

#[tokio::test]
async fn c125_every_process_has_the_same_variables() {
    let several = Several::start().await;
    let alice = (&ALICE, several.id.as_str());
    several.one.check(alice, "x = 1", "").await;
    for number in 1..=3 {
        let (code, shown) = ("x += 1\nprint(x)", format!("{}\n", 2 * number));
        several.other.check(alice, code, &shown).await;
        several
            .one
            .check(alice, code, &format!("{}\n", 2 * number + 1))
            .await;
    }
    // Another user's sessions may run at another process; both processes list them.
    several.other.check((&ANA, &several.id), "x = 'of ana'", "").await;
    several
        .one
        .check((&ANA, &several.id), "print(x)", "of ana\n")
        .await;
    let listed = several.sessions(&several.one).await;
    let mut users: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["user_email"].as_str().unwrap())
        .collect();
    users.sort_unstable();
    assert_eq!(users, [ALICE.email, ANA.email], "{listed}");
    assert_eq!(several.sessions(&several.other).await, listed);
    let path = format!("/servers/{}/code/sessions?limit=1", several.id);
    let page = several.other.get(&ANA, &path).await;
    assert_eq!(page.as_array().unwrap().len(), 1, "{page}");
    let runs = several
        .one
        .get(&ANA, &format!("/servers/{}/code/runs", several.id))
        .await;
    assert_eq!(
        runs.as_array().unwrap().len(),
        9,
        "each run is recorded once: {runs}"
    );
}

#[tokio::test]
async fn a_session_of_mcp_is_continued_through_another_process() {
    let several = Several::start().await;
    let path = format!("/servers/{}/mcp", several.id);
    let bearer = format!("Bearer {}", several.one.token(&ALICE).await);
    let post = async |gateway: &Gateway, session: Option<&str>, message: &Value| {
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        headers.extend(session.map(|session| ("mcp-session-id", session)));
        let body = message.to_string();
        let answer = served::send(&gateway.address, ("POST", &path), &headers, body.as_bytes()).await;
        answer.whole().await
    };
    let opened = post(&several.one, None, &initialize()).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let call = |code: &str| {
        let arguments = json!({"code": code, "language": "python"});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "shell_exec", "arguments": arguments}})
    };
    let ran = post(
        &several.other,
        Some(&session),
        &call("import time\ntime.sleep(1.5)\nx = 7"),
    )
    .await;
    assert!(
        ran.status == 200 && ran.header("content-type") == Some("text/event-stream"),
        "{ran:?}"
    );
    let ran = post(&several.one, Some(&session), &call("print(x)")).await;
    let ran = ran.events().pop().unwrap();
    assert_eq!(ran["result"]["structuredContent"]["output"], "7\n", "{ran}");
    let unknown = post(&several.other, Some("unknown"), &call("print(x)")).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn sessions_of_a_killed_process_reopen_with_a_notice() {
    let mut several = Several::start().await;
    let alice = (&ALICE, several.id.as_str());
    several
        .one
        .check(alice, "x = 1\nwrite_file('kept', 'file')", "")
        .await;
    several.other.check(alice, "print(x)", "1\n").await;
    several.one.kill();
    let begun = Instant::now();
    let ran = several
        .other
        .sh(&ALICE, &several.id, "print('x' in globals(), read_file('kept'))")
        .await;
    assert!(begun.elapsed() < TAKE_OVER, "{:?}", begun.elapsed());
    assert_eq!(ran.output(), "False file\n", "{ran:?}");
    assert!(ran.0.to_string().contains(GONE), "{ran:?}");
    let again = several.other.check(alice, "print(2)", "2\n").await;
    assert!(!again.0.to_string().contains(GONE), "{again:?}");
    let listed = several.sessions(&several.other).await;
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[tokio::test]
async fn a_process_that_hangs_loses_its_sessions_with_its_lease() {
    let several = Several::start().await;
    let alice = (&ALICE, several.id.as_str());
    several.one.check(alice, "x = 1", "").await;
    several.one.signal(rustix::process::Signal::STOP);
    let begun = Instant::now();
    // Until the lease expires, requests wait for the process that holds it.
    let ran = loop {
        let asked = several.other.sh(&ALICE, &several.id, "print('x' in globals())");
        match tokio::time::timeout(patience(begun), asked).await {
            Ok(ran) => break ran,
            Err(_) => assert!(begun.elapsed() < TAKE_OVER, "{:?}", begun.elapsed()),
        }
    };
    assert_eq!(ran.output(), "False\n", "{ran:?}");
    assert!(ran.0.to_string().contains(GONE), "{ran:?}");
    several.other.check(alice, "y = 2", "").await;
    several.one.signal(rustix::process::Signal::CONT);
    // The process now learns that another process has its session.
    several.one.check(alice, "print(y)", "2\n").await;
    until("one session is listed", async || {
        let listed = several.sessions(&several.one).await;
        (listed.as_array().unwrap().len() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn sessions_that_another_process_takes_over_keep_their_files() {
    let several = Several::start().await;
    let body = code("named", &json!({"surface": "code", "visibility": "public"}));
    let server = several.one.make(&ADMIN, body).await;
    let run = async |gateway: &Gateway, session: &str, code: &str| {
        let arguments = json!({"code": code, "session": session, "language": "python"});
        gateway.call(&ALICE, &server, "execute_code", arguments).await
    };
    for session in ["a", "b"] {
        let write = format!("open('/scratch/kept', 'w').write('{session}')");
        let ran = run(&several.one, session, &write).await;
        assert_eq!(ran.fields()["status"], "completed", "{ran:?}");
    }
    several.one.signal(rustix::process::Signal::STOP);
    let begun = Instant::now();
    loop {
        let asked = run(&several.other, "a", "1");
        match tokio::time::timeout(patience(begun), asked).await {
            Ok(ran) if ran.fields()["status"] == "completed" => break,
            _ => assert!(begun.elapsed() < TAKE_OVER, "{:?}", begun.elapsed()),
        }
    }
    several.one.signal(rustix::process::Signal::CONT);
    // The first process ends its session `b`, which the other has not opened yet.
    let path = format!("/servers/{server}/code/sessions");
    until("one session is listed", async || {
        let listed = several.one.get(&ADMIN, &path).await;
        (listed.as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    let ran = run(&several.other, "b", "print(open('/scratch/kept').read())").await;
    assert_eq!(ran.fields()["stdout"], "b\n", "{ran:?}");
}

#[tokio::test]
async fn a_process_that_drains_gives_its_sessions_back() {
    let Several {
        one,
        other,
        id,
        _postgres,
        _data,
    } = Several::start().await;
    one.check((&ALICE, &id), "x = 1\nwrite_file('kept', 'file')", "")
        .await;
    // The process ends as on SIGTERM.
    drop(one);
    let ran = other
        .sh(&ALICE, &id, "print('x' in globals(), read_file('kept'))")
        .await;
    assert_eq!(ran.output(), "False file\n", "{ran:?}");
    assert!(ran.0.to_string().contains(GONE), "{ran:?}");
}

#[tokio::test]
async fn an_address_that_cannot_be_shared_is_refused() {
    let codeyard = installation();
    for (url, told) in [
        ("http://127.0.0.1:4444", "one process serves an SQLite database"),
        ("http://127.0.0.1:4444/yard", "leave path and query out"),
        ("http://127.0.0.1:4444?x", "leave path and query out"),
        ("http://yard.example.com", "use https"),
        ("yard", "--advertise yard: "),
    ] {
        let refused = run(
            &codeyard,
            &["serve", "--listen", "127.0.0.1:0", "--advertise", url],
            "",
        )
        .await;
        assert!(
            refused.code == 2 && refused.err.contains(told),
            "{url}: {refused:?}"
        );
    }
}
