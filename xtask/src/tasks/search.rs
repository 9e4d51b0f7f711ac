//! Measures the search of tools over the lists of real servers and a file of queries.

use std::path::PathBuf;

use anyhow::Result;

use super::setup;
use crate::{layout, run};

/// Where the queries are, from the root of the checkout.
const QUERIES: &str = "crates/test-support/queries/tool-queries.jsonl";
const UNANSWERABLE: &str = "crates/test-support/queries/unanswerable-queries.jsonl";

/// What is measured.
#[derive(Debug, clap::Args)]
pub struct SearchEval {
    /// Queries as JSON lines with `query`, `relevant` and `kind`; those of the project if absent.
    queries: Option<PathBuf>,
    /// Cross-validate: choose the weights on all folds but one, measure on that one, for each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    folds: usize,
    /// Measure recall and time against 100 to 20,000 tools, too.
    #[arg(long)]
    scale: bool,
}

/// Builds the catalog optimised and has it look for everything in the file, or in our own.
pub fn run(asked: &SearchEval) -> Result<()> {
    let root = layout::root();
    let own = root.join(QUERIES);
    let mut command = setup::cargo();
    command
        .args(["run", "--locked", "--release", "--quiet", "--package=catalog"])
        .args(["--example=search_eval", "--"])
        .arg(asked.queries.as_ref().unwrap_or(&own))
        .arg(root.join(UNANSWERABLE))
        .args(["--folds", &asked.folds.to_string()])
        .args(asked.scale.then_some("--scale"));
    run::visible(&mut command)
}
