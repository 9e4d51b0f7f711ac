//! Measures the search of tools over the lists of real servers and a file of queries.

use std::path::PathBuf;

use anyhow::Result;

use super::setup;
use crate::{layout, run};

/// Queries, relative to the checkout: a file for each author.
const FOLDER: &str = "crates/test-support/queries";
const AUTHORS: [&str; 4] = ["tool-queries", "unseen-queries", "author-a", "author-b"];
const UNANSWERABLE: &str = "unanswerable-queries";

#[derive(Debug, clap::Args)]
pub struct SearchEval {
    /// A file of queries as JSON lines with `query`, `relevant` and `kind`, one for each author; those of the project if absent.
    #[arg(long, value_name = "FILE")]
    queries: Vec<PathBuf>,
    /// Fit the weights anew, and measure each author's queries with the weights that the others' give.
    #[arg(long)]
    fit: bool,
    /// Measure recall and time against 100 to 20,000 tools, too.
    #[arg(long)]
    scale: bool,
}

/// Builds the catalog with optimisation and searches for all queries of the files, or of the project's.
pub fn run(asked: &SearchEval) -> Result<()> {
    let file = |name: &str| layout::root().join(FOLDER).join(name).with_extension("jsonl");
    let own = AUTHORS.map(file);
    let queries: &[PathBuf] = if asked.queries.is_empty() {
        &own
    } else {
        &asked.queries
    };
    let mut command = setup::cargo();
    command
        .args(["run", "--locked", "--release", "--quiet", "--package=catalog"])
        .args(["--example=search_eval", "--"])
        .arg(file(UNANSWERABLE))
        .args(queries)
        .args(asked.fit.then_some("--fit"))
        .args(asked.scale.then_some("--scale"));
    run::visible(&mut command)
}
