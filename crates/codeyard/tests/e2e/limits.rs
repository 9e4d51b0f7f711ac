//! Every limit binds, in each way of setting it and each mode available to this test (docs/sandbox.md).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use test_support::limits::{CASES, Case, Way, conform, endure, fate, outcome};
use test_support::{CodeClient, Codeyard, Mode, ServerDefinition, wait_until};
use types::{Limit, Limits, Network};

const PAGE: &str = include_str!("../../../../docs/sandbox.md");
/// One row of the page.
#[derive(Debug)]
struct Row {
    default: String,
    felt: String,
    outcome: String,
    session: String,
}

fn first_word(cell: &str) -> &str {
    cell.split([';', ' ', ':']).next().unwrap_or_default()
}

/// The rows of the page's table of limits, by limit.
fn rows() -> BTreeMap<String, Row> {
    let table = PAGE
        .lines()
        .skip_while(|line| !line.starts_with("| limit | default |"));
    table
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [limit, default, felt, outcome, session] = cells[..] else {
                panic!("a row has five cells: {line}")
            };
            let row = Row {
                default: default.to_owned(),
                felt: felt.to_owned(),
                outcome: match outcome.strip_prefix('`') {
                    Some(rest) => rest.split('`').next().unwrap_or_default().to_owned(),
                    None => first_word(outcome).to_owned(),
                },
                session: session.to_owned(),
            };
            (limit.trim_matches('`').to_owned(), row)
        })
        .collect()
}

/// The default that the page must name.
fn default(limit: Limit) -> String {
    let limits = Limits::default();
    let seconds = |duration: Duration| format!("{} s", duration.as_secs());
    let size = |bytes: u64| match bytes >> 20 {
        mib if mib >= 1024 => format!("{} GiB", mib >> 10),
        mib => format!("{mib} MiB"),
    };
    let count = |number: u64| match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    };
    match limit {
        Limit::WallTime => format!(
            "{}, at most {}",
            seconds(limits.wall_time),
            seconds(Limits::DEFAULT_MAX_WALL_TIME)
        ),
        Limit::CpuTime => seconds(limits.cpu_time),
        Limit::CpuRate => format!("{} core", limits.cpu_rate),
        Limit::Memory => size(limits.memory),
        Limit::Processes => count(limits.processes.into()),
        Limit::OpenFiles => count(limits.open_files.into()),
        Limit::FileSize => size(limits.file_size),
        Limit::Disk => size(limits.disk),
        Limit::Inodes => count(limits.inodes),
        Limit::DiskRate => limits.disk_rate.map_or_else(|| "none".to_owned(), size),
        Limit::Output => size(limits.output),
        Limit::HostCalls => count(limits.host_calls.into()),
        Limit::ConcurrentHostCalls => count(limits.concurrent_host_calls.into()),
        Limit::Workspace => String::new(),
        Limit::Network => match limits.network {
            Network::None => "none".to_owned(),
            Network::AllowList => "allow-list".to_owned(),
        },
    }
}

async fn mode() -> Mode {
    Mode::of(&stub()).await.unwrap()
}

fn stub() -> Codeyard {
    Codeyard::with_stub().unwrap()
}

/// A codeyard without control groups, even under root: in a mount namespace without them.
fn without_groups() -> Codeyard {
    stub().below_mounts("umount --recursive --lazy /sys/fs/cgroup 2>/dev/null || true")
}

/// Compares a limit's row in the table with the page.
#[track_caller]
fn check_row(case: &Case, row: &Row) {
    let limit = case.limit;
    assert!(
        row.default.starts_with(&default(limit)),
        "{limit}: {}, not {}",
        row.default,
        default(limit)
    );
    for word in case.felt.split(' ') {
        assert!(
            row.felt.contains(word),
            "{limit}: the page does not say {word}: {}",
            row.felt
        );
    }
    let outcome = match row.outcome.as_str() {
        "none" if case.felt.is_empty() => "completed",
        "none" => "failed",
        outcome => outcome,
    };
    assert_eq!(outcome, case.outcome, "{limit}");
    assert_eq!(first_word(&row.session), "kept", "{limit}");
}

#[test]
fn the_page_has_one_row_for_each_limit_with_its_default() {
    let rows = rows();
    assert_eq!(rows.len(), Limit::ALL.len(), "{rows:?}");
    for limit in Limit::ALL {
        let row = rows
            .get(limit.name())
            .unwrap_or_else(|| panic!("no row for {limit}"));
        let case = CASES.iter().find(|case| case.limit == limit);
        check_row(case.unwrap_or_else(|| panic!("{limit} is not exceeded")), row);
    }
}

// C095, C098, C099, C212, C250: processes, disk, inodes, time and memory among them.
#[tokio::test]
async fn every_limit_of_the_settings_binds() {
    conform(stub, Way::Settings, mode().await, &[]).await;
}

#[tokio::test]
async fn every_limit_of_a_server_binds() {
    conform(stub, Way::Server, mode().await, &[]).await;
}

#[tokio::test]
async fn every_limit_of_a_call_binds() {
    conform(stub, Way::Call, mode().await, &[]).await;
}

