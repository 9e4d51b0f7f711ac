//! `codeyard completions`: a script that completes commands and options.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArguments};
use crate::context::Context;
use crate::exit::Exit;

/// Prints the script.
pub fn run(context: &Context, arguments: &CompletionsArguments) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "codeyard", &mut script);
    context.output.print(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
