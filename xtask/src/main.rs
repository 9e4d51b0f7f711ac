//! The project's own tasks: tidy, test, cases, machine, demo, examples, conformance, search, fuzzing, races, benchmarks and soak.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tasks::bench::Work;

mod conformance;
mod layout;
mod run;
mod tasks;
mod tidy;

/// The project's own tasks. Each first installs missing packages as root, or prints the command, and creates its
/// environments under `target/`.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check the project's rules that neither the compiler nor clippy checks.
    Tidy(tidy::Tidy),
    /// Run every test: the guest's Python, Rust, and as root the sandbox's again as an ordinary user.
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
    /// Build codeyard and run the examples of tool files, each for at most a minute.
    Examples,
    /// Build the release profile and run all benchmarks or the named parts, beside the rivals.
    Bench {
        /// Arguments for the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure the search of tools: how often a right tool is among the first hits, and the time of a search.
    SearchEval(tasks::search::SearchEval),
    /// Count the tokens of the definitions of nine real and 46 replayed servers before and after `codeyard import`.
    Bill(tasks::bill::Bill),
    /// Measure the declarations of tools: their size, and the time to generate all of them.
    StubsEval {
        /// Directory for the declarations; without it, none are written.
        directory: Option<std::path::PathBuf>,
    },
    /// Build the release profile and open, use and close thousands of sessions; fails on growth or leftovers.
    Soak {
        /// Arguments for the soak: `--short`, `--seconds N`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Read and write a session's files 100,000 times while a program swaps everything below their directories.
    Race(tasks::race::Race),
    /// Record 500 runs over real servers and repeat each against its recording; fails on a difference.
    Replays(tasks::replays::Replays),
    /// Run each target of `fuzz/` for some minutes; fails on a finding.
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
        Task::Replays(replays) => tasks::replays::run(&replays),
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
