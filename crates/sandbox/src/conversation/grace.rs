//! How long an interrupted program may take to stop.

use std::time::Duration;

use types::Language;

/// The host kills a program after [`Grace::nudges`] interruptions in a row that found it idle or over its CPU time.
/// Interruptions are counted, not timed, because a busy machine delays the host as well as the program.
pub struct Grace {
    /// CPU time since the first interruption.
    pub cpu: Duration,
    pub nudges: u32,
}

const GRACE: Grace = Grace {
    cpu: Duration::from_millis(50),
    nudges: 5,
};
/// A shell session's first process kills what does not stop, and then waits for a copy of the shell to take over. This
/// grace is for the case that the first process fails.
const SHELL_GRACE: Grace = Grace {
    cpu: Duration::from_millis(500),
    nudges: 20,
};

impl Grace {
    pub fn of(language: Language) -> Grace {
        match language {
            Language::Python | Language::TypeScript => GRACE,
            Language::Shell => SHELL_GRACE,
        }
    }
}
