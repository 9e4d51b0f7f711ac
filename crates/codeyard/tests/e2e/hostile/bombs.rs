//! Programs that exhaust a resource or never end: each meets its limit, keeps its output, and leaves nothing.
//!
//! They have no control: outside, only the machine's memory, disk or processes would stop them.
//! So each refuses to run outside of a session.

use std::time::Instant;

use serde_json::{Value, json};
use test_support::{CodeResult, Traces, status_field, wait_until};

use crate::hostile::table::{Rows, answers, rows};
use crate::hostile::yard::{MEMORY, Yard, program};

/// Bits of SIGHUP and SIGTERM in a set of signals.
pub const HANG_UP: u64 = 1;
pub const TERMINATE: u64 = 1 << 14;

const FILL: &[Rows] = &[
    rows("EFBIG", &["one_file", "hole"]),
    rows("ENOSPC", &["many_files", "many_names"]),
    rows("EMFILE", &["pipes", "sockets", "watches"]),
    // The first error if the session's own kernel user has none in flight yet.
    rows("ETOOMANYREFS|EMFILE", &["in_flight"]),
    rows("allowed", &["locks"]),
];

const MEMORY_BOMBS: &[Rows] = &[
    rows("MemoryError", &["in_one_process"]),
    rows("ENOMEM", &["mapped_private", "mapped_shared"]),
    Rows {
        met: "EFBIG",
        uncounted: "EPERM",
        attempts: &["file_of_memory"],
    },
];

/// The peak memory of a run, where it is measured.
fn peak(ran: &CodeResult) -> u64 {
    ran.fields()["receipt"]["peak_memory_bytes"].as_u64().unwrap()
}

/// Processes below codeyard that ignore these signals, given as bits of the kernel's set.
pub fn ignoring(yard: &Yard, signals: u64) -> Traces {
    let ignores = |pid: u32| {
        let ignored = status_field(pid, "SigIgn").and_then(|set| u64::from_str_radix(&set, 16).ok());
        ignored.is_some_and(|ignored| ignored & signals == signals)
    };
    Traces::of(yard.pid()).only(ignores)
}

#[tokio::test]
async fn files_names_pipes_sockets_and_watches_fill_up_at_their_limits() {
    let mut yard = Yard::new().await;
    yard.check("fill", FILL, json!({"locks": 5_000})).await;
    yard.end().await;
}

