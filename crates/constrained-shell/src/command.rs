//! The commands, each in a module.

mod cat;
mod grep;
mod jq;
mod ls;

use crate::command_name::CommandName;
use crate::done::Done;
use crate::failure::Stop;
use crate::input::Piped;
use crate::line::Command;
use crate::printed::Printed;
use crate::surroundings::Surroundings;

pub(crate) fn run(
    around: &Surroundings<'_>,
    command: Command,
    input: Piped,
    printed: &mut Printed,
) -> Result<Done, Stop> {
    let Command { name, arguments } = command;
    match name {
        CommandName::Ls => ls::run(around, &arguments, printed),
        CommandName::Cat => cat::run(around, &arguments, input),
        CommandName::Grep | CommandName::Rg => grep::run(around, name, arguments, input, printed),
        CommandName::Jq => jq::run(around, arguments, input, printed),
    }
}
