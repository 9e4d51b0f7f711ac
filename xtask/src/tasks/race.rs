//! Runs the long form of the race between the host's file functions and a hostile program.

use anyhow::Result;
use clap::Args;

use super::say;
use super::test::rust::long_form;

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
    long_form("hostile::race", VARIABLE, race.operations)?;
    say("no file outside was read or written");
    Ok(())
}
