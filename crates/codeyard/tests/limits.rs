//! Every limit of `types::Limits` is exceeded, and `docs/limits.md` must say what is seen: inside, as outcome, of the session.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails here"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use test_support::{CodeClient, Codeyard, Mode, Ran, ServerDefinition};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use types::{Limit, Limits, Network};

const PAGE: &str = include_str!("../../../docs/limits.md");
/// Codeyards at once; each starts zygotes.
const AT_ONCE: usize = 3;

/// Says what an exception was, in the page's words.
const PRELUDE: &str = "import errno, os, signal, time, asyncio\n\
    def tell(error):\n    \
        generic = isinstance(error, OSError) and not isinstance(error, BlockingIOError)\n    \
        name = 'OSError' if generic else type(error).__name__\n    \
        print(name, errno.errorcode.get(getattr(error, 'errno', None), getattr(error, 'kind', '')))\n\
    kept = []\n";

/// How one limit is exceeded.
struct Case {
    limit: Limit,
    /// Lines of `[limits]`.
    settings: &'static str,
    /// A program that exceeds it.
    exceeds: &'static str,
    /// What it feels, as `tell` prints it; nothing where there is no exception.
    felt: &'static str,
    /// What the program's result must be where it has one.
    result: fn(&Ran, Mode) -> bool,
}

/// One row of the page.
#[derive(Debug)]
struct Row {
    default: String,
    felt: String,
    outcome: String,
    session: String,
}

const CASES: [Case; 13] = [
    Case {
        limit: Limit::WallTime,
        settings: "wall_time = \"700ms\"",
        exceeds: "time.sleep(60)",
        felt: "KeyboardInterrupt",
        result: none,
    },
    Case {
        limit: Limit::CpuTime,
        settings: "cpu_time = \"300ms\"",
        // The interpreter's exception table leaves a gap around `while True: pass`.
        exceeds: "number = 0\nwhile True: number += 1",
        felt: "KeyboardInterrupt",
        result: none,
    },
    Case {
        limit: Limit::CpuRate,
        settings: "cpu_rate = 0.5",
        exceeds: "start = time.monotonic()\nwhile time.process_time() < burnt + 0.5: pass\n\
                  result = [time.monotonic() - start, len(os.sched_getaffinity(0))]",
        felt: "",
        // Half a second of work takes about a second, or has one core only.
        result: |ran, mode| {
            let slow = ran.result()[0].as_f64().is_some_and(|took| took > 0.7);
            if mode.groups { slow } else { ran.result()[1] == 1 }
        },
    },
    Case {
        limit: Limit::Memory,
        settings: "memory = \"96 MiB\"",
        exceeds: "while True: kept.append(bytearray(b'x') * (1 << 20))",
        felt: "MemoryError",
        result: none,
    },
    Case {
        limit: Limit::Processes,
        settings: "processes = 8",
        exceeds: "while True:\n    if os.fork() == 0: signal.pause()",
        felt: "BlockingIOError EAGAIN",
        result: none,
    },
    Case {
        limit: Limit::OpenFiles,
        settings: "open_files = 40",
        exceeds: "while True: kept.append(open('/dev/null'))",
        felt: "OSError EMFILE",
        result: none,
    },
    Case {
        limit: Limit::FileSize,
        settings: "file_size = \"1 MiB\"",
        exceeds: "with open('large', 'wb', buffering=0) as file:\n    while True: file.write(bytes(1 << 16))",
        felt: "OSError EFBIG",
        result: none,
    },
    Case {
        limit: Limit::Disk,
        settings: "disk = \"2 MiB\"",
        exceeds: "with open('/scratch/large', 'wb', buffering=0) as file:\n    while True: file.write(bytes(1 << 16))",
        felt: "OSError ENOSPC",
        result: none,
    },
    Case {
        limit: Limit::Inodes,
        settings: "inodes = 100",
        exceeds: "for number in range(1000): open(f'/scratch/small-{number}', 'wb').close()",
        felt: "OSError ENOSPC",
        result: none,
    },
    Case {
        limit: Limit::Output,
        settings: "output = \"2 KiB\"",
        exceeds: "print('x' * 100_000)\nresult = len(open('/results/stdout-1.txt').read())",
        felt: "",
        result: |ran, _| {
            ran.stdout().len() < 2500 && ran.stdout().contains("bytes cut here") && ran.result() == 100_001
        },
    },
    Case {
        limit: Limit::HostCalls,
        settings: "host_calls = 3",
        exceeds: "for number in range(5): await tools.stub.echo(message='x')",
        felt: "ToolError limit",
        result: none,
    },
    Case {
        limit: Limit::ConcurrentHostCalls,
        settings: "concurrent_host_calls = 2",
        exceeds: "start = time.monotonic()\nawait asyncio.gather(*[tools.stub.slow(seconds=0.2) for _ in range(6)])\n\
                  result = time.monotonic() - start",
        felt: "",
        // Three turns of two.
        result: |ran, _| ran.result().as_f64().is_some_and(|took| took > 0.55),
    },
    Case {
        limit: Limit::Network,
        settings: "network = \"none\"",
        exceeds: "import socket\nsocket.socket(socket.AF_INET)",
        felt: "OSError EPERM",
        result: none,
    },
];

