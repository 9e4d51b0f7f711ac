//! Lines of commands over a tree of files in memory.

mod cat;
mod grep;
mod jq;
mod limits;
mod ls;
mod pipes;
mod refusals;
mod tree;

use constrained_shell::{Evaluated, Jaq, evaluate};

use tree::{Tree, session};

fn run(line: &str) -> Evaluated {
    run_over(&session(), line)
}

fn run_over(tree: &Tree, line: &str) -> Evaluated {
    evaluate(line, tree, &Jaq::in_disposable_process(), &|| false)
}

/// Expects an output without an error.
#[track_caller]
fn check(line: &str, output: &str) {
    check_over(&session(), line, output);
}

#[track_caller]
fn check_over(tree: &Tree, line: &str, output: &str) {
    let ended = run_over(tree, line);
    let found = (ended.output.as_str(), ended.error.as_str(), ended.exit);
    assert_eq!(found, (output, "", 0), "{line:?}");
    assert!(!ended.is_cut, "{line:?}");
}

/// Expects an error, and no output.
#[track_caller]
fn check_error(line: &str, exit: u8, error: &str) {
    check_error_over(&session(), line, exit, error);
}

#[track_caller]
fn check_error_over(tree: &Tree, line: &str, exit: u8, error: &str) {
    let ended = run_over(tree, line);
    let found = (ended.output.as_str(), ended.error.as_str(), ended.exit);
    assert_eq!(found, ("", error, exit), "{line:?}");
}