#[tokio::test]
async fn every_limit_binds_without_control_groups() {
    let mode = mode().await;
    if !mode.is_root || !mode.groups {
        return; // Then the other tests are in this mode, or groups cannot be hidden.
    }
    let mode = Mode::of(&without_groups()).await.unwrap();
    assert_eq!((mode.groups, mode.is_root), (false, true));
    conform(without_groups, Way::Call, mode, &[]).await;
}

#[tokio::test]
async fn a_disk_rate_that_cannot_be_bound_is_refused() {
    if mode().await.disk_rate {
        let mut client = CodeClient::of(stub().limit("disk_rate=1MiB")).await;
        let asking = |rate: &str| json!({"code": "1", "session": "s", "limits": {"disk_rate": rate}});
        let ran = client.execute(asking("2 MiB")).await;
        assert!(ran.error().contains("write \"64 KiB\" to \"1 MiB\""), "{ran:?}");
        let ran = client.execute(asking("none")).await;
        assert_eq!(ran.status(), "refused", "{ran:?}");
    }
    let bare = if mode().await.is_root {
        without_groups
    } else {
        stub
    };
    if Mode::of(&bare()).await.unwrap().disk_rate {
        println!("skipped: control groups cannot be hidden here");
        return;
    }
    let settings = bare().settings("[limits]\ndisk_rate = \"1 MiB\"");
    for (codeyard, arguments) in [
        (settings, ["run", "-"].as_slice()),
        (bare(), &["run", "-", "--limit", "disk_rate=1MiB"]),
    ] {
        let output = codeyard.run_with_input(arguments, "print(1)").await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(
            told.contains("`[limits] disk_rate` cannot be bound here") && output.stdout.is_empty(),
            "{told}"
        );
    }
    let mut client = CodeClient::of(bare()).await;
    let ran = client
        .execute(json!({"code": "1", "limits": {"disk_rate": "1 MiB"}}))
        .await;
    assert!(
        ran.error().contains("`[limits] disk_rate` cannot be bound here"),
        "{ran:?}"
    );
    assert_eq!(client.run("6 * 7").await.result(), 42);
}

#[tokio::test]
async fn programs_that_exhaust_the_interpreter_end_within_their_limits() {
    endure(stub()).await;
}

#[tokio::test]
async fn programs_that_exhaust_the_interpreter_end_without_control_groups() {
    let mode = mode().await;
    if mode.is_root && mode.groups {
        endure(without_groups()).await;
    }
}

#[tokio::test]
async fn a_limit_above_the_outer_limit_is_refused_and_nothing_runs() {
    let settings = "[limits]\nmemory = \"512 MiB\"\nmax_wall_time = \"20s\"";
    let codeyard = stub().settings(settings);
    for (limit, told) in [
        (
            "memory=1GiB",
            "--limit memory=1GiB: \"1GiB\" is out of range; write \"64 MiB\" to \"512 MiB\"",
        ),
        (
            "wall_time=21s",
            "\"21s\" is out of range; write \"100ms\" to \"20s\"",
        ),
        ("memroy=1GiB", "unknown limit `memroy`; did you mean `memory`?"),
        ("memory", "expected NAME=VALUE"),
        ("processes=many", "expected a whole number, found a string"),
        ("network=allow-list", "needs the proxy"),
    ] {
        for command in [["run", "-"].as_slice(), &["mcp"]] {
            let arguments: Vec<&str> = command.iter().copied().chain(["--limit", limit]).collect();
            let output = codeyard.run_with_input(arguments, "print(1)").await.unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{limit}: {said}");
            assert!(said.contains(told) && output.stdout.is_empty(), "{limit}: {said}");
        }
    }
    let mut client = CodeClient::of(codeyard.limit("memory=128MiB").limit("wall_time=5s")).await;
    for (limits, told) in [
        (
            json!({"memory": "256 MiB"}),
            "limits.memory: \"256 MiB\" is out of range; write \"64 MiB\" to \"128 MiB\"",
        ),
        (
            json!({"wall_time": "6s"}),
            "limits.wall_time: \"6s\" is out of range; write \"100ms\" to \"5s\"",
        ),
        (
            json!({"memory": 5, "speed": 1}),
            "limits.memory: expected a string, found an integer",
        ),
        (json!("256 MiB"), "limits: must be an object"),
    ] {
        let ran = client
            .execute(json!({"code": "ran = True", "limits": limits}))
            .await;
        assert_eq!(ran.status(), "refused", "{ran:?}");
        assert!(ran.error().contains(told), "{}", ran.error());
    }
    let ran = client.execute(json!({"code": "1", "timeout_ms": 5001})).await;
    assert!(ran.shown().contains("5000 was used instead of 5001"), "{ran:?}");
    assert_eq!(client.run("'ran' in globals()").await.result(), false);
}

