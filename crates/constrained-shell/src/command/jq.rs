//! `jq`: a filter over JSON, from files or from the input.

use crate::command_name::CommandName;
use crate::done::Done;
use crate::failure::{Failure, Stop};
use crate::input::{Input, Piped};
use crate::jq::{Filtered, JqError, MAX_FILTER, MAX_JSON};
use crate::line::Word;
use crate::printed::Printed;
use crate::surroundings::Surroundings;

pub(super) fn run(
    around: &Surroundings<'_>,
    arguments: Vec<Word>,
    input: Piped,
    printed: &mut Printed,
) -> Result<Done, Stop> {
    let mut operands = operands(arguments)?.into_iter();
    let filter = operands.next().ok_or(Failure::MissingFilter)?.text;
    if filter.chars().count() > MAX_FILTER {
        return Err(Failure::FilterTooLong(MAX_FILTER).into());
    }
    let files = operands.map(|word| word.path()).collect::<Result<Vec<_>, _>>()?;
    let input = if files.is_empty() {
        input
    } else {
        Piped::Files(files)
    };
    let input = Input::new(around, input).read_to_end(MAX_JSON)?;
    if input.len() > MAX_JSON {
        return Ok(failed(&JqError::InputTooLarge));
    }
    let Filtered { output, error } = around.jq.filter(&filter, input, around.is_over);
    printed.push(&[&output])?;
    match error {
        None => Ok(Done::default()),
        Some(JqError::TimeIsOver) => Err(Stop::TimeIsOver),
        Some(JqError::OutputTooLarge) => Err(Stop::Full),
        Some(error) => Ok(failed(&error)),
    }
}

fn failed(error: &JqError) -> Done {
    Done {
        exit: 1,
        error: error.to_string(),
        ..Done::default()
    }
}

/// The operands. `-r` and `-c` are the default behaviour; `-.a` and `-1` are filters.
fn operands(arguments: Vec<Word>) -> Result<Vec<Word>, Failure> {
    let mut operands = Vec::new();
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-r" | "-c" | "-rc" | "-cr" | "--raw-output" | "--compact-output" => {}
            "--" => operands.extend(words.by_ref()),
            text if is_option(text) => return Err(CommandName::Jq.unsupported(text)),
            _ => operands.push(word),
        }
    }
    Ok(operands)
}

fn is_option(text: &str) -> bool {
    let letters = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
    letters.is_some_and(|letters| letters.starts_with(|c: char| c.is_ascii_alphabetic()))
}
