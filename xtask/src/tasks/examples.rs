//! Builds codeyard and runs the self-checking examples of tool files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{say, setup};
use crate::{layout, run};

const LONGEST: Duration = Duration::from_secs(60);

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
        example(script, LONGEST)?;
    }
    say(&format!("{} examples passed", scripts.len()));
    Ok(())
}

/// Runs one example; after `longest`, kills it with its children.
fn example(script: &Path, longest: Duration) -> Result<()> {
    let mut command = Command::new("timeout");
    command.arg("--kill-after=5").arg(longest.as_secs().to_string());
    command.arg("sh").arg(script).env("CODEYARD", layout::codeyard());
    run::visible(&mut command)
        .with_context(|| format!("{} failed, or took more than {longest:?}", script.display()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_endless_example_is_killed() {
        let home = tempfile::tempdir().unwrap();
        let script = home.path().join("endless.sh");
        std::fs::write(&script, "sleep 600 & wait\n").unwrap();
        let begun = Instant::now();
        let error = example(&script, Duration::from_secs(1)).unwrap_err();
        assert!(format!("{error:#}").contains("exit status: 124"), "{error:#}");
        assert!(begun.elapsed() < Duration::from_secs(300));
    }
}
