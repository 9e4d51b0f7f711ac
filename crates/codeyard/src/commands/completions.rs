//! `codeyard completions`: a shell script that completes commands and options.

use crate::cli::{self, CompletionsArguments};
use crate::context::Context;
use crate::exit::Exit;

pub fn run(context: &Context, arguments: &CompletionsArguments) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    let mut command = cli::with_shared_options();
    clap_complete::generate(arguments.shell, &mut command, "codeyard", &mut script);
    context.output.print(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
