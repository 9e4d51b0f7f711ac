//! Attacks of a hostile user on a gateway, one kind at a time and all together.

use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::setpriority_process;
use serde_json::{Value, json};
use test_support::gateway::{HttpConnection, HttpRequest};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// The attacked gateway, and the hostile user's credentials.
#[derive(Debug, Clone)]
pub struct Target {
    pub address: String,
    pub token: String,
}

/// A running attack on a thread of its own.
pub struct Attack {
    ending: oneshot::Sender<()>,
    thread: JoinHandle<Result<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttackKind {
    Requests,
    Runs,
    HugeBodies,
    SlowBodies,
    SlowReads,
    Forks,
    Memory,
    Processor,
    Output,
    Upstreams,
    All,
}

/// Connections of a flood: half of a user's limit, so that the gateway refuses none.
const FLOOD: usize = 128;
/// Connections that send slowly.
const SLOW: usize = 200;
const TRICKLE: Duration = Duration::from_millis(50);
/// Concurrent programs: a user's limit.
const PROGRAMS: usize = 16;
/// Longest life of a hostile program, in milliseconds.
const LIFE: u64 = 60_000;
/// Bytes of a huge body, below and above the gateway's limit.
const HUGE: [usize; 2] = [12 << 20, 80 << 20];
/// Lowest priority: on this machine, the client must not take processor time from the gateway, as on another machine.
const NICEST: i32 = 19;

const FORKS: &str = include_str!("../../parts/hostile/forker.py");
const MEMORY: &str = include_str!("../../parts/hostile/filler.py");
const PROCESSOR: &str = include_str!("../../parts/hostile/burner.py");
const OUTPUT: &str = include_str!("../../parts/hostile/output.py");
const UPSTREAMS: &str = include_str!("upstreams.py");

// === impl AttackKind ===

impl AttackKind {
    pub const ALL: [AttackKind; 11] = [
        AttackKind::Requests,
        AttackKind::Runs,
        AttackKind::HugeBodies,
        AttackKind::SlowBodies,
        AttackKind::SlowReads,
        AttackKind::Forks,
        AttackKind::Memory,
        AttackKind::Processor,
        AttackKind::Output,
        AttackKind::Upstreams,
        AttackKind::All,
    ];

    pub fn name(self) -> &'static str {
        match self {
            AttackKind::Requests => "flood of requests",
            AttackKind::Runs => "flood of runs",
            AttackKind::HugeBodies => "huge bodies",
            AttackKind::SlowBodies => "slow bodies",
            AttackKind::SlowReads => "slow reads",
            AttackKind::Forks => "fork bombs",
            AttackKind::Memory => "memory hogs",
            AttackKind::Processor => "CPU hogs",
            AttackKind::Output => "floods of output",
            AttackKind::Upstreams => "hostile upstream servers",
            AttackKind::All => "all together",
        }
    }

    /// The single attacks that this kind combines.
    pub fn alone(self) -> Vec<AttackKind> {
        match self {
            AttackKind::All => {
                let single = AttackKind::ALL.into_iter();
                single.filter(|kind| *kind != AttackKind::All).collect()
            }
            kind => vec![kind],
        }
    }

    /// Starts the attack on the current runtime; the attack ends with the runtime.
    fn begin(self, target: &Target) {
        match self {
            AttackKind::Requests => (0..FLOOD).for_each(|number| spawn(target, flood, number)),
            AttackKind::Runs => (0..FLOOD / 2).for_each(|number| spawn(target, run_often, number)),
            AttackKind::HugeBodies => (0..PROGRAMS).for_each(|number| spawn(target, send_huge, number)),
            AttackKind::SlowBodies => (0..SLOW).for_each(|number| spawn(target, send_slowly, number)),
            AttackKind::SlowReads => (0..SLOW).for_each(|number| spawn(target, read_nothing, number)),
            AttackKind::Forks => programs(target, FORKS),
            AttackKind::Memory => programs(target, MEMORY),
            AttackKind::Processor => programs(target, PROCESSOR),
            AttackKind::Output => programs(target, OUTPUT),
            AttackKind::Upstreams => programs(target, UPSTREAMS),
            AttackKind::All => {}
        }
    }
}

