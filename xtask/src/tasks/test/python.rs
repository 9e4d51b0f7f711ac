//! Runs the guest's own tests in the machine's Python, outside any sandbox.

use std::process::Command;

use anyhow::Result;

use super::counts::Counts;
use crate::{layout, run};

/// Runs `crates/guest/python/tests`.
pub fn run(filter: Option<&str>) -> Result<Counts> {
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."]);
    if let Some(filter) = filter {
        command.args(["-k", filter]);
    }
    let ran = run::watched(command.current_dir(layout::root().join("crates/guest/python")))?;
    let counts = Counts::of_unittest(&ran.lines);
    // From Python 3.12 on, a filter that fits nothing is a failure of its own.
    let nothing_fits = filter.is_some() && counts == Counts::default();
    Ok(if nothing_fits {
        counts
    } else {
        counts.with_end(ran.success)
    })
}
