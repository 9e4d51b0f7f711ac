//! Runs the commands of a line one after the other.

use crate::command::{self, Done};
use crate::ended::{Ended, MAX_OUTPUT, TIME_IS_OVER};
use crate::failure::{Failure, Stop};
use crate::files::Files;
use crate::jq::Jq;
use crate::line;
use crate::source::{Piped, Source};

const CUT: &str = "shell: output truncated (exceeds 10 MiB limit)";

/// What a line is evaluated with.
pub(crate) struct Surroundings<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) jq: &'a dyn Jq,
    pub(crate) is_over: &'a dyn Fn() -> bool,
}

/// What a command prints, up to [`MAX_OUTPUT`].
#[derive(Debug, Default)]
pub(crate) struct Printed(Vec<u8>);

/// Evaluates a line of commands over a session's files.
///
/// `is_over` says whether the run's time is over or its caller has cancelled it. It is asked at least every few
/// milliseconds, so it must be cheap. The commands run one after the other: the first that fails or prints too much is
/// the last one, and what it printed is the line's output.
pub fn evaluate(line: &str, files: &dyn Files, jq: &dyn Jq, is_over: &dyn Fn() -> bool) -> Ended {
    let around = Surroundings { files, jq, is_over };
    let commands = match line::parse(line) {
        Ok(commands) => commands,
        Err(failure) => return refused(&failure),
    };
    let mut piped = Piped::Nothing;
    let last = commands.len().saturating_sub(1);
    for (index, command) in commands.into_iter().enumerate() {
        let mut printed = Printed::default();
        let done = match command::run(&around, command, piped, &mut printed) {
            Ok(done) if index == last => done.print(&around, &mut printed),
            other => other,
        };
        match done {
            Ok(Done { exit: 0, output, .. }) if index < last => {
                piped = output.unwrap_or(Piped::Text(printed.0));
            }
            Ok(done) => return printed.ended(done.exit, done.error),
            Err(Stop::Full) => return printed.cut(),
            Err(Stop::TimeIsOver) if index < last => return Printed::default().ended(TIME_IS_OVER, String::new()),
            Err(Stop::TimeIsOver) => return printed.ended(TIME_IS_OVER, String::new()),
            Err(Stop::Failed(failure)) => return refused(&failure),
        }
    }
    Ended::default()
}

fn refused(failure: &Failure) -> Ended {
    Printed::default().ended(failure.exit(), failure.to_string())
}

// === impl Surroundings ===

impl Surroundings<'_> {
    pub(crate) fn check_time(&self) -> Result<(), Stop> {
        if (self.is_over)() {
            return Err(Stop::TimeIsOver);
        }
        Ok(())
    }
}

// === impl Done ===

impl Done {
    /// Prints the output that the line's last command has left to its reader.
    fn print(mut self, around: &Surroundings<'_>, printed: &mut Printed) -> Result<Done, Stop> {
        if let Some(output) = self.output.take() {
            let content = Source::new(around, output).read_to_end(MAX_OUTPUT)?;
            printed.push(&[&content])?;
        }
        Ok(self)
    }
}

// === impl Printed ===

impl Printed {
    /// Appends all parts, or as much as there is room for.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) -> Result<(), Stop> {
        for part in parts {
            let room = MAX_OUTPUT - self.0.len();
            self.0.extend_from_slice(&part[..part.len().min(room)]);
            if part.len() > room {
                return Err(Stop::Full);
            }
        }
        Ok(())
    }

    /// What was printed until there was no room for more.
    fn cut(self) -> Ended {
        let mut output = self.text();
        output.truncate(output.floor_char_boundary(MAX_OUTPUT));
        Ended {
            output,
            error: CUT.to_owned(),
            exit: 0,
            is_cut: true,
        }
    }

    fn ended(self, exit: u8, error: String) -> Ended {
        let output = self.text();
        // Replacement characters are longer than the bytes they replace.
        if output.len() > MAX_OUTPUT {
            return self.cut();
        }
        Ended {
            output,
            error,
            exit,
            is_cut: false,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}
