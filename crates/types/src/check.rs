//! What is done with a program that the check before a run finds wrong.

/// What is done with what the check finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckMode {
    /// Nothing is looked for.
    Off,
    /// The program runs, and what was found stands beside its result.
    Warn,
    /// A program of which a call would fail for certain does not run.
    #[default]
    Enforce,
}

impl CheckMode {
    /// Every mode.
    pub const ALL: [CheckMode; 3] = [CheckMode::Off, CheckMode::Warn, CheckMode::Enforce];

    /// The word of arguments and settings.
    pub fn name(self) -> &'static str {
        match self {
            CheckMode::Off => "off",
            CheckMode::Warn => "warn",
            CheckMode::Enforce => "enforce",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<CheckMode> {
        CheckMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
