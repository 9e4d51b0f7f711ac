//! Runs every test and adds up how they went.

use anyhow::{Result, bail};

use super::{say, setup};

mod counts;
mod ordinary_user;
mod python;
mod rust;

use counts::Counts;

/// Sets up, then runs the guest's own tests, all Rust tests, and as root the sandbox's once more as an ordinary user.
pub fn run(filter: Option<&str>) -> Result<()> {
    setup::packages(setup::FOR_TESTS)?;
    setup::upstreams()?;
    setup::build_tests()?;
    setup::environment(None)?;
    let mut parts = vec![
        ("Python of the guest", python::run(filter)?),
        ("Rust", rust::run(filter)?),
    ];
    if setup::is_root() {
        setup::environment(Some(setup::PLAIN_PATH))?;
        parts.push(("sandbox as an ordinary user", ordinary_user::run(filter)?));
    }
    say("");
    for (name, counts) in &parts {
        say(&format!("{name}: {counts}"));
    }
    let all: Counts = parts.iter().map(|(_, counts)| *counts).sum();
    say(&all.to_string());
    match (all.passed, all.failed) {
        (0, 0) => bail!("no test ran"),
        (_, 0) => Ok(()),
        (_, failed) => bail!("{failed} tests failed"),
    }
}
