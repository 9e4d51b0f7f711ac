//! `codeyard help`: the help of a command, or of the shared options.

use crate::cli::{self, HelpArguments};
use crate::context::Context;
use crate::exit::{Exit, Failure};

pub fn run(context: &Context, arguments: &HelpArguments) -> anyhow::Result<Exit> {
    let help = cli::explain(&arguments.topic).map_err(|why| Failure::new(Exit::Usage, why))?;
    context.output.line(help.trim_end())?;
    Ok(Exit::Done)
}
