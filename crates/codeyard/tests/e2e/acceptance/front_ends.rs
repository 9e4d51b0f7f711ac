//! MCP in each era and the command line confine a run alike; and how long a run takes.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::{BridgeClient, CodeClient, Codeyard, Era, ServerDefinition};

/// The printed results of a program, however it was started.
#[derive(Debug, PartialEq)]
struct Verdict {
    status: String,
    stdout: String,
    /// Whether the error reports a lack of memory; its wording depends on what ran out first.
    is_short_of_memory: bool,
}

impl Verdict {
    fn of(fields: &Value) -> Verdict {
        let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        Verdict {
            status: text("status"),
            stdout: text("stdout"),
            is_short_of_memory: text("error").to_lowercase().contains("memory"),
        }
    }
}

/// An installation whose process and server hold secrets, with low limits.
fn installation() -> Codeyard {
    let stub = ServerDefinition::stub().env("STUB_SECRET", "s3cr3t-upstream");
    Codeyard::new()
        .unwrap()
        .server("stub", &stub)
        .env("CANARY_ENV", "canary-7f3a")
        .settings("[limits]\nmemory = \"96 MiB\"\nprocesses = 16")
}

/// The verdicts over MCP, all in one session.
async fn over_mcp(era: Era, programs: &[String]) -> Vec<Verdict> {
    let codeyard = installation();
    let mcp = codeyard.mcp(era).await.unwrap();
    let mut client = CodeClient { mcp, codeyard };
    let mut verdicts = Vec::new();
    for program in programs {
        verdicts.push(Verdict::of(client.run(program).await.fields()));
    }
    verdicts
}

async fn on_the_command_line(programs: &[String]) -> Vec<Verdict> {
    let codeyard = installation();
    let mut verdicts = Vec::new();
    for program in programs {
        let ran = codeyard
            .run_with_input(["run", "-", "--json"], program)
            .await
            .unwrap();
        let fields: Value = serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr)));
        verdicts.push(Verdict::of(&fields));
    }
    verdicts
}

/// The programs' output on the surface `bridge`, and whether the last reports a lack of memory.
async fn over_the_bridge(programs: &[String]) -> (Vec<String>, bool) {
    let stub = ServerDefinition::stub().env("STUB_SECRET", "s3cr3t-upstream");
    let codeyard = Codeyard::new()
        .unwrap()
        .definition("stub.json", &[("stub", stub)])
        .unwrap()
        .env("CANARY_ENV", "canary-7f3a")
        .env("MCP_BRIDGE_MEMORY", "96m")
        .env("MCP_BRIDGE_PIDS", "16");
    let mut client = BridgeClient::of(codeyard).await;
    let mut printed = Vec::new();
    let mut is_short_of_memory = false;
    for program in programs {
        let answer = client.run_with(&["stub"], program).await;
        printed.push(format!("{}\n", answer.lines("stdout")));
        is_short_of_memory = answer.is_error() && answer.text().to_lowercase().contains("memory");
    }
    (printed, is_short_of_memory)
}

/// [`installation`]'s secrets, the network, and two limits: C110, C111, C094, and C093, which fills the session's
/// memory.
fn programs(port: u16) -> Vec<String> {
    let environment = "import os, glob\nseen = str(dict(os.environ))\n\
        for path in ['/proc/self/environ', *glob.glob('/proc/[0-9]*/environ')]:\n    try: seen += open(path).read()\n    \
        except OSError: pass\nprint([word for word in ('canary-7f3a', 's3cr3t-upstream', 'CODEYARD') if word in seen])";
    let network = format!(
        "import socket\nfor host, port in (('127.0.0.1', {port}), ('169.254.169.254', 80)):\n    \
         try: socket.create_connection((host, port), 2)\n    except OSError as e: print(type(e).__name__, e.errno)"
    );
    let memory = "kept = []\nwhile True: kept.append(bytearray(b'x') * (1 << 20))";
    let forks = "import os, time\nforked = 0\ntry:\n    for _ in range(50):\n        if os.fork() == 0:\n            time.sleep(3)\n            \
        os._exit(0)\n        forked += 1\nexcept OSError as e:\n    print(type(e).__name__, 0 < forked < 16)";
    vec![
        environment.to_owned(),
        network,
        forks.to_owned(),
        memory.to_owned(),
    ]
}

#[tokio::test]
async fn c346_all_front_ends_share_isolation() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let programs = programs(listener.local_addr().unwrap().port());
    let verdicts = over_mcp(Era::Legacy, &programs).await;
    let seen: Vec<(&str, &str, bool)> = verdicts
        .iter()
        .map(|seen| {
            (
                seen.status.as_str(),
                seen.stdout.as_str(),
                seen.is_short_of_memory,
            )
        })
        .collect();
    assert_eq!(seen[0], ("completed", "[]\n", false));
    assert_eq!(
        seen[1],
        ("completed", "PermissionError 1\nPermissionError 1\n", false)
    );
    assert!(seen[2].1.ends_with("True\n"), "{seen:?}");
    assert_eq!(seen[3], ("limit_exceeded", "", true));
    assert_eq!(over_mcp(Era::Modern, &programs).await, verdicts);
    assert_eq!(on_the_command_line(&programs).await, verdicts);
    let (printed, is_short_of_memory) = over_the_bridge(&programs).await;
    let stdout: Vec<&str> = verdicts[..3].iter().map(|seen| seen.stdout.as_str()).collect();
    assert_eq!(printed[..3], stdout);
    assert!(is_short_of_memory);
    assert!(listener.accept().is_err(), "nobody connected");
}

#[tokio::test]
async fn c349_latency_timed() {
    const RUNS: usize = 200;
    /// The shortest time of a run in the original systems.
    const ORIGINAL: Duration = Duration::from_millis(200);
    let mut client = CodeClient::with_stub().await;
    client.check("print(1)", "1\n").await;
    let mut took = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        client.check("print(1)", "1\n").await;
        took.push(start.elapsed());
    }
    took.sort();
    let [p50, p95, p99] = [50, 95, 99].map(|percent| took[RUNS * percent / 100]);
    eprintln!("print(1), warm, {RUNS} times: p50 {p50:?}, p95 {p95:?}, p99 {p99:?}");
    assert!(p50 < ORIGINAL, "p50 {p50:?}, p95 {p95:?}, p99 {p99:?}");
}
