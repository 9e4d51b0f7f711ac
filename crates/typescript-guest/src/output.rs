//! The output of programs in TypeScript.

use guest_session::{Copies, Output};

/// Prefix of copies. Copies of Python programs are named `stdout-1.txt` and so on.
const PREFIX: &str = "ts";

/// Output with copies in this directory. Tests of the engine have no streams.
pub fn of(results: String) -> Output {
    let copies = Copies {
        results,
        prefix: PREFIX,
    };
    if cfg!(test) {
        Output::closed(copies)
    } else {
        Output::new(copies)
    }
}
