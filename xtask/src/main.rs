//! The project's own tasks: tidy, test, cases, machine, demo, examples, conformance, search, fuzzing, races, benchmarks and soak.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tasks::bench::Work;

mod conformance;
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
    Tidy(tidy::Tidy),
    /// Run every test: the guest's Python, Rust, and as root the sandbox once more as an ordinary user.
    Test {
        /// Run only tests whose name contains this.
        filter: Option<String>,
    },
    /// List the acceptance cases that tests name, each with its tests.
    Cases {
        /// Only IDs that begin with this, such as `C12` or `S4-`.
        #[arg(default_value = "")]
        prefix: String,
    },
    /// Run tests that depend on control groups and quotas in a QEMU machine with Debian's kernel, or a command after `--`.
    Machine(tasks::machine::Machine),
    /// Build and run `codeyard demo`.
    Demo {
        /// Arguments for `codeyard demo`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build codeyard and run the examples of tool files, each in less than a minute.
    Examples,
    /// Build the release profile and run the benchmarks, all parts or those named, beside what others offer.
    Bench {
        /// Arguments for the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure the search of tools: how often a right one is among the first hits, and how long it takes.
    SearchEval(tasks::search::SearchEval),
    /// Count what the definitions of nine real and 46 replayed servers cost before and after `codeyard import`.
    Bill(tasks::bill::Bill),
    /// Measure the declarations of tools: how long all of them take, and how large they are.
    StubsEval {
        /// Where they are written; nowhere if absent.
        directory: Option<std::path::PathBuf>,
    },
    /// Build the release profile and open, use and close thousands of sessions; fails if anything grows or is left.
    Soak {
        /// Arguments for the soak: `--short`, `--seconds N`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Read and write a session's files 100,000 times while a program swaps everything below their directories.
    Race(tasks::race::Race),
    /// Feed foreign input to everything that reads some, each target of `fuzz/` for so many minutes; fails on what it finds.
    Fuzz(tasks::fuzz::Fuzz),
    /// Run the protocol's official conformance suite, or check REST against its OpenAPI document.
    #[command(subcommand)]
    Conformance(conformance::Conformance),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Tidy(tidy) => tidy::run(&tidy),
        Task::Test { filter } => tasks::test::run(filter.as_deref()),
        Task::Cases { prefix } => tasks::cases::print(&prefix),
        Task::Machine(machine) => tasks::machine::run(&machine),
        Task::Demo { arguments } => tasks::demo::run(&arguments),
        Task::Examples => tasks::examples::run(),
        Task::Bench { arguments } => tasks::bench::run(Work::Measure, &arguments),
        Task::SearchEval(asked) => tasks::search::run(&asked),
        Task::Bill(asked) => tasks::bill::run(&asked),
        Task::StubsEval { directory } => tasks::stubs::run(directory.as_deref()),
        Task::Soak { arguments } => tasks::bench::run(Work::Soak, &arguments),
        Task::Race(race) => tasks::race::run(&race),
        Task::Fuzz(fuzz) => tasks::fuzz::run(&fuzz),
        Task::Conformance(side) => conformance::run(&side),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tasks::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