fn none(ran: &Ran, _mode: Mode) -> bool {
    ran.result().is_null()
}

// === impl Case ===

impl Case {
    /// The program as it is, and one that catches what it feels.
    fn programs(&self) -> [String; 2] {
        let start = "burnt = time.process_time()\n";
        let inner = self.exceeds.replace('\n', "\n    ");
        let caught = format!(
            "{PRELUDE}{start}try:\n    {inner}\nexcept BaseException as error:\n    kept.clear()\n    tell(error)"
        );
        [format!("{PRELUDE}{start}{}", self.exceeds), caught]
    }

    fn codeyard(&self) -> Codeyard {
        Codeyard::with_stub()
            .unwrap()
            .settings(&format!("[limits]\n{}", self.settings))
    }

    async fn check(&self, row: &Row, mode: Mode) {
        let name = self.limit.name();
        let mut client = CodeClient::of(self.codeyard()).await;
        let [uncaught, caught] = self.programs();
        let ran = self.execute(&mut client, &uncaught, "uncaught").await;
        let expected = match row.outcome.as_str() {
            // What the program does not catch is then its own failure.
            "none" if self.felt.is_empty() => "completed",
            "none" => "failed",
            outcome => outcome,
        };
        assert_eq!(outcome(&ran), expected, "{name}: {ran:?}");
        assert_eq!(fate(&ran), first_word(&row.session), "{name}: {ran:?}");
        assert!((self.result)(&ran, mode), "{name}: {ran:?}");
        let ran = self.execute(&mut client, &caught, "caught").await;
        assert_eq!(fate(&ran), "kept", "{name}: {ran:?}");
        if !self.felt.is_empty() {
            let printed = ran.stdout().trim();
            assert_eq!(printed, self.felt, "{name}: {ran:?}");
            for word in printed.split(' ') {
                assert!(
                    row.felt.contains(word),
                    "{name}: the page does not say {word}: {}",
                    row.felt
                );
            }
            let expected = if self.is_time() { expected } else { "completed" };
            assert_eq!(outcome(&ran), expected, "{name}: {ran:?}");
        }
        for session in ["uncaught", "caught"] {
            // Processes of the one case are still there; everything else has its room back.
            let next = client.execute(json!({"code": "6 * 7", "session": session})).await;
            assert_eq!(next.result(), 42, "{name}: {next:?}");
        }
        client.check_healthy().await;
    }

    fn is_time(&self) -> bool {
        matches!(self.limit, Limit::WallTime | Limit::CpuTime)
    }

    /// Runs a program; once more where the machine was too busy to let it stop within the grace of 50 ms.
    async fn execute(&self, client: &mut CodeClient, code: &str, session: &str) -> Ran {
        let arguments = json!({"code": code, "session": session});
        let mut ran = client.execute(arguments.clone()).await;
        for _ in 0..3 {
            if !self.is_time() || fate(&ran) == "kept" {
                break;
            }
            ran = client.execute(arguments.clone()).await;
        }
        ran
    }
}

/// How a run ended, in the page's words.
fn outcome(ran: &Ran) -> String {
    match ran.fields()["limit"].as_str() {
        Some(limit) => format!("{}: {limit}", ran.status()),
        None => ran.status().to_owned(),
    }
}

fn fate(ran: &Ran) -> &str {
    ran.fields()["session_state"].as_str().unwrap_or("kept")
}

fn first_word(cell: &str) -> &str {
    cell.split([';', ' ', ':']).next().unwrap_or_default()
}

/// The rows of the page's first table, by limit.
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

/// What the page must say the default is.
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
            seconds(Limits::MAX_WALL_TIME)
        ),
        Limit::CpuTime => seconds(limits.cpu_time),
        Limit::CpuRate => format!("{} core", limits.cpu_rate),
        Limit::Memory => size(limits.memory),
        Limit::Processes => count(limits.processes.into()),
        Limit::OpenFiles => count(limits.open_files.into()),
        Limit::FileSize => size(limits.file_size),
        Limit::Disk => size(limits.disk),
        Limit::Inodes => count(limits.inodes),
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
    Mode::of(&Codeyard::new().unwrap()).await.unwrap()
}

#[test]
fn the_page_has_one_row_for_each_limit_with_its_default() {
    let rows = rows();
    assert_eq!(rows.len(), Limit::ALL.len(), "{rows:?}");
    for limit in Limit::ALL {
        let row = rows
            .get(limit.name())
            .unwrap_or_else(|| panic!("no row for {limit}"));
        assert!(
            row.default.starts_with(&default(limit)),
            "{limit}: {}, not {}",
            row.default,
            default(limit)
        );
        assert!(
            CASES.iter().any(|case| case.limit == limit),
            "{limit} is not exceeded"
        );
    }
}

#[tokio::test]
async fn every_limit_binds_as_the_page_says() {
    let (rows, mode) = (Arc::new(rows()), mode().await);
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut cases = JoinSet::new();
    for case in &CASES {
        let (rows, turns) = (Arc::clone(&rows), Arc::clone(&turns));
        cases.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            case.check(&rows[case.limit.name()], mode).await;
        });
    }
    while let Some(checked) = cases.join_next().await {
        checked.unwrap();
    }
}

#[tokio::test]
async fn who_does_not_stop_within_the_grace_is_lost() {
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
