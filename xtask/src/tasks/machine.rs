//! Runs tests or a command in a QEMU machine: Debian's kernel, control groups of version 2 only,
//! project quotas.

use std::ffi::OsString;
use std::fs::{self, File};
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

/// The tests or the command, the user, and the time limit.
#[derive(Debug, Args)]
pub struct Machine {
    /// Minutes after which the machine is killed.
    #[arg(long, default_value_t = 120)]
    minutes: u64,
    /// Emulate the processor although /dev/kvm exists.
    #[arg(long)]
    emulate: bool,
    /// Of the default steps run only those whose name contains this; may be repeated.
    #[arg(long, conflicts_with_all = ["test", "command"])]
    only: Vec<String>,
    /// Run only these tests: `PACKAGE` for its library's, `PACKAGE/NAME` for those of `tests/NAME.rs`.
    #[arg(long, conflicts_with = "command")]
    test: Option<String>,
    /// Run only tests whose name contains this; may be repeated.
    #[arg(long, requires = "test")]
    filter: Vec<String>,
    /// The user who runs the tests or the command.
    #[arg(long = "as", value_enum, default_value_t = User::Root)]
    user: User,
    /// A command to run in the checkout instead of the tests.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Tests that depend on control groups or quotas; none may be skipped.
const TESTS: &[TestSet] = &[
    TestSet {
        package: "workspace",
        name: None,
        filters: &["quota"],
        user: User::Root,
    },
    TestSet {
        package: "codeyard",
        name: Some("e2e"),
        filters: &["workspaces::kernel_quota::"],
        user: User::Root,
    },
    TestSet {
        package: "jail",
        name: Some("disk_rate"),
        filters: &[],
        user: User::Root,
    },
    TestSet {
        package: "codeyard",
        name: Some("e2e"),
        filters: &["limits::", "--skip=acceptance::", "--skip=bridge::"],
        user: User::Root,
    },
];

/// The users who run the doctor and the attacks, each with and without control groups, and each user's best mode.
const ATTACKERS: [(User, &str); 2] = [
    (User::Root, "root with control groups"),
    (User::Delegated, "bare ordinary user with control groups"),
];

const IO_MAX: &str = "xtask/machine/io-max.sh";

/// Sets up, starts the machine, and fails if a step failed.
pub fn run(machine: &Machine) -> Result<()> {
    setup::packages(setup::FOR_MACHINE)?;
    let _alone = lock()?;
    let files = debian::files()?;
    setup::build_codeyard()?;
    setup::environment(Some(setup::PLAIN_PATH.as_ref()))?;
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

/// Locks the machine's files: two machines of one checkout would write to the same disk.
fn lock() -> Result<File> {
    fs::create_dir_all(layout::machine())?;
    let file = File::create(layout::machine().join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => bail!(
            "{}: another machine of this checkout is running",
            layout::machine().display()
        ),
    }
}

/// The input of `init.sh`: the paths of the checkout, the machine's files and the environments, and
/// the ordinary user.
fn settings() -> Result<Vec<String>> {
    [layout::root(), &layout::machine(), &layout::data()]
        .iter()
        .map(|path| path.to_str().map(str::to_owned))
        .chain([Some(ordinary_user::USER.to_string())])
        .collect::<Option<_>>()
        .context("the checkout's path is not UTF-8")
}

/// The tests, then the commands; only those whose title contains one of `only`, unless that is empty.
fn default_steps(only: &[String]) -> Result<Vec<Step>> {
    let is_wanted = |title: &str| only.is_empty() || only.iter().any(|word| title.contains(word));
    let tests: Vec<TestSet> = TESTS
        .iter()
        .filter(|set| is_wanted(&set.title()))
        .cloned()
        .collect();
    let mut steps = steps::of_tests(&tests)?;
    for step in &mut steps {
        step.is_whole = true;
    }
    let mut io_max = User::Root.command("bash".as_ref());
    steps.push(Step::new("io.max binds", io_max.arg(IO_MAX)));
    let doctor = |user: User, title: &str, arguments: &[&str]| {
        let mut command = user.command(layout::codeyard().as_os_str());
        command.arg("doctor").args(arguments);
        Step::new(&format!("{title} {}", user.words()), &command)
    };
    for (user, mode) in ATTACKERS {
        steps.push(doctor(user, "doctor", &["--json"]).checked("mode.sh", mode));
    }
    for (user, _) in ATTACKERS {
        steps.push(doctor(user, "doctor --attack", &["--attack", "--this-user"]));
    }
    steps.retain(|step| is_wanted(&step.title));
    if steps.is_empty() {
        bail!("no default step has such a name");
    }
    Ok(steps)
}

impl Machine {
    fn steps(&self) -> Result<Vec<Step>> {
        if let Some((program, arguments)) = self.command.split_first() {
            let mut command = self.user.command(program);
            command.args(arguments);
            return Ok(vec![Step::new("command", &command)]);
        }
        let Some(test) = &self.test else {
            return default_steps(&self.only);
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
