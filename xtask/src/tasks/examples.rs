//! Builds codeyard and runs the examples of tool files; each checks itself.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::{say, setup};
use crate::{layout, run};

/// The longest that an example may take.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs every script of `examples/tool-files`, in the order of their names.
pub fn run() -> Result<()> {
    setup::build_codeyard()?;
    let directory = layout::root().join("examples/tool-files");
    let found = std::fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
    let paths = found.filter_map(|entry| Some(entry.ok()?.path()));
    let mut scripts: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "sh"))
        .collect();
    scripts.sort();
    for script in &scripts {
        say(&format!("== {}", script.display()));
        let begun = Instant::now();
        run::visible(Command::new("sh").arg(script).env("CODEYARD", layout::codeyard()))?;
        let took = begun.elapsed();
        ensure!(took < LONGEST, "{} took {took:?}", script.display());
    }
    say(&format!("{} examples passed", scripts.len()));
    Ok(())
}
