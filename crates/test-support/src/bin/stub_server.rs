//! The upstream servers of the tests: `stub-server stub|hostile MODE|replay FILE [--era ERA] …`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Tests that start servers without codeyard's binary use this one as the supervisor.
    jail::dispatch();
    test_support::servers::main(std::env::args().skip(1))
}
