//! Measures the search of tools over the lists of real servers and a file of queries.

use std::path::PathBuf;

use anyhow::Result;

use super::setup;
use crate::{layout, run};

/// Directory of the queries, relative to the checkout: one file per author.
const FOLDER: &str = "crates/test-support/queries";
const AUTHORS: [&str; 4] = ["tool-queries", "unseen-queries", "author-a", "author-b"];
const UNANSWERABLE: &str = "unanswerable-queries";

#[derive(Debug, clap::Args)]
pub struct SearchEval {
    /// JSON lines with `query`, `relevant` and `kind`, one file per author; by default, the project's files.
    #[arg(long, value_name = "FILE")]
    queries: Vec<PathBuf>,
    /// Fit the weights again, and measure each author's queries with the weights fitted to the other authors.
    #[arg(long)]
    fit: bool,
    /// Also measure recall and time against 100 to 20,000 tools.
    #[arg(long)]
    scale: bool,
}

/// Builds the catalog optimised, and searches for all queries of these files, or of the project's.
pub fn run(arguments: &SearchEval) -> Result<()> {
    let file = |name: &str| layout::root().join(FOLDER).join(name).with_extension("jsonl");
    let own = AUTHORS.map(file);
    let queries: &[PathBuf] = if arguments.queries.is_empty() {
        &own
    } else {
        &arguments.queries
    };
    let mut command = setup::cargo();
    command
        .args(["run", "--locked", "--release", "--quiet", "--package=catalog"])
        .args(["--example=search_eval", "--"])
        .arg(file(UNANSWERABLE))
        .args(queries)
        .args(arguments.fit.then_some("--fit"))
        .args(arguments.scale.then_some("--scale"));
    run::visible(&mut command)
}
