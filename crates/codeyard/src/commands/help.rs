//! `codeyard help`: the help of a command, of the shared options, or of everything.

use crate::cli::{self, HelpArguments};
use crate::context::Context;
use crate::exit::{Exit, Failure};

pub fn run(context: &Context, arguments: &HelpArguments) -> anyhow::Result<Exit> {
    let help = match arguments.markdown {
        true => cli::markdown(),
        false => cli::explain(&arguments.topic).map_err(|why| Failure::new(Exit::Usage, why))?,
    };
    context.output.line(help.trim_end())?;
    Ok(Exit::Done)
}
