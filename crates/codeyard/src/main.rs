//! The `codeyard` command: parses, runs, and ends with a documented exit code.

mod cli;
mod commands;
mod context;
mod demo;
mod exit;
mod interrupt;
mod output;

use std::process::ExitCode;

use clap::Parser;

use cli::Cli;
use exit::Exit;
use output::{Closed, Output};

fn main() -> ExitCode {
    server::dispatch_helpers();
    let exit = match commands::dispatch(Cli::parse()) {
        Ok(exit) => exit,
        // Whoever read our output has seen enough.
        Err(error) if error.is::<Closed>() => Exit::Done,
        Err(error) => {
            Output::new(None).tell(&format!("error: {error:#}"));
            exit::of(&error)
        }
    };
    exit.into()
}
