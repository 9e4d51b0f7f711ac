//! Runs every test and sums up the results.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{say, setup};

pub mod counts;
pub mod ordinary_user;
mod preconditions;
pub mod programs;
mod python;
pub mod rust;
mod slowest;

use counts::Counts;

/// Sets up; runs the guest's own tests and all Rust tests. As root, also runs the sandbox's tests as an ordinary user
/// and without guards.
pub fn run(filter: Option<&str>) -> Result<()> {
    let _alone = preconditions::lock()?;
    preconditions::space()?;
    let started = Instant::now();
    if !setup::is_root() {
        // Reports missing preconditions before the long build.
        setup::packages(setup::FOR_TESTS)?;
    }
    // Installs in parallel with the build, because installing mostly waits for the network.
    let set_up = std::thread::spawn(set_up);
    setup::build_tests()?;
    let built = Instant::now();
    set_up.join().unwrap_or_else(|_| bail!("the set-up failed"))?;
    setup::environment(rust::path().as_deref())?;
    let ready = Instant::now();
    let mut parts: Vec<(&str, Part)> = vec![("Python of the guest", python::run), ("Rust", rust::run)];
    if setup::is_root() {
        parts.push(("sandbox as an ordinary user", ordinary_user::run));
        parts.push(("sandbox without its guards", rust::weakened));
    }
    let ended: Vec<(&str, Counts, Duration)> = parts
        .into_iter()
        .map(|(name, part)| {
            let started = Instant::now();
            (name, count(part(filter)), started.elapsed())
        })
        .collect();
    say("");
    say(&format!("the build took {}", minutes(built - started)));
    say(&format!("the rest of the set-up took {}", minutes(ready - built)));
    for (name, counts, took) in &ended {
        say(&format!("{name}: {counts} in {}", minutes(*took)));
    }
    let all: Counts = ended.iter().map(|(_, counts, _)| *counts).sum();
    say(&all.to_string());
    match (all.passed, all.failed) {
        (0, 0) => bail!("no test ran"),
        (_, 0) => Ok(()),
        (_, failed) => bail!("{failed} tests failed"),
    }
}

/// Installs the tests' requirements, except those that are built.
fn set_up() -> Result<()> {
    setup::packages(setup::FOR_TESTS)?;
    setup::upstreams()?;
    setup::checkers()?;
    setup::clients()
}

fn minutes(time: Duration) -> String {
    format!("{:.1} min", time.as_secs_f64() / 60.0)
}

/// One kind of tests.
type Part = fn(Option<&str>) -> Result<Counts>;

/// Tests that cannot start count as a failure; the others still run.
fn count(ran: Result<Counts>) -> Counts {
    ran.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        Counts { passed: 0, failed: 1 }
    })
}
