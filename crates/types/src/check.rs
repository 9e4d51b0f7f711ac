//! What happens to a program with findings of the check before a run.

/// What happens to the check's findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckMode {
    /// No check.
    Off,
    /// The program runs; the findings are added to its result.
    Warn,
    /// A program with a call that would certainly fail does not run.
    #[default]
    Enforce,
}

impl CheckMode {
    /// All modes, in their order.
    pub const ALL: [CheckMode; 3] = [CheckMode::Off, CheckMode::Warn, CheckMode::Enforce];

    /// The word in arguments and settings.
    pub fn name(self) -> &'static str {
        match self {
            CheckMode::Off => "off",
            CheckMode::Warn => "warn",
            CheckMode::Enforce => "enforce",
        }
    }

    /// Reads the word in arguments and settings.
    pub fn from_name(name: &str) -> Option<CheckMode> {
        CheckMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
