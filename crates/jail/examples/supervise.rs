//! A parent for the tests of `supervise` and `confinement`: `[--confine JSON] COMMAND ARGS…` runs the command under the
//! supervisor and exits with its status.

use std::process::ExitCode;

use jail::supervise::{self, Terms};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(mut first) = args.next() else {
        return ExitCode::FAILURE;
    };
    if first == supervise::ARGUMENT {
        supervise::main(args);
    }
    let mut terms = Terms::default();
    if first == "--confine" {
        let json = args.next().unwrap_or_default();
        terms.confinement = serde_json::from_str(&json.to_string_lossy()).ok();
        first = args.next().unwrap_or_default();
    }
    let command = supervise::command(&[], &terms, &first, args);
    let code = command
        .and_then(|mut command| command.status())
        .ok()
        .and_then(|status| status.code())
        .and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(u8::MAX))
}
