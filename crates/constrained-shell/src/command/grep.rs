//! `grep` and `rg`: lines that match an expression, in files or in the input.

mod expression;
mod options;
mod search;

use crate::command_name::CommandName;
use crate::done::Done;
use crate::failure::Stop;
use crate::input::{Input, Piped};
use crate::line::Word;
use crate::path::VirtualPath;
use crate::printed::Printed;
use crate::surroundings::Surroundings;

use options::Options;
use search::Search;

pub(super) fn run(
    around: &Surroundings<'_>,
    name: CommandName,
    arguments: Vec<Word>,
    input: Piped,
    printed: &mut Printed,
) -> Result<Done, Stop> {
    let options = Options::read(name, arguments)?;
    let mut search = Search::new(around, &options, printed)?;
    if options.paths.is_empty() && !matches!(input, Piped::Nothing) {
        search.input(Input::new(around, input))?;
    } else if options.paths.is_empty() {
        search.path(VirtualPath::parse(".")?)?;
    }
    for path in &options.paths {
        search.path(path.clone())?;
    }
    Ok(search.done())
}
