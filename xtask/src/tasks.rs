//! The tasks that run programs.

pub mod bench;
pub mod bill;
pub mod cases;
pub mod demo;
pub mod examples;
pub mod fuzz;
pub mod machine;
pub mod race;
pub mod replays;
mod rivals;
pub mod search;
pub mod setup;
pub mod stubs;
pub mod test;

/// Prints the reason for a task's failure.
pub fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a line for the person who started the task.
pub fn say(line: &str) {
    use std::io::Write;
    // If the output is closed, nobody reads the line.
    let _ = writeln!(std::io::stdout(), "{line}");
}
