//! Runs the long form of the race between the host's file functions and a hostile program.

use anyhow::Result;
use clap::Args;

use super::test::rust::with_places;
use super::{say, setup};
use crate::run;

/// The number of the host's reads and writes, as `crates/codeyard/tests/e2e/hostile/race.rs` takes it.
const VARIABLE: &str = "CODEYARD_RACE_OPERATIONS";

/// Options of the race.
#[derive(Debug, Args)]
pub struct Race {
    /// Reads and writes of the host, against each of two programs.
    #[arg(long, default_value_t = 100_000)]
    operations: u64,
}

pub fn run(race: &Race) -> Result<()> {
    setup::build_codeyard()?;
    let mut command = setup::cargo();
    command
        .args(["test", "--locked", "--package", "codeyard", "--test", "e2e"])
        .args(["--", "--nocapture", "--test-threads=1", "hostile::race"])
        .env(VARIABLE, race.operations.to_string());
    run::visible(with_places(&mut command))?;
    say("no file outside was read or written");
    Ok(())
}
