//! Measures floors, promises and rivals side by side in one run, and shows over hours of work in minutes that nothing leaks.
//!
//! Every subject is interleaved with what it is compared to, because a shared machine drifts: only figures of one run compare.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose purpose is to print a table"
)]

mod chart;
mod echo;
mod figures;
mod guests;
mod http_client;
mod measure;
mod parts;
mod placement;
mod processes;
mod promises;
mod raw;
mod rivals;
mod setting;
mod soak;
mod table;

use std::process::ExitCode;

use clap::Parser;

/// Measures Codeyard's promises beside their floors and beside what a user would pick instead.
#[derive(Debug, Parser)]
enum Task {
    Measure(measure::Measure),
    Soak(soak::Soak),
}

fn main() -> ExitCode {
    jail::dispatch();
    let done = match Task::parse() {
        Task::Measure(measure) => measure.run(),
        Task::Soak(soak) => soak.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
