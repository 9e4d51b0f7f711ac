//! `cat`: the contents of files one after the other, or its input.

use crate::command_name::CommandName;
use crate::done::Done;
use crate::failure::Stop;
use crate::input::Piped;
use crate::line::Word;
use crate::surroundings::Surroundings;

/// Checks that each file can be opened. The next command, or the end of the line, reads the files.
pub(super) fn run(around: &Surroundings<'_>, arguments: &[Word], input: Piped) -> Result<Done, Stop> {
    let mut names = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--" => names.extend(words.by_ref()),
            option if word.is_option() => return Err(CommandName::Cat.unsupported(option).into()),
            _ => names.push(word),
        }
    }
    if names.is_empty() || names.iter().all(|word| word.text == "-") {
        return Ok(Done {
            output: Some(input),
            ..Done::default()
        });
    }
    let mut files = Vec::new();
    for name in names {
        around.check_time()?;
        let path = name.path()?;
        if let Err(error) = around.files.open(&path) {
            return Err(error.at(&path).into());
        }
        files.push(path);
    }
    Ok(Done {
        output: Some(Piped::Files(files)),
        ..Done::default()
    })
}
