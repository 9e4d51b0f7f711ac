//! A program that writes to the channel itself: the host trusts nothing, buffers little, and continues.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{CodeResult, status_field};

use crate::hostile::yard::{Yard, program};

/// The time limit of attacks that make the host wait for more.
const SHORT: u64 = 1_500;
/// The time limit of all other attacks.
const LONG: u64 = 20_000;
/// Longest time of answers that wait for nothing, on a machine under load.
const AT_ONCE: Duration = Duration::from_secs(8);
/// Most memory growth of the host in kB: its queue for one guest, and noise.
const HELD: u64 = 128 * 1024;

/// The required end of a run.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// The host ends the session at once because of the sent bytes; the text is part of the error.
    Broken(&'static str),
    /// The host has lost the guest.
    Gone,
    /// The run times out.
    Late,
    /// The program runs to its end.
    Well,
}

async fn run(yard: &mut Yard, way: &str, timeout_ms: u64) -> CodeResult {
    // A first run, so that run numbers differ from those of a fresh session.
    let ran = yard.execute(json!({"code": "1", "session": "new"})).await;
    let session = ran.session().to_owned();
    let code = program("frames", &json!({"way": way, "run": 2}));
    let arguments = json!({"code": code, "session": session, "timeout_ms": timeout_ms});
    yard.execute(arguments).await
}

async fn check(yard: &mut Yard, way: &str, ends: Ends) {
    let start = Instant::now();
    let timeout_ms = if matches!(ends, Ends::Late) { SHORT } else { LONG };
    let ran = run(yard, way, timeout_ms).await;
    let took = start.elapsed();
    let fate = ran.fields()["session_state"].as_str().unwrap_or("kept");
    let (status, expected_fate, error) = match ends {
        Ends::Broken(error) => ("failed", "lost", error),
        Ends::Gone => ("failed", "lost", "SandboxLost"),
        Ends::Late => ("timed_out", "lost", "timed out"),
        Ends::Well => ("completed", "kept", ""),
    };
    assert_eq!((ran.status(), fate), (status, expected_fate), "{way}: {ran:?}");
    assert!(ran.error().contains(error), "{way}: {ran:?}");
    assert_eq!(
        ran.stdout(),
        format!("{way}: going\n"),
        "its earlier output is lost"
    );
    if !matches!(ends, Ends::Late) {
        assert!(took < AT_ONCE, "{way}: {took:?}");
    }
    if fate == "lost" {
        let next = yard
            .execute(json!({"code": "'fresh'", "session": ran.session()}))
            .await;
        assert_eq!(next.result(), "fresh", "{way}");
        assert!(next.fields()["notice"].is_string(), "{way}: {next:?}");
    }
    yard.check_well().await;
}

#[tokio::test]
async fn an_invalid_or_unexpected_frame_ends_the_session() {
    let mut yard = Yard::new().await;
    let protocol = "broke the protocol";
    for way in [
        "other_done",
        "unknown_frame",
        "unknown_field",
        "ready_again",
        "jail_failure",
        "garbage",
        "no_json",
        "empty_frame",
        "wrong_encoding",
        "gigabyte",
        "deep",
        "negative_id",
        "same_id_twice",
        "large_result",
        "large_beginning",
        "forged_name",
        "forged_words",
    ] {
        check(&mut yard, way, Ends::Broken(protocol)).await;
    }
    yard.end().await;
}

#[tokio::test]
async fn an_incomplete_frame_ends_with_the_time_limit() {
    let mut yard = Yard::new().await;
    check(&mut yard, "half_a_frame", Ends::Late).await;
    for way in ["close_channel", "close_half", "close_all"] {
        check(&mut yard, way, Ends::Gone).await;
    }
    for way in ["unknown_call", "long_name", "close_output"] {
        check(&mut yard, way, Ends::Well).await;
    }
    yard.end().await;
}