// === impl Attack ===

impl Attack {
    pub fn start(kinds: &[AttackKind], target: &Target) -> Result<Attack> {
        let (ending, ended) = oneshot::channel();
        let (kinds, target) = (kinds.to_vec(), target.clone());
        let thread = std::thread::spawn(move || {
            // On Linux, the priority belongs to the thread.
            setpriority_process(None, NICEST)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                kinds.iter().for_each(|kind| kind.begin(&target));
                // The sender is never dropped before it sends.
                let _ = ended.await;
            });
            Ok(())
        });
        Ok(Attack { ending, thread })
    }

    /// Closes every connection of the attack.
    pub fn end(self) -> Result<()> {
        let _ = self.ending.send(());
        let ended = self
            .thread
            .join()
            .map_err(|_| anyhow::anyhow!("the attack panicked"));
        ended?.context("the attack")
    }
}

/// Repeats one step of the attack until its runtime ends; ignores refusals.
fn spawn<F, D>(target: &Target, act: F, number: usize)
where
    F: Fn(Target, usize) -> D + Send + 'static,
    D: Future<Output = Result<()>> + Send,
{
    let target = target.clone();
    tokio::spawn(async move {
        loop {
            if act(target.clone(), number).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
}

fn programs(target: &Target, code: &'static str) {
    for number in 0..PROGRAMS {
        let program = move |target: Target, number: usize| async move {
            let request = program(&target, code, &format!("hostile-{number}"));
            HttpConnection::to(&target.address).ask(&request).await.map(drop)
        };
        spawn(target, program, number);
    }
}

fn program(target: &Target, code: &str, session: &str) -> HttpRequest {
    let arguments = json!({"code": code, "language": "python", "session": session, "timeout_ms": LIFE});
    let params = json!({"server_id": "hostile", "name": "execute_code", "arguments": arguments});
    HttpRequest::rpc(&target.token, "1", "tools/call", params)
}

/// Cheap requests, one after another.
async fn flood(target: Target, number: usize) -> Result<()> {
    let mut connection = HttpConnection::to(&target.address);
    let list = json!({"server_id": "hostile"});
    let request = match number % 3 {
        0 => HttpRequest::new("GET /servers", &target.token, &Value::Null),
        1 => HttpRequest::rpc(&target.token, "1", "ping", json!({})),
        _ => HttpRequest::rpc(&target.token, "1", "tools/list", list),
    };
    loop {
        connection.ask(&request).await?;
    }
}

async fn run_often(target: Target, number: usize) -> Result<()> {
    let mut connection = HttpConnection::to(&target.address);
    let request = program(&target, "print(1)", &format!("hostile-{}", number % PROGRAMS));
    loop {
        connection.ask(&request).await?;
    }
}

async fn send_huge(target: Target, number: usize) -> Result<()> {
    let mut request = program(&target, "", "hostile");
    request.body = "x".repeat(HUGE[number % 2]);
    HttpConnection::to(&target.address).ask(&request).await.map(drop)
}

/// A body sent byte by byte.
async fn send_slowly(target: Target, _number: usize) -> Result<()> {
    let mut stream = TcpStream::connect(&target.address).await?;
    let (host, token) = (&target.address, &target.token);
    let head = format!(
        "POST /rpc HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 1000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(TRICKLE).await;
    }
}

/// Requests large answers and streams without reading them.
async fn read_nothing(target: Target, number: usize) -> Result<()> {
    let mut stream = TcpStream::connect(&target.address).await?;
    let (host, token) = (&target.address, &target.token);
    let path = match number % 4 {
        0 => "/servers/hostile/sse",
        1 => "/servers/hostile/code/runs?format=jsonl",
        _ => "/openapi.json",
    };
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\naccept: */*\r\n\r\n"
    );
    // The answers of pipelined requests queue behind each other.
    for _ in 0..20 {
        stream.write_all(head.as_bytes()).await?;
    }
    tokio::time::sleep(Duration::from_millis(LIFE)).await;
    Ok(())
}
