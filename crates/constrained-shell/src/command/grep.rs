//! `grep` and `rg`: lines that match an expression, in files or in the input.

mod expression;
mod options;
mod search;

use super::{Done, Program};
use crate::VirtualPath;
use crate::evaluate::{Printed, Surroundings};
use crate::failure::Stop;
use crate::line::Word;
use crate::source::{Piped, Source};

use options::Options;
use search::Search;

/// Characters of an expression, as in system 0.
const MAX_PATTERN: usize = 512;

pub(super) fn run(
    around: &Surroundings<'_>,
    program: Program,
    arguments: Vec<Word>,
    input: Piped,
    printed: &mut Printed,
) -> Result<Done, Stop> {
    let options = Options::read(program, arguments)?;
    let mut search = Search::new(around, &options, printed)?;
    if options.paths.is_empty() && !matches!(input, Piped::Nothing) {
        search.input(Source::new(around, input))?;
    } else if options.paths.is_empty() {
        search.path(VirtualPath::parse(".")?)?;
    }
    for path in &options.paths {
        search.path(path.clone())?;
    }
    Ok(search.done())
}