#[tokio::test]
async fn a_forged_end_ends_the_run_and_later_frames_are_dropped() {
    let mut yard = Yard::new().await;
    // A program may end its own run early and forge its own result, nothing more.
    let ran = run(&mut yard, "forged_done", LONG).await;
    assert_eq!(
        (ran.status(), ran.result()),
        ("completed", &json!("forged")),
        "{ran:?}"
    );
    // The guest is still busy with its first program, so the next run ends and the session is lost.
    let arguments = json!({"code": "'heard'", "session": ran.session(), "timeout_ms": SHORT});
    let next = yard.execute(arguments).await;
    assert!(matches!(next.status(), "timed_out" | "failed"), "{next:?}");
    assert_eq!(next.fields()["session_state"], "lost", "{next:?}");
    yard.check_well().await;
    let ran = run(&mut yard, "done_twice", LONG).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let next = yard
        .execute(json!({"code": "'heard'", "session": ran.session()}))
        .await;
    // The second end comes between two runs and is dropped, or comes in the next run and ends it.
    match next.status() {
        "completed" => assert_eq!(next.result(), "heard", "{next:?}"),
        _ => assert!(next.error().contains("broke the protocol"), "{next:?}"),
    }
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn the_host_holds_neither_descriptors_nor_answers_for_a_guest_that_does_not_read() {
    let mut yard = Yard::new().await;
    let descriptors = |yard: &Yard| fs::read_dir(format!("/proc/{}/fd", yard.pid())).unwrap().count();
    let memory = |yard: &Yard| -> u64 {
        let field = status_field(yard.pid(), "VmHWM").unwrap();
        field.trim_end_matches(" kB").trim().parse().unwrap()
    };
    yard.check_well().await;
    let (descriptors_before, memory_before) = (descriptors(&yard), memory(&yard));
    check(&mut yard, "descriptors", Ends::Well).await;
    // The session itself has a few descriptors, and so has each pooled session.
    assert!(descriptors(&yard) < descriptors_before + 100);
    check(&mut yard, "flood", Ends::Late).await;
    let before = calls_of_the_server(&mut yard).await;
    let arguments = json!({"code": program("frames", &json!({"way": "big_answers"})), "session": "new", "timeout_ms": 5000});
    let ran = yard.execute(arguments).await;
    assert_eq!(ran.status(), "timed_out", "{ran:?}");
    let made = calls_of_the_server(&mut yard).await - before;
    // Answers of a megabyte each, up to the host's bound for a guest, and the few in flight.
    assert!((10..40).contains(&made), "{made} calls");
    let held = memory(&yard) - memory_before;
    assert!(held < HELD, "the host holds {held} kB more");
    yard.check_well().await;
    yard.end().await;
}

/// The host's peak memory in kB.
fn peak(yard: &Yard) -> u64 {
    let field = status_field(yard.pid(), "VmHWM").unwrap();
    field.trim_end_matches(" kB").trim().parse().unwrap()
}

#[tokio::test]
async fn values_of_a_guest_cost_the_host_four_times_their_bytes_and_eight_mebibytes() {
    const SIZE: u64 = 8 << 20;
    let mut yard = Yard::new().await;
    yard.check_well().await;
    for part in ["call", "calls", "result", "content", "artifacts", "kept", "error"] {
        for shape in ["wide", "objects", "long_keys", "escapes", "numbers"] {
            let (size, frames) = if part == "calls" { (60_000, 50) } else { (SIZE, 1) };
            // The first run starts the session, which does not count.
            let ran = yard.execute(json!({"code": "1", "session": "new"})).await;
            // From here on, the peak is that of this run alone.
            fs::write(format!("/proc/{}/clear_refs", yard.pid()), "5").unwrap();
            let before = peak(&yard);
            let given = json!({"way": "amplify", "run": 2, "part": part, "shape": shape, "size": size});
            let arguments =
                json!({"code": program("frames", &given), "session": ran.session(), "timeout_ms": 5000});
            let ran = yard.execute(arguments).await;
            let (grown, bound) = (peak(&yard) - before, (4 * size * frames + (8 << 20)) / 1024);
            assert!(
                grown <= bound,
                "{part}, {shape}: {grown} kB, more than {bound}: {ran:?}"
            );
            println!(
                "{part}, {shape}: {grown} kB of {bound}: {} {}",
                ran.status(),
                ran.error()
            );
            yard.check_well().await;
        }
    }
    yard.end().await;
}

/// Number of answered calls of the upstream server, without this one.
async fn calls_of_the_server(yard: &mut Yard) -> u64 {
    let code = "(await tools.stub.calls())['calls'] - 1";
    let ran = yard.execute(json!({"code": code})).await;
    ran.result().as_u64().unwrap_or_else(|| panic!("{ran:?}"))
}
