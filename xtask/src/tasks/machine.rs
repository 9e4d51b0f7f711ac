//! Runs tests or a command in a QEMU machine: Debian's kernel, control groups of version 2 only, project quotas.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::setup;
use super::test::ordinary_user;
use crate::layout;

mod debian;
mod initramfs;
mod qemu;
mod report;
mod steps;

use steps::{Step, TestSet, User};

/// Which tests or which command, as whom, and for how long.
#[derive(Debug, Args)]
pub struct Machine {
    /// Minutes after which the machine is ended.
    #[arg(long, default_value_t = 90)]
    minutes: u64,
    /// Emulate the processor although /dev/kvm is there.
    #[arg(long)]
    emulate: bool,
    /// Run only these tests: `PACKAGE` for its library's, `PACKAGE/NAME` for those of `tests/NAME.rs`.
    #[arg(long, conflicts_with = "command")]
    test: Option<String>,
    /// Run only tests whose name contains this; may be repeated.
    #[arg(long, requires = "test")]
    filter: Vec<String>,
    /// Whose rights the tests or the command have.
    #[arg(long = "as", value_enum, default_value_t = User::Root)]
    user: User,
    /// A command to run in the checkout instead of the tests.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Where the ordinary user's home is in the machine.
const HOME: &str = "/data/home";

/// Tests that depend on control groups or quotas.
const DEFAULT: &[TestSet] = &[TestSet {
    package: "workspace",
    name: None,
    filters: &["quota"],
    user: User::Root,
}];

/// Sets up, starts the machine, and fails if a step failed.
pub fn run(machine: &Machine) -> Result<()> {
    setup::packages(setup::FOR_MACHINE)?;
    let files = debian::files()?;
    setup::build_codeyard()?;
    setup::environment(Some(setup::PLAIN_PATH))?;
    let mut steps = machine.steps()?;
    steps::write(&mut steps)?;
    initramfs::pack(&files, &settings()?)?;
    let limit = Duration::from_secs(machine.minutes * 60);
    let seen = qemu::run(&files, machine.emulate, limit)?;
    let failed = report::print(&steps, &seen);
    match (seen.stopped, failed) {
        (Some(reason), _) => bail!("{reason}"),
        (None, 0) => Ok(()),
        (None, failed) => bail!("{failed} of {} steps failed", steps.len()),
    }
}

/// What `init.sh` reads: where the checkout, the machine's files and the environments are, and the ordinary user.
fn settings() -> Result<Vec<String>> {
    [layout::root(), &layout::machine(), &layout::data()]
        .iter()
        .map(|path| path.to_str().map(str::to_owned))
        .chain([Some(ordinary_user::USER.to_string())])
        .collect::<Option<_>>()
        .context("the checkout's path is not UTF-8")
}

impl Machine {
    fn steps(&self) -> Result<Vec<Step>> {
        if let Some((program, arguments)) = self.command.split_first() {
            let mut command = self.user.command(program);
            command.args(arguments);
            return Ok(vec![Step::new("command", &command)]);
        }
        let Some(test) = &self.test else {
            return steps::of_tests(DEFAULT);
        };
        let (package, name) = match test.split_once('/') {
            Some((package, name)) => (package, Some(name)),
            None => (test.as_str(), None),
        };
        let filters: Vec<&str> = self.filter.iter().map(String::as_str).collect();
        steps::of_tests(&[TestSet {
            package,
            name,
            filters: &filters,
            user: self.user,
        }])
    }
}
