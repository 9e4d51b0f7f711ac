//! Runs every test and adds up how they went.

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

/// Sets up, then runs the guest's own tests, all Rust tests, and as root the sandbox's once more as an ordinary user and
/// without its guards.
pub fn run(filter: Option<&str>) -> Result<()> {
    let _alone = preconditions::lock()?;
    preconditions::space()?;
    let started = Instant::now();
    if !setup::is_root() {
        // What is missing is said before the minutes of the build.
        setup::packages(setup::FOR_TESTS)?;
    }
    // Installing waits for the network most of the time, and the compiler needs nothing of it.
    let set_up = std::thread::spawn(set_up);
    setup::build_tests()?;
    let built = Instant::now();
    set_up.join().unwrap_or_else(|_| bail!("the set-up failed"))?;
    setup::environment(None)?;
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

/// Installs what the tests need besides what is built.
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

/// Tests that could not even be started are a failure; the others still run.
fn count(ran: Result<Counts>) -> Counts {
    ran.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        Counts { passed: 0, failed: 1 }
    })
}
