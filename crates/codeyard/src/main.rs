//! The `codeyard` command: parses, runs, and ends with a documented exit code.

mod ask;
mod cli;
mod commands;
mod context;
mod demo;
mod exit;
mod interrupt;
mod output;
mod times;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use cli::Cli;
use exit::Exit;
use output::{Closed, Output};

fn main() -> ExitCode {
    server::dispatch_helpers();
    let exit = match commands::dispatch(parsed()) {
        Ok(exit) => exit,
        // The reader closed our output: not an error.
        Err(error) if error.is::<Closed>() => Exit::Done,
        Err(error) => {
            Output::new(None).tell(&format!("error: {}", with_remedy(format!("{error:#}"))));
            exit::of(&error)
        }
    };
    exit.into()
}

/// Exits if the command line is wrong.
fn parsed() -> Cli {
    let mut command = cli::command();
    let parsed = Cli::from_arg_matches(&command.get_matches_mut());
    parsed.unwrap_or_else(|error| error.format(&mut command).exit())
}

/// Adds a remedy to a system message that only names the shortage.
fn with_remedy(message: String) -> String {
    if message.contains("Too many open files") && !message.contains("ulimit") {
        return format!("{message}; raise this user's limit of open files (`ulimit -n`)");
    }
    message
}
