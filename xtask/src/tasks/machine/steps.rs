//! The machine's test programs and commands, written as lists of words that `inside.sh` reads.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::tasks::setup;
use crate::tasks::test::ordinary_user;
use crate::tasks::test::programs::{self, TestProgram};
use crate::tasks::test::rust::with_places;
use crate::{layout, run};

const HOME: &str = "/data/home";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum User {
    /// Root in the root of the control groups.
    Root,
    /// An ordinary user without control groups.
    #[value(name = "user")]
    Ordinary,
    /// An ordinary user alone in a control group that it may divide, as systemd gives with `Delegate=yes`.
    Delegated,
}

#[derive(Debug, Clone)]
pub struct TestSet<'a> {
    pub package: &'a str,
    /// The name of an integration test; `None` for the library's own tests.
    pub name: Option<&'a str>,
    pub filters: &'a [&'a str],
    pub user: User,
}

#[derive(Debug)]
pub struct Step {
    /// Shown to people; also the name of the step's file.
    pub title: String,
    words: Vec<OsString>,
    /// Whether the step is a test program, which must run at least one test.
    pub is_test: bool,
    /// Whether a skipped test is a failure: the machine supports all default tests.
    pub is_whole: bool,
}

impl Step {
    pub fn new(title: &str, command: &Command) -> Step {
        let mut words: Vec<OsString> = vec!["env".into()];
        if let Some(directory) = command.get_current_dir() {
            words.extend(["-C".into(), directory.into()]);
        }
        for (name, value) in command.get_envs() {
            let mut word = name.to_owned();
            word.push("=");
            word.push(value.unwrap_or_default());
            words.push(word);
        }
        words.push(command.get_program().to_owned());
        words.extend(command.get_args().map(OsStr::to_owned));
        Step {
            title: title.replace('/', " "),
            words,
            is_test: false,
            is_whole: false,
        }
    }

    /// Runs the step through a script of `xtask/machine` that compares the output with `expected`.
    pub fn checked(mut self, script: &str, expected: &str) -> Step {
        let script = layout::root().join("xtask/machine").join(script);
        let before = ["bash".into(), script.into(), expected.into()];
        self.words.splice(0..0, before);
        self
    }

    fn of_tests(set: &TestSet, program: &TestProgram) -> Step {
        let mut command = set.user.command(program.executable.as_os_str());
        program.surround(&mut command);
        set.user.surround(&mut command);
        // Parallel tests exceed their deadlines on an emulated processor.
        command
            .args(["--show-output", "--color=never", "--test-threads=1"])
            .args(set.filters);
        Step {
            is_test: true,
            ..Step::new(&set.title(), &command)
        }
    }
}

impl User {
    /// A command that runs `program` in the checkout with this user's rights.
    pub fn command(self, program: &OsStr) -> Command {
        let script = |name: &str| {
            let mut command = Command::new("bash");
            command.arg(layout::root().join("xtask").join(name));
            command
        };
        let mut command = match self {
            User::Root => Command::new(program),
            User::Ordinary => script("as-ordinary-user.sh"),
            User::Delegated => script("machine/delegated.sh"),
        };
        if self != User::Root {
            command.arg(ordinary_user::USER.to_string());
            command.arg(layout::root()).arg(program);
        }
        command.current_dir(layout::root());
        with_places(&mut command);
        self.surround(&mut command);
        command
    }

    fn surround(self, command: &mut Command) {
        if self != User::Root {
            ordinary_user::with_home(command, Path::new(HOME));
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            User::Root => "as root",
            User::Ordinary => "as an ordinary user",
            User::Delegated => "as an ordinary user with a delegated group",
        }
    }
}

impl TestSet<'_> {
    pub fn title(&self) -> String {
        let name = self.name.unwrap_or("lib");
        let filters: String = self.filters.iter().map(|filter| format!(" {filter}")).collect();
        format!("{} {name}{filters} {}", self.package, self.user.words())
    }

    fn is_of(&self, program: &TestProgram) -> bool {
        let file = program
            .executable
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or_default();
        // `limits-0123456789abcdef`
        let stem = file.rsplit_once('-').map_or(file, |(stem, _)| stem);
        let (kind, wanted) = match self.name {
            None => ("lib", self.package.replace('-', "_")),
            Some(name) => ("test", name.to_owned()),
        };
        program.directory.ends_with(self.package) && program.kind == kind && stem == wanted
    }
}

/// Builds the programs of these tests together and makes their steps.
pub fn of_tests(sets: &[TestSet]) -> Result<Vec<Step>> {
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let mut arguments = Vec::new();
    for set in sets {
        arguments.extend(["--package", set.package]);
        match set.name {
            None => arguments.push("--lib"),
            Some(name) => arguments.extend(["--test", name]),
        }
    }
    // Tests also start server programs, and the machine has no cargo.
    run::visible(setup::cargo().args(["build", "--locked", "--package=test-support", "--bins"]))?;
    let built = programs::built(&arguments)?;
    sets.iter()
        .map(|set| match built.iter().find(|program| set.is_of(program)) {
            Some(program) => Ok(Step::of_tests(set, program)),
            None => bail!("{}: cargo built no such test program", set.title()),
        })
        .collect()
}

/// Writes each step's words, in the order of the files' names.
pub fn write(steps: &mut [Step]) -> Result<()> {
    let directory = layout::machine().join("steps");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    for (index, step) in steps.iter_mut().enumerate() {
        step.title = format!("{:02} {}", index + 1, step.title);
        let words: Vec<u8> = step
            .words
            .iter()
            .flat_map(|word| [word.as_bytes(), b"\0"].concat())
            .collect();
        fs::write(directory.join(&step.title), words)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_becomes_words_with_its_directory_and_variables() {
        let mut command = Command::new("doctor");
        command
            .args(["--attack", "a b"])
            .current_dir("/w")
            .env("LANG", "C");
        let step = Step::new("a/b", &command);
        assert_eq!(
            step.words,
            ["env", "-C", "/w", "LANG=C", "doctor", "--attack", "a b"]
        );
        assert_eq!(step.title, "a b");
    }

    #[test]
    fn a_set_of_tests_names_one_program() {
        let set = |package, name| TestSet {
            package,
            name,
            filters: &[],
            user: User::Root,
        };
        let is_of = |set: TestSet, file: &str, kind: &str| {
            set.is_of(&TestProgram {
                executable: Path::new("/w/target/debug/deps").join(file),
                directory: Path::new("/w/crates").join(set.package),
                kind: kind.to_owned(),
            })
        };
        assert!(is_of(set("sandbox-process", None), "sandbox_process-0a", "lib"));
        assert!(is_of(set("codeyard", Some("limits")), "limits-0a", "test"));
        assert!(!is_of(set("codeyard", Some("limits")), "limits_more-0a", "test"));
        assert!(!is_of(set("codeyard", None), "codeyard-0a", "bin"));
    }
}
