//! Rivals that are libraries in their caller's process; they time themselves.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::contender::{Class, Contender, Entry, Operation, RivalDirectory};
use crate::raw::Lines;

pub(super) fn entries(rivals: &RivalDirectory) -> Vec<Entry> {
    vec![Entry {
        name: "pydantic-monty, library alone".to_owned(),
        class: Class::Library,
        contender: monty(rivals),
    }]
}

fn monty(rivals: &RivalDirectory) -> Result<Box<dyn Contender>> {
    let python = rivals.installed("monty", "bin/python")?;
    let script = include_str!("../../rivals/monty.py");
    let lines = Lines::start(Command::new(python).args(["-c", script]))?;
    Ok(Box::new(Library(lines)))
}

/// A process that performs an operation for each word and answers with its seconds.
struct Library(Lines);

impl Contender for Library {
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>> {
        self.0.send(match operation {
            Operation::Start => "start",
            Operation::Live => "live",
            Operation::Call => "call",
        })?;
        let line = self.0.receive()?;
        let seconds = line
            .trim()
            .parse()
            .with_context(|| format!("it answered {line:?}"))?;
        Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or_default()))
    }
}
