//! Limits and confinement of programs over `/rpc`: none affects the gateway or another program.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{MetaTools, descendants, status_field, wait_until};

use super::actors::{AL2, ALICE};
use super::running::{Gateway, OverRpc, installation};

#[tokio::test]
async fn c089_an_infinite_loop_ends_and_disturbs_no_other_run() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print('ready')", "ready\n").await;
    let began = Instant::now();
    let arguments = json!({"code": "while True: pass", "language": "python", "timeout_ms": 1000});
    let (ran, ()) = tokio::join!(gateway.call(&ALICE, &id, "shell_exec", arguments), async {
        gateway.check((&AL2, &id), "print('healthy')", "healthy\n").await;
    });
    assert_eq!(ran.error(), "Execution timed out after 1000ms");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let mut sleeping: BTreeMap<u32, u32> = BTreeMap::new();
    wait_until("every process of the sessions is asleep", || {
        let running = descendants(gateway.pid());
        for process in &running {
            let looks = sleeping.entry(process.pid).or_default();
            *looks = if process.state == 'R' { 0 } else { *looks + 1 };
        }
        running
            .iter()
            .all(|process| sleeping[&process.pid] >= 20)
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn c095_threads_are_bounded() {
    let gateway = Gateway::start(installation().settings("[limits]\nprocesses = 20\n")).await;
    let id = gateway.cs_a(&json!({})).await;
    let ran = gateway
        .sh(&ALICE, &id, include_str!("../acceptance/limits/thread_bomb.py"))
        .await;
    let (said, started) = ran.output().trim().split_once('\n').unwrap();
    assert_eq!(said, "can't start new thread");
    assert!(started.parse::<u64>().unwrap() < 20, "{started}");
    gateway.check((&ALICE, &id), "print('next')", "next\n").await;
}

#[tokio::test]
async fn c098_c099_files_are_bounded_and_the_session_stays_usable() {
    let gateway = Gateway::with_stub().await;
    let policy = json!({"sandbox_policy": {"max_total_disk_mb": 10, "max_execution_time_ms": 20_000}});
    let mut client = OverRpc {
        gateway: &gateway,
        actor: &ALICE,
        server: gateway.cs_a(&policy).await,
    };
    let fill = "\
for number in range(200):
    with open(f'/scratch/f{number}', 'wb') as file:
        file.write(b'x' * 1_000_000)";
    let filled = client.run(fill).await;
    let is_refused = ["total disk usage limit exceeded", "No space left on device"]
        .iter()
        .any(|error| filled.error().contains(error));
    assert!(filled.is_error() && is_refused, "{filled:?}");
    // Without file system quotas, files are measured about once a second. Runs are refused until the files are
    // removed.
    let refused = client.run("print('more')").await;
    assert!(refused.is_error(), "{refused:?}");
    let empty = "\
import os
for name in os.listdir('/scratch'):
    os.remove(f'/scratch/{name}')";
    client.check(empty, "").await;
    client
        .check(
            "print(open('/scratch/again', 'wb').write(b'x' * 5_000_000))",
            "5000000\n",
        )
        .await;
    let flood = "\
made = 0
try:
    for number in range(200_000):
        open(f'/scratch/e{number}', 'w').close()
        made += 1
except OSError:
    pass
print(made)";
    let arguments = json!({"code": flood, "language": "python", "timeout_ms": 4000});
    let flooded = client.call("shell_exec", arguments).await;
    match flooded.is_error() {
        true => {
            let ended = ["timed out after 4000ms", "total disk usage limit exceeded"];
            let is_bound = ended.iter().any(|error| flooded.error().contains(error));
            assert!(is_bound, "{flooded:?}");
        }
        false => assert!(
            flooded.output().trim().parse::<u64>().unwrap() < 200_000,
            "{flooded:?}"
        ),
    }
    let began = Instant::now();
    let listed = client.call("fs_browse", json!({"path": "/scratch"})).await;
    assert_eq!(listed.fields()["truncated"], true);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    client.check_healthy().await;
}

#[tokio::test]
async fn c105_c116_junk_on_standard_output_and_a_read_only_root() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let junk = "import sys\nsys.stdout.buffer.write(bytes(range(256))*10)";
    let ran = gateway.sh(&ALICE, &id, junk).await;
    assert!(
        !ran.is_error() && ran.output().contains("binary data, about 2,560 bytes"),
        "{ran:?}"
    );
    let write = "\
for path in ('/etc/x', '/usr/x', '/x', '/root/x', '/opt/x', '/var/x', '/tmp/x', '/scratch/x'):
    try:
        open(path, 'w')
        print(path)
    except OSError:
        pass";
    gateway.check((&ALICE, &id), write, "/tmp/x\n/scratch/x\n").await;
}

#[tokio::test]
async fn c108_a_huge_result_of_a_tool_costs_the_gateway_little() {
    let gateway = Gateway::with_stub().await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_memory_mb": 256}}))
        .await;
    let up = "print((await tools.stub.echo({'message': 'up'}))['text'])";
    gateway.check((&ALICE, &id), up, "up\n").await;
    let resident = |field: &str| -> u64 {
        let value = status_field(gateway.pid(), field).unwrap();
        value.trim_end_matches("kB").trim().parse().unwrap()
    };
    let before = resident("VmRSS");
    let big = "r = await tools.stub.big({'bytes': 67108864})\nprint(len(str(r)) >= 67108864)";
    let ran = gateway.sh(&ALICE, &id, big).await;
    if ran.is_error() {
        let is_clear = ["bytes, more than the", "memory", "MemoryError"]
            .iter()
            .any(|words| ran.error().contains(words));
        assert!(is_clear, "{}", ran.error());
    } else {
        assert_eq!(ran.output(), "True\n");
    }
    let growth = resident("VmHWM").saturating_sub(before);
    assert!(growth < 300 * 1024, "grew by {growth} kB");
    gateway
        .check((&ALICE, &id), "print('healthy')", "healthy\n")
        .await;
}

#[tokio::test]
async fn c112_c115_no_names_no_datagrams_and_no_user_of_the_host() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let network = "\
import socket
def send():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))
for attempt in (lambda: socket.getaddrinfo('example.com', 80), send):
    try:
        attempt()
        print('LEAK')
    except OSError:
        print('blocked')";
    gateway.check((&ALICE, &id), network, "blocked\nblocked\n").await;
    let user = "import os\nprint(os.getuid() != 0, os.getgid() != 0)";
    gateway.check((&ALICE, &id), user, "True True\n").await;
    let guests = descendants(gateway.pid())
        .into_iter()
        .filter(|process| process.command.contains("zygote.py"));
    let uids: Vec<String> = guests
        .filter_map(|process| status_field(process.pid, "Uid"))
        .collect();
    assert!(!uids.is_empty());
    assert!(uids.iter().all(|uid| !uid.starts_with("0\t")), "{uids:?}");
}
