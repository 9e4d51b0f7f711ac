//! The launcher for the test `weakened`, built with the same feature so that it can leave out guards.

use std::process::ExitCode;

fn main() -> ExitCode {
    jail::dispatch();
    ExitCode::FAILURE
}
