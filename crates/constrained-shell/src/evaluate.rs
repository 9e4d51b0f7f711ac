//! Runs the commands of a line in order.

use crate::command;
use crate::done::Done;
use crate::evaluated::{Evaluated, MAX_OUTPUT, TIME_IS_OVER};
use crate::failure::{Failure, Stop};
use crate::input::{Input, Piped};
use crate::jq::Jq;
use crate::line;
use crate::printed::Printed;
use crate::surroundings::Surroundings;
use crate::virtual_files::VirtualFiles;

/// Evaluates a line of commands over a session's files.
///
/// `is_over` says whether the run's time is over or its caller has cancelled it. The evaluation calls it every few
/// milliseconds, so it must be cheap. The first command that fails or prints too much is the last; its output is the
/// line's output.
pub fn evaluate(line: &str, files: &dyn VirtualFiles, jq: &dyn Jq, is_over: &dyn Fn() -> bool) -> Evaluated {
    let around = Surroundings { files, jq, is_over };
    let mut commands = match line::parse(line) {
        Ok(commands) => commands.into_iter().peekable(),
        Err(failure) => return refused(&failure),
    };
    let mut piped = Piped::Nothing;
    while let Some(command) = commands.next() {
        let is_last = commands.peek().is_none();
        let mut printed = Printed::default();
        let done = match command::run(&around, command, piped, &mut printed) {
            Ok(done) if is_last => print(done, &around, &mut printed),
            other => other,
        };
        match done {
            Ok(Done { exit: 0, output, .. }) if !is_last => {
                piped = output.unwrap_or_else(|| Piped::Text(printed.into_bytes()));
            }
            Ok(done) => return printed.ended(done.exit, done.error),
            Err(Stop::Full) => return printed.cut(),
            Err(Stop::TimeIsOver) if is_last => return printed.ended(TIME_IS_OVER, String::new()),
            Err(Stop::TimeIsOver) => return Printed::default().ended(TIME_IS_OVER, String::new()),
            Err(Stop::Failed(failure)) => return refused(&failure),
        }
    }
    Evaluated::default()
}

/// Prints the unread output of the line's last command.
fn print(mut done: Done, around: &Surroundings<'_>, printed: &mut Printed) -> Result<Done, Stop> {
    if let Some(output) = done.output.take() {
        let content = Input::new(around, output).read_to_end(MAX_OUTPUT)?;
        printed.push(&[&content])?;
    }
    Ok(done)
}

fn refused(failure: &Failure) -> Evaluated {
    Printed::default().ended(failure.exit(), failure.to_string())
}
