//! Measures floors, promises and rivals alternately in one run, and soaks codeyard to find leaks.
//!
//! A shared machine drifts, so compare only figures of one run: every subject alternates with its comparison.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose purpose is to print a table"
)]

mod chart;
mod echo;
mod figures;
mod gateways;
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

/// Measures Codeyard's promises against their floors and against the alternatives.
#[derive(Debug, Parser)]
enum Task {
    Measure(measure::Measure),
    Soak(soak::Soak),
    /// The upstream servers of the part `gateways`.
    #[command(hide = true)]
    Upstream(gateways::Upstream),
}

fn main() -> ExitCode {
    jail::dispatch();
    typescript_guest::dispatch();
    shell_guest::dispatch();
    let done = match Task::parse() {
        Task::Measure(measure) => measure.run(),
        Task::Soak(soak) => soak.run(),
        Task::Upstream(upstream) => upstream.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
