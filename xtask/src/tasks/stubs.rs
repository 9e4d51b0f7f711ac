//! Measures the declarations of the tools of real servers.

use std::path::Path;

use anyhow::Result;

use super::setup;
use crate::run;

pub fn run(directory: Option<&Path>) -> Result<()> {
    let mut command = setup::cargo();
    command
        .args(["run", "--locked", "--release", "--quiet", "--package=catalog"])
        .args(["--example=stubs_eval", "--"])
        .args(directory);
    run::visible(&mut command)
}
