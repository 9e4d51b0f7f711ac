//! The rules of the house, each a pure function over a file's text or over cargo's own description of the workspace.

use std::fmt;

use anyhow::{Context, Result, bail};

use crate::{layout, run, tasks};

mod characters;
mod heading;
mod layers;
mod length;
mod lints;
mod modules;
mod places;
mod source;
mod unfinished;
mod unsafety;

/// A tracked file.
#[derive(Debug, Clone, Copy)]
struct File<'a> {
    /// Its path below the checkout.
    path: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_python(&self) -> bool {
        self.path.ends_with(".py")
    }

    fn problem(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            path: self.path.to_owned(),
            line: Some(line),
            message: message.into(),
        }
    }
}

/// One place that breaks one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    path: String,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.path, self.message),
            None => write!(formatter, "{}: {}", self.path, self.message),
        }
    }
}

/// Rules that look at one file at a time.
const FILE_RULES: [fn(&File) -> Vec<Problem>; 7] = [
    heading::check,
    unsafety::check,
    length::check,
    modules::check,
    unfinished::check,
    characters::check,
    lints::check,
];

/// Checks every tracked file and the dependency graph; prints each problem.
pub fn run() -> Result<()> {
    tasks::setup::packages(tasks::setup::FOR_TIDY)?;
    let mut problems = Vec::new();
    let private = places::Private::of_this_machine();
    let paths = tracked()?;
    for path in &paths {
        // A link that leads nowhere has no text of its own.
        let Ok(bytes) = std::fs::read(layout::root().join(path)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let file = File { path, text: &text };
        problems.extend(FILE_RULES.iter().flat_map(|rule| rule(&file)));
        problems.extend(places::check(&file, &private));
    }
    problems.extend(layers::check(include_str!("../layers.toml"), &metadata()?)?);
    for problem in &problems {
        tasks::say(&problem.to_string());
    }
    match problems.len() {
        0 => {
            tasks::say(&format!("tidy: {} files, nothing found", paths.len()));
            Ok(())
        }
        count => bail!("tidy: {count} problems"),
    }
}

/// The paths that git knows.
fn tracked() -> Result<Vec<String>> {
    // A checkout may belong to another user than the one who tests it.
    let listing = run::output(
        "git",
        &["-c", "safe.directory=*", "ls-files", "-z"],
        layout::root(),
    )?;
    Ok(listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}

fn metadata() -> Result<serde_json::Value> {
    let text = run::output(
        "cargo",
        &["metadata", "--format-version=1", "--no-deps", "--locked"],
        layout::root(),
    )?;
    serde_json::from_str(&text).context("cargo metadata is not JSON")
}
