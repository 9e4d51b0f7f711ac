//! Measures the declarations of the tools of real servers.

use std::path::Path;

use anyhow::Result;

use super::setup;
use crate::{layout, run};

/// Where the lists are, from the root of the checkout.
const LISTS: &str = "crates/test-support/catalogue";

/// Builds the catalog optimised and has it declare every tool.
pub fn run(directory: Option<&Path>) -> Result<()> {
    let mut command = setup::cargo();
    command
        .args(["run", "--locked", "--release", "--quiet", "--package=catalog"])
        .args(["--example=stubs_eval", "--"])
        .arg(layout::root().join(LISTS))
        .args(directory);
    run::visible(&mut command)
}
