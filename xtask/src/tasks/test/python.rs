//! Runs the guest's own tests outside any sandbox, in the managed environment, so that figures and tables are real
//! ones.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::counts::Counts;
use crate::{layout, run};

/// Runs `crates/guest/python/tests`.
pub fn run(filter: Option<&str>) -> Result<Counts> {
    let mut command = Command::new(python()?);
    command.args(["-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."]);
    if let Some(filter) = filter {
        command.args(["-k", filter]);
    }
    let ran = run::watched(command.current_dir(layout::root().join("crates/guest/python")))?;
    let counts = Counts::of_unittest(&ran.lines);
    // From Python 3.12 on, a filter without a match is a failure.
    let nothing_fits = filter.is_some() && counts == Counts::default();
    Ok(if nothing_fits {
        counts
    } else {
        counts.with_end(ran.success)
    })
}

/// The managed environment's Python.
fn python() -> Result<PathBuf> {
    let data = layout::data();
    let codeyard = layout::codeyard();
    let args = [
        "python".as_ref(),
        "info".as_ref(),
        "--json".as_ref(),
        "--data".as_ref(),
        data.as_os_str(),
    ];
    let info: Value =
        serde_json::from_str(&run::output(&codeyard.to_string_lossy(), &args, layout::root())?)?;
    let root = info["environment"]["root"]
        .as_str()
        .context("`codeyard python info` names no environment")?;
    Ok(PathBuf::from(root).join("bin/python"))
}
