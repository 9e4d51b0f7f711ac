//! The launcher of zygotes for the test `weakened`: built with the same feature, so that it can leave guards away.

use std::process::ExitCode;

fn main() -> ExitCode {
    jail::dispatch();
    ExitCode::FAILURE
}
