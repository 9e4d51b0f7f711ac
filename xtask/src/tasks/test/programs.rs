//! Runs test programs built by cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use super::counts::Counts;
use super::rust::with_places;
use crate::layout;
use crate::run;
use crate::tasks::setup;

/// A test program, its package and its kind.
pub struct TestProgram {
    pub executable: PathBuf,
    /// Its package's directory.
    pub directory: PathBuf,
    /// `lib`, `bin` or `test`.
    pub kind: String,
}

/// Builds what `cargo test` with these arguments would run.
pub fn built(packages: &[&str]) -> Result<Vec<TestProgram>> {
    let mut args = vec![
        "test",
        "--locked",
        "--no-run",
        "--quiet",
        "--message-format=json-render-diagnostics",
    ];
    args.extend(packages);
    let messages = run::printed(setup::cargo().args(args))?;
    Ok(messages
        .lines()
        .filter_map(|line| TestProgram::of(&serde_json::from_str(line).ok()?))
        .collect())
}

/// Runs the tests that these arguments select; without arguments, all tests.
pub fn run(mut command: Command, selection: &[&str]) -> Result<Counts> {
    let ran = run::watched(command.args(selection))?;
    Ok(Counts::of_libtest(&ran.lines).with_end(ran.success))
}

/// The names of a program's tests.
pub fn listed(program: &TestProgram) -> Result<Vec<String>> {
    let mut command = Command::new(&program.executable);
    program.surround(&mut command);
    let lines = run::printed(command.args(["--list", "--format", "terse"]))?;
    let names = lines.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}

// === impl TestProgram ===

impl TestProgram {
    /// Reads one of cargo's messages.
    fn of(message: &Value) -> Option<TestProgram> {
        let directory = Path::new(message["manifest_path"].as_str()?).parent()?;
        (message["profile"]["test"] == true).then_some(TestProgram {
            executable: PathBuf::from(message["executable"].as_str()?),
            directory: directory.to_owned(),
            kind: message["target"]["kind"][0].as_str()?.to_owned(),
        })
    }

    /// Sets a command's directory and variables as cargo would, and the tests' variables.
    pub fn surround(&self, command: &mut Command) {
        command
            .current_dir(&self.directory)
            .env("CARGO_MANIFEST_DIR", &self.directory)
            .env("INSTA_WORKSPACE_ROOT", layout::root())
            .env("INSTA_UPDATE", "no");
        with_places(command);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_test_programs_are_taken() {
        let message = |executable: Value, test: bool| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": "/w/crates/jail/Cargo.toml",
                "target": {"kind": ["lib"]},
                "profile": {"test": test},
                "executable": executable,
            })
        };
        let taken = |executable, test| TestProgram::of(&message(executable, test)).is_some();
        assert!(taken(json!("/w/target/debug/deps/x"), true));
        assert!(!taken(json!("/w/target/debug/x"), false) && !taken(Value::Null, true));
    }
}
