//! Runs the long form of the test that repeats recorded runs.

use anyhow::Result;
use clap::Args;

use super::test::rust::long_form;
use super::{say, setup};

/// The least number of runs, as `crates/codeyard/tests/e2e/records/equal.rs` takes it.
const VARIABLE: &str = "CODEYARD_REPLAYED_RUNS";

/// Options of the repetition.
#[derive(Debug, Args)]
pub struct Replays {
    /// Least number of recorded runs.
    #[arg(long, default_value_t = 500)]
    runs: u64,
}

pub fn run(replays: &Replays) -> Result<()> {
    setup::packages(setup::FOR_TESTS)?;
    setup::upstreams()?;
    long_form("records::equal", VARIABLE, replays.runs)?;
    say("each repeated run was equal to its recording");
    Ok(())
}
