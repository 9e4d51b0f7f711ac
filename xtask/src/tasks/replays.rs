//! Runs the long form of the test that repeats recorded runs.

use anyhow::Result;
use clap::Args;

use super::test::rust::with_places;
use super::{say, setup};
use crate::run;

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
    setup::build_codeyard()?;
    let mut command = setup::cargo();
    command
        .args(["test", "--locked", "--package", "codeyard", "--test", "e2e"])
        .args(["--", "--nocapture", "--test-threads=1", "records::equal"])
        .env(VARIABLE, replays.runs.to_string());
    run::visible(with_places(&mut command))?;
    say("each repeated run was equal to its recording");
    Ok(())
}
