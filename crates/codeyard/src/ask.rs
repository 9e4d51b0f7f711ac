//! Asks the person at the terminal before something is lost or taken over.

use std::io::{self, BufRead, IsTerminal};

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Whether a command that would ask may go on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The person wrote `--yes`.
    Given,
    /// The person must be asked.
    Needed,
}

impl From<bool> for Confirmation {
    /// From the option `--yes`.
    fn from(yes: bool) -> Confirmation {
        match yes {
            true => Confirmation::Given,
            false => Confirmation::Needed,
        }
    }
}

/// Asks the person at the terminal; refuses where there is none, because silence is no consent.
pub fn agreed(output: &Output, question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::new(Exit::Usage, format!("{question} Say so with --yes")).into());
    }
    output.tell(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