#[tokio::test]
async fn memory_fills_up_at_its_limit() {
    let mut yard = Yard::new().await;
    yard.check(
        "memory_bombs",
        MEMORY_BOMBS,
        json!({"memory": MEMORY, "many": false, "file": true}),
    )
    .await;
    let given = json!({"memory": MEMORY, "many": true, "file": false});
    let ran = yard.run("memory_bombs", given).await;
    if yard.mode.groups {
        // The kernel kills the largest process, which may be the first process.
        let killed = answers(ran.stdout()).get("in_many_processes") == Some(&"SIGKILL");
        assert!(killed || ran.fields()["limit"] == "memory", "{ran:?}");
        assert!(peak(&ran) <= MEMORY, "{ran:?}");
    } else {
        assert_eq!(
            (ran.status(), &ran.fields()["limit"]),
            ("limit_exceeded", &json!("memory")),
            "{ran:?}"
        );
    }
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn memory_of_the_kernel_is_bound_too() {
    let mut yard = Yard::new().await;
    let ran = yard.run("hoard", json!({})).await;
    if yard.mode.groups {
        assert!(peak(&ran) <= MEMORY, "{ran:?}");
        let killed = answers(ran.stdout()).get("hoard") == Some(&"SIGKILL");
        assert!(killed || ran.fields()["limit"] == "memory", "{ran:?}");
    } else {
        // The bound is 16 processes of 128 descriptors; docs/sandbox.md has the memory that these hold.
        assert_eq!(ran.stdout(), "hoard: allowed\n", "{ran:?}");
    }
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn forks_and_threads_end_at_their_limit_and_the_bomb_with_its_session() {
    let mut yard = Yard::new().await;
    let bomb = json!({"code": program("fork_bomb", &json!({})), "session": "bomb", "timeout_ms": 4000});
    let ran = yard.execute(bomb).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("timed_out", "fork: EAGAIN\n"),
        "{ran:?}"
    );
    // The forked processes run on; other sessions are not affected.
    let neighbour = yard.run("neighbour", json!({})).await;
    assert_eq!(answers(neighbour.stdout())["fork"], "allowed", "{neighbour:?}");
    assert_eq!(answers(neighbour.stdout())["thread"], "allowed", "{neighbour:?}");
    let started = Traces::of(yard.pid()).pids();
    assert!(started.len() < 60, "{} processes", started.len());
    if ran.fields()["session_state"] != "lost" {
        yard.close("bomb").await;
    }
    yard.check_well().await;
    let ran = yard
        .execute(json!({"code": program("thread_bomb", &json!({})), "session": "threads"}))
        .await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", "threads: can't start new thread\nfew: True\n"),
        "{ran:?}"
    );
    yard.close("threads").await;
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn a_program_that_ignores_signals_is_killed_with_its_children() {
    let mut yard = Yard::new().await;
    let code = program("deaf", &json!({}));
    let start = Instant::now();
    let ran = yard
        .execute(json!({"code": code, "session": "deaf", "timeout_ms": 2000}))
        .await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("timed_out", "deaf: allowed\n"),
        "{ran:?}"
    );
    assert_eq!(ran.fields()["session_state"], "lost");
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    wait_until("no process that ignores signals uses CPU time", || {
        ignoring(&yard, TERMINATE | HANG_UP)
            .pids()
            .is_empty()
            .then_some(())
    })
    .await;
    let next = yard.execute(json!({"code": "'fresh'", "session": "deaf"})).await;
    assert_eq!(next.result(), "fresh");
    assert!(
        next.fields()["notice"]
            .as_str()
            .unwrap()
            .contains("started afresh"),
        "{next:?}"
    );
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn daemons_end_with_their_run() {
    let mut yard = Yard::new().await;
    let count = 8;
    let code = program("daemons", &json!({"count": count}));
    let ran = yard.execute(json!({"code": code, "session": "daemons"})).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", "daemons: allowed\n"),
        "{ran:?}"
    );
    let daemons = ignoring(&yard, TERMINATE | HANG_UP);
    assert!(daemons.pids().is_empty(), "{daemons:?}");
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn a_flood_of_output_is_cut_in_the_middle() {
    let mut yard = Yard::new().await;
    let ran = yard.run("output_flood", json!({"lines": 20_000})).await;
    assert_eq!(ran.status(), "completed", "{}", ran.error());
    let limit = 16 * 1024;
    for (stream, beginning, end) in [
        (ran.stdout(), "beginning\n", "end\n"),
        (ran.stderr(), "beginning of errors\n", "end of errors\n"),
    ] {
        assert!(stream.starts_with(beginning), "{}", &stream[..200]);
        assert!(stream.ends_with(end), "{}", &stream[stream.len() - 200..]);
        assert!(stream.contains("bytes cut here"));
    }
    let shown = ran.stdout().len() + ran.stderr().len();
    assert!(shown < limit, "{shown} bytes");
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn a_program_that_deletes_everything_deletes_its_own_files() {
    let mut yard = Yard::new().await;
    let ran = yard
        .execute(json!({"code": program("delete_all", &json!({})), "session": "gone"}))
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    assert_eq!(ran.stdout(), "places_left: True\nown_files_left: []\n", "{ran:?}");
    let next = yard
        .execute(json!({"code": "print(1)\n2", "session": "gone"}))
        .await;
    assert_eq!(
        (next.status(), next.stdout(), next.result()),
        ("completed", "1\n", &json!(2)),
        "{next:?}"
    );
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn nobody_follows_links_in_results() {
    let mut yard = Yard::new().await;
    let given = json!({"canary": yard.canaries.file, "hole": 8 << 20, "depth": 180});
    let arguments = |code: String| json!({"code": code, "session": "results"});
    let start = Instant::now();
    let ran = yard.execute(arguments(program("results", &given))).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", "left: allowed\n"),
        "{ran:?}"
    );
    let next = yard.execute(arguments("'next'".to_owned())).await;
    assert_eq!(next.result(), "next", "{next:?}");
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let whole = Value::to_string(&ran.0);
    assert!(!whole.contains(&yard.secrets.file));
    assert!(ran.images().len() < 4, "{}", ran.images().len());
    yard.check_well().await;
    yard.end().await;
}
