//! Measures the search of tools over the lists of real servers and a file of queries.

use std::path::Path;

use anyhow::Result;

use super::setup;
use crate::{layout, run};

/// Where the lists and the queries are, from the root of the checkout.
const LISTS: &str = "crates/test-support/catalogue";
const QUERIES: &str = "crates/test-support/queries/tool-queries.jsonl";

/// Builds the catalog optimised and has it look for everything in the file, or in our own.
pub fn run(queries: Option<&Path>) -> Result<()> {
    let root = layout::root();
    let own = root.join(QUERIES);
    let mut command = setup::cargo();
    command
        .args(["run", "--locked", "--release", "--quiet", "--package=catalog"])
        .args(["--example=search_eval", "--"])
        .arg(root.join(LISTS))
        .arg(queries.unwrap_or(&own));
    run::visible(&mut command)
}
