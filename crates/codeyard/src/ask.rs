//! Asks the person at the terminal before an irreversible change.

use std::io::{self, BufRead, IsTerminal};

use crate::exit::{Exit, Failure};
use crate::output::Output;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// `--yes` was given.
    Given,
    Needed,
}

impl From<bool> for Confirmation {
    fn from(yes: bool) -> Confirmation {
        match yes {
            true => Confirmation::Given,
            false => Confirmation::Needed,
        }
    }
}

/// Asks at the terminal. Without a terminal, fails instead of assuming consent.
pub fn agreed(output: &Output, question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::new(Exit::Usage, format!("{question} Say so with --yes")).into());
    }
    output.tell(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
