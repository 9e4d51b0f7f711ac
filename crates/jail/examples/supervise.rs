//! A parent for the tests of `supervise`: runs a command under the supervisor and passes its status on.

use std::process::ExitCode;

use jail::supervise;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(first) = args.next() else {
        return ExitCode::FAILURE;
    };
    if first == supervise::ARGUMENT {
        supervise::main(args);
    }
    let status = supervise::command(&[], &first, args).status();
    let code = status
        .ok()
        .and_then(|status| status.code())
        .and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(u8::MAX))
}
