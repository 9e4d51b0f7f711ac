//! The size of tests that `cargo xtask` runs with more work than the suite does.

/// The number in this variable, which requests the long form; without it, the suite's number.
pub fn long_form(variable: &str, usual: u64) -> u64 {
    let requested = std::env::var(variable).ok();
    requested.and_then(|number| number.parse().ok()).unwrap_or(usual)
}
