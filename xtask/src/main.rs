//! The project's own tasks: tidy, test, demo and starting the benchmarks.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod layout;
mod run;
mod tasks;
mod tidy;

/// The project's own tasks. Each does its set-up first: it installs what is missing (as root; otherwise it says what to
/// run) and makes its environments under `target/`.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check the rules of the house that neither the compiler nor clippy knows.
    Tidy,
    /// Run every test: the guest's Python, Rust, and as root the sandbox once more as an ordinary user.
    Test {
        /// Run only tests whose name contains this.
        filter: Option<String>,
    },
    /// Build and run `codeyard demo`.
    Demo {
        /// Arguments for `codeyard demo`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the release profile and run the benchmarks, all or the one named.
    Bench {
        /// Arguments for the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Tidy => tidy::run(),
        Task::Test { filter } => tasks::test::run(filter.as_deref()),
        Task::Demo { arguments } => tasks::demo::run(&arguments),
        Task::Bench { arguments } => tasks::bench::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tasks::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
