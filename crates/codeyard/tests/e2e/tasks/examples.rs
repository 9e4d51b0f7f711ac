//! The documented examples of tool files, and the part of their results that leaves the sandbox.

use std::process::Stdio;
use std::time::{Duration, Instant};

use test_support::Codeyard;

use super::samples;

/// Runs a self-checking script of the examples.
async fn example(name: &str) -> String {
    // A command of codeyard has the variables that isolate a test from the machine's configuration.
    let codeyard = Codeyard::new().unwrap();
    let program = codeyard.command(["--version"]).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test waits for the process's end")]
    let mut script = tokio::process::Command::new("sh");
    script
        .arg(samples().join(name))
        .env("CODEYARD", program.as_std().get_program())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for (name, value) in program.as_std().get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    let begun = Instant::now();
    let output = script.output().await.unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{name}: {out}\n{err}");
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{name} took {:?}",
        begun.elapsed()
    );
    out.into_owned()
}

/// C189, C196.
#[tokio::test]
async fn example_1_shows_all_steps() {
    let out = example("1-basic.sh").await;
    assert!(
        out.contains("5 + 3 = 8") && out.contains("\"temperature\": 21"),
        "{out}"
    );
}

/// C190: one run, whose result is the summary.
#[tokio::test]
async fn example_2_passes_a_result_on() {
    let out = example("2-chain.sh").await;
    assert!(
        out.contains("50 cities from San Francisco") && out.len() < 4096,
        "{out}"
    );
    assert!(!out.contains("City 7"), "{out}");
}

/// C191: a thousand rows, none of which leaves the sandbox.
#[tokio::test]
async fn example_3_returns_only_the_summary() {
    let out = example("3-aggregate.sh").await;
    assert!(
        out.contains("1000 total, 412 active") && out.len() < 2048,
        "{out}"
    );
    assert!(!out.contains("User 0"), "{out}");
}

/// C192: warm, cold, and none.
#[tokio::test]
async fn example_4_takes_both_branches() {
    let out = example("4-control-flow.sh").await;
    assert!(
        out.contains("days") && out.contains("not above 20") && out.contains("no weather"),
        "{out}"
    );
    assert!(!out.contains("Traceback"), "{out}");
}

#[tokio::test]
async fn example_5_finds_what_another_run_saved() {
    assert!(example("5-state.sh").await.contains("filesystem.read_file: 8"));
}

/// C195.
#[tokio::test]
async fn example_7_writes_reads_and_lists() {
    assert!(example("7-files.sh").await.contains("Hello World"));
}