#[tokio::test]
async fn an_open_session_keeps_its_limits_and_each_run_has_its_own() {
    let mut client = CodeClient::of(stub()).await;
    let asking =
        |limits: serde_json::Value, code: &str| json!({"code": code, "limits": limits, "session": "s"});
    let files = "import resource\nresource.getrlimit(resource.RLIMIT_NOFILE)[0]";
    let ran = client.execute(asking(json!({"open_files": 50}), files)).await;
    assert_eq!(ran.result(), 50, "{ran:?}");
    let ran = client
        .execute(asking(json!({"open_files": 60}), "ran = True"))
        .await;
    assert_eq!(
        ran.error(),
        "limits.open_files: session 's' is open with 50, not 60, and keeps it until it ends; leave `open_files` out, or \
         open another session"
    );
    let ran = client
        .execute(asking(
            json!({"open_files": 50, "host_calls": 1}),
            "await tools.stub.echo(message='x')\nawait tools.stub.echo(message='x')",
        ))
        .await;
    assert_eq!(outcome(&ran), "limit_exceeded: host_calls", "{ran:?}");
    let ran = client
        .run_in(
            "s",
            "for _ in range(3): await tools.stub.echo(message='x')\nreturn 'ran' in globals()",
        )
        .await;
    assert_eq!(
        ran.result(),
        false,
        "the next run has the limits of the server: {ran:?}"
    );
}

#[tokio::test]
async fn a_program_that_does_not_stop_within_the_grace_is_lost() {
    let deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('before', flush=True)\nwhile True: pass";
    for (settings, expected) in [
        ("wall_time = \"500ms\"", "timed_out"),
        ("cpu_time = \"300ms\"", "limit_exceeded: cpu_time"),
    ] {
        let codeyard = Codeyard::new()
            .unwrap()
            .settings(&format!("[limits]\n{settings}"));
        let mut client = CodeClient::of(codeyard).await;
        let ran = client.run(deaf).await;
        assert_eq!(
            (outcome(&ran).as_str(), fate(&ran), ran.stdout()),
            (expected, "lost", "before\n"),
            "{ran:?}"
        );
        let next = client.run("'fresh'").await;
        assert_eq!(next.result(), "fresh");
        assert!(next.fields()["notice"].is_string(), "{next:?}");
    }
}

#[tokio::test]
async fn files_count_as_memory_where_a_control_group_counts() {
    let limits = "[limits]\nmemory = \"96 MiB\"\ndisk = \"256 MiB\"\nfile_size = \"200 MiB\"";
    let mut client = CodeClient::of(Codeyard::new().unwrap().settings(limits)).await;
    let code = "print('before', flush=True)\nwith open('/tmp/large', 'wb', buffering=0) as file:\n    \
                for _ in range(160): file.write(bytes(1 << 20))\nprint('written')";
    let ran = client.run(code).await;
    if mode().await.groups {
        assert_eq!(
            (outcome(&ran).as_str(), fate(&ran)),
            ("limit_exceeded: memory", "lost"),
            "{ran:?}"
        );
        assert_eq!(ran.stdout(), "before\n");
        assert!(client.run("1").await.fields()["notice"].is_string());
    } else {
        assert_eq!(ran.stdout(), "before\nwritten\n", "{ran:?}");
    }
}

#[tokio::test]
async fn a_network_that_cannot_be_given_is_refused_at_the_start() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub())
        .settings("[limits]\nnetwork = \"allow-list\"");
    for arguments in [["run", "-"].as_slice(), &["mcp"]] {
        let output = codeyard.run_with_input(arguments, "print(1)").await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(output.stdout.is_empty());
        assert!(
            told.contains("limits.network") && told.contains("proxy"),
            "{told}"
        );
    }
}

/// Processes below `pid` whose control group yields the processors to others.
fn yielding(pid: u32) -> usize {
    let yields = |process: &test_support::Process| {
        let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", process.pid)).unwrap_or_default();
        groups.lines().any(|group| {
            let mut parts = group.splitn(3, ':').skip(1);
            let (hierarchy, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            std::fs::read_to_string(format!("/sys/fs/cgroup/{hierarchy}{path}/cpu.idle"))
                .is_ok_and(|idle| idle.trim() == "1")
        })
    };
    test_support::descendants(pid)
        .iter()
        .filter(|process| yields(process))
        .count()
}

#[tokio::test]
async fn a_run_that_computes_for_long_yields_to_the_runs_of_others_until_its_end() {
    if !mode().await.groups {
        println!("skipped: without control groups nothing yields");
        return;
    }
    let mut client = CodeClient::with_stub().await;
    let pid = client.mcp.pid().unwrap();
    let long = client
        .start(json!({"code": "while True: pass", "session": "long"}))
        .await;
    wait_until("the long run yields", || (yielding(pid) == 1).then_some(())).await;
    let short = client.run_in("short", "import time\ntime.sleep(0.2)\n1").await;
    assert_eq!(short.result(), &json!(1), "{short:?}");
    assert_eq!(yielding(pid), 1, "a run that waits does not yield");
    client.mcp.cancel(&long).await.unwrap();
    let next = client.run_in("long", "2").await;
    assert_eq!(next.result(), &json!(2), "{next:?}");
    assert_eq!(yielding(pid), 0, "the next run begins as every run does");
}
