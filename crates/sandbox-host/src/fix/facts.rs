//! The facts of the machine that the plan depends on, read below a root directory.

use std::fs;
use std::path::{Path, PathBuf};

/// An ordinary user of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// As in passwd.
    pub name: String,
    /// User id.
    pub number: u32,
}

/// Inputs of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixFacts {
    /// Codeyard's own program.
    pub executable: PathBuf,
    /// The ordinary user that the plan also prepares the machine for.
    pub account: Option<Account>,
    /// Whether AppArmor lets only programs with a profile make user namespaces.
    pub apparmor_restricts: bool,
    /// Content of AppArmor's profile for codeyard, if present.
    pub apparmor_profile: Option<String>,
    /// Content of the profile for this program, if present. Codeyard uses this path if the first profile is for
    /// another program.
    pub apparmor_second_profile: Option<String>,
    /// `user.max_user_namespaces`.
    pub max_user_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, if the kernel has it.
    pub unprivileged_userns_clone: Option<u64>,
    /// Content of codeyard's sysctl file, if present.
    pub sysctl_file: Option<String>,
    /// Whether `newuidmap` and `newgidmap` are present with the privilege they need.
    pub has_map_helpers: bool,
    /// Package manager of the machine.
    pub installer: Option<Installer>,
    /// `/etc/passwd`.
    pub passwd: String,
    /// `/etc/group`.
    pub group: String,
    /// `/etc/subuid`.
    pub subuid: String,
    /// `/etc/subgid`.
    pub subgid: String,
    /// Whether systemd runs the machine, with version 2 control groups.
    pub systemd_groups: bool,
    /// Controllers delegated to the user's manager, if it runs.
    pub delegated: Option<String>,
    /// Content of codeyard's drop-in for users' managers, if present.
    pub delegation_file: Option<String>,
}

/// A package manager that the plan can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installer {
    /// Debian, Ubuntu: the package is `uidmap`.
    Apt,
    /// Fedora, RHEL: the helpers are in `shadow-utils`.
    Dnf,
    /// Arch: the helpers are in `shadow`.
    Pacman,
    /// openSUSE: the helpers are in `shadow`.
    Zypper,
}

/// Why there are no facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactsError {
    /// /etc/passwd lacks the user.
    #[error("--user {0}: /etc/passwd has no user of this name; name one that it has")]
    NoUser(String),
    /// Root needs no range.
    #[error("--user root: root has users of its own for sessions; name an ordinary user")]
    Root,
}

pub(super) const APPARMOR_PROFILE: &str = "etc/apparmor.d/codeyard";
pub(super) const SYSCTL_FILE: &str = "etc/sysctl.d/60-codeyard.conf";
/// Drop-in for users' managers.
pub(super) const DELEGATION_FILE: &str = "etc/systemd/system/user@.service.d/60-codeyard.conf";
/// Control groups of the users' managers.
const USER_SLICE: &str = "sys/fs/cgroup/user.slice";

impl FixFacts {
    /// Reads the machine whose files are below `root`. `account` is a name or a user id.
    ///
    /// # Errors
    /// If the account does not exist.
    pub fn look(root: &Path, executable: PathBuf, account: Option<&str>) -> Result<Self, FactsError> {
        let account = account.map(|wanted| find(root, wanted)).transpose()?;
        let at = |path: &str| root.join(path);
        let read = |path: &str| fs::read_to_string(at(path)).ok();
        let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
        let delegated = account.as_ref().and_then(|account| {
            let number = account.number;
            read(&format!(
                "{USER_SLICE}/user-{number}.slice/user@{number}.service/cgroup.controllers"
            ))
        });
        let apparmor_second_profile = read(&second_profile(&executable));
        Ok(Self {
            executable,
            account,
            apparmor_restricts: number("proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1),
            apparmor_profile: read(APPARMOR_PROFILE),
            apparmor_second_profile,
            max_user_namespaces: number("proc/sys/user/max_user_namespaces"),
            unprivileged_userns_clone: number("proc/sys/kernel/unprivileged_userns_clone"),
            sysctl_file: read(SYSCTL_FILE),
            has_map_helpers: jail::machine::has_map_helpers(root),
            installer: installer(root),
            passwd: read("etc/passwd").unwrap_or_default(),
            group: read("etc/group").unwrap_or_default(),
            subuid: read("etc/subuid").unwrap_or_default(),
            subgid: read("etc/subgid").unwrap_or_default(),
            systemd_groups: at("run/systemd/system").is_dir()
                && at("sys/fs/cgroup/cgroup.controllers").exists(),
            delegated,
            delegation_file: read(DELEGATION_FILE),
        })
    }
}

/// Path of a program's profile if the first path has one for another program; derived from the program's
/// path.
pub(super) fn second_profile(executable: &Path) -> String {
    let path = executable.display().to_string();
    let sum = path
        .bytes()
        .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("{APPARMOR_PROFILE}-{sum:08x}")
}

fn find(root: &Path, wanted: &str) -> Result<Account, FactsError> {
    let passwd = fs::read_to_string(root.join("etc/passwd")).unwrap_or_default();
    let accounts = passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, _password, number) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Account {
            name: name.to_owned(),
            number: number.parse().ok()?,
        })
    });
    let found = accounts
        .into_iter()
        .find(|account| account.name == wanted || account.number.to_string() == wanted);
    match found {
        Some(account) if account.number == 0 => Err(FactsError::Root),
        Some(account) => Ok(account),
        None => Err(FactsError::NoUser(wanted.to_owned())),
    }
}

fn installer(root: &Path) -> Option<Installer> {
    let known = [
        ("usr/bin/apt-get", Installer::Apt),
        ("usr/bin/dnf", Installer::Dnf),
        ("usr/bin/pacman", Installer::Pacman),
        ("usr/bin/zypper", Installer::Zypper),
    ];
    known
        .into_iter()
        .find(|(program, _)| root.join(program).exists())
        .map(|(_, installer)| installer)
}
