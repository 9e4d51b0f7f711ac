//! Decides from the facts which steps are missing, without I/O.

use std::path::{Path, PathBuf};

use super::facts::{
    APPARMOR_PROFILE, Account, DELEGATION_FILE, FixFacts, Installer, SYSCTL_FILE, second_profile,
};
use super::step::{Action, FixStep};
use jail::lease::USERS;

use crate::facts::range_of;

/// Enough namespaces for codeyard and other programs; most distributions allow more.
const NAMESPACES: u64 = 15_000;
/// First number to assign: lower ones belong to the system and its users.
const FIRST_SUBORDINATE: u64 = 100_000;
/// End of the numbers to assign: higher ones belong to root's sessions, or are reserved.
const END_SUBORDINATE: u64 = 1_800_000_000;
/// Numbers per user, as useradd assigns them.
const SUBORDINATE_COUNT: u64 = 65_536;
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// The missing steps, in order.
pub fn plan(facts: &FixFacts) -> Vec<FixStep> {
    let steps = [
        sysctls(facts),
        apparmor(facts),
        helpers(facts),
        ranges(facts),
        delegation(facts),
    ];
    steps.into_iter().flatten().collect()
}

fn sysctls(facts: &FixFacts) -> Option<FixStep> {
    let mut lines = Vec::new();
    if facts.max_user_namespaces == Some(0) {
        lines.push(format!("user.max_user_namespaces = {NAMESPACES}"));
    }
    if facts.unprivileged_userns_clone == Some(0) {
        lines.push("kernel.unprivileged_userns_clone = 1".to_owned());
    }
    if lines.is_empty() {
        return None;
    }
    let load = run(&["sysctl", "--load", &rooted(SYSCTL_FILE).to_string_lossy()]);
    let mut actions: Vec<Action> = match &facts.sysctl_file {
        None => vec![Action::Write {
            path: rooted(SYSCTL_FILE),
            content: format!("# User namespaces, for codeyard.\n{}\n", lines.join("\n")),
        }],
        Some(written) => missing_lines(written, lines)
            .into_iter()
            .map(|line| Action::Append {
                path: rooted(SYSCTL_FILE),
                line,
            })
            .collect(),
    };
    actions.push(load);
    Some(FixStep {
        name: "sysctls",
        what: "switches user namespaces on, now and after each start of the machine".to_owned(),
        why: "every session needs its own user namespace; without user namespaces no program runs".to_owned(),
        weakens: Some("every user may then make user namespaces, which expose more of the kernel".to_owned()),
        actions,
        then: None,
    })
}

fn missing_lines(written: &str, lines: Vec<String>) -> Vec<String> {
    let is_there = |line: &String| written.lines().any(|written| written.trim() == line);
    lines.into_iter().filter(|line| !is_there(line)).collect()
}

/// Lifts Ubuntu's restriction for one program.
fn apparmor(facts: &FixFacts) -> Option<FixStep> {
    if !facts.apparmor_restricts {
        return None;
    }
    let executable = facts.executable.display().to_string();
    let quoted = format!("\"{executable}\"");
    let mut profiles = [&facts.apparmor_profile, &facts.apparmor_second_profile]
        .into_iter()
        .flatten();
    if profiles.any(|profile| profile.contains(&quoted)) {
        return None;
    }
    let path = match facts.apparmor_profile {
        None => rooted(APPARMOR_PROFILE),
        // Keep another program's profile.
        Some(_) => rooted(&second_profile(&facts.executable)),
    };
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let content = format!(
        "# Lets codeyard make user namespaces, and changes nothing else for it.\nabi <abi/4.0>,\ninclude <tunables/global>\n\n\
         profile {name} {quoted} flags=(unconfined) {{\n  userns,\n  include if exists <local/{name}>\n}}\n"
    );
    let parse = run(&["apparmor_parser", "--replace", &path.to_string_lossy()]);
    Some(FixStep {
        name: "apparmor",
        what: format!("allows user namespaces to {executable} by an AppArmor profile"),
        why: "kernel.apparmor_restrict_unprivileged_userns is 1: an ordinary user's program without a profile gets a user \
              namespace without rights, and no session starts"
            .to_owned(),
        weakens: Some(
            "anyone who can replace that program can make user namespaces with rights, despite the restriction"
                .to_owned(),
        ),
        actions: vec![Action::Write { path, content }, parse],
        then: None,
    })
}

fn helpers(facts: &FixFacts) -> Option<FixStep> {
    facts.account.as_ref()?;
    if facts.has_map_helpers {
        return None;
    }
    let (actions, then) = match facts.installer {
        Some(Installer::Apt) => (vec![run(&["apt-get", "install", "--yes", "uidmap"])], None),
        Some(Installer::Dnf) => (vec![run(&["dnf", "install", "-y", "shadow-utils"])], None),
        Some(Installer::Pacman) => (vec![run(&["pacman", "-S", "--noconfirm", "shadow"])], None),
        Some(Installer::Zypper) => (vec![run(&["zypper", "install", "-y", "shadow"])], None),
        None => (
            Vec::new(),
            Some("install the package that has newuidmap and newgidmap".to_owned()),
        ),
    };
    Some(FixStep {
        name: "helpers",
        what: "installs newuidmap and newgidmap".to_owned(),
        why: "only these two programs can give each session of an ordinary user its own kernel user"
            .to_owned(),
        weakens: Some("two more set-user-id programs".to_owned()),
        actions,
        then,
    })
}

fn ranges(facts: &FixFacts) -> Option<FixStep> {
    let account = facts.account.as_ref()?;
    let lists = [("etc/subuid", &facts.subuid), ("etc/subgid", &facts.subgid)];
    let lacking: Vec<&str> = lists
        .iter()
        .filter(|(_, text)| !has_range(text, account))
        .map(|(path, _)| *path)
        .collect();
    if lacking.is_empty() {
        return None;
    }
    let step = FixStep {
        name: "ranges",
        what: String::new(),
        why: format!(
            "with a range of {USERS} or more, each session of {} has its own kernel user, as `[sandbox] require = \
             \"tenant-isolation\"` requires",
            account.name
        ),
        weakens: None,
        actions: Vec::new(),
        then: None,
    };
    Some(match first_free(facts) {
        Some(first) => FixStep {
            what: format!(
                "gives {} {SUBORDINATE_COUNT} subordinate users and groups, from {first}, which no other user has",
                account.name
            ),
            actions: lacking
                .into_iter()
                .map(|path| Action::Append {
                    path: rooted(path),
                    line: format!("{}:{first}:{SUBORDINATE_COUNT}", account.name),
                })
                .collect(),
            ..step
        },
        None => FixStep {
            what: format!(
                "would give {} {SUBORDINATE_COUNT} subordinate users and groups, but no free range is that large",
                account.name
            ),
            then: Some(format!(
                "make room for {SUBORDINATE_COUNT} numbers between {FIRST_SUBORDINATE} and {END_SUBORDINATE} in \
                 /etc/subuid and /etc/subgid"
            )),
            ..step
        },
    })
}

fn has_range(text: &str, account: &Account) -> bool {
    range_of(text, Some(&account.name), account.number).is_some_and(|(_, count)| count >= USERS)
}

/// The first number of a gap that is wide enough in both lists. One start for both lists is easier to read.
fn first_free(facts: &FixFacts) -> Option<u64> {
    let lists = [&facts.subuid, &facts.subgid]
        .into_iter()
        .flat_map(|text| ranges_of(text));
    let accounts = [&facts.passwd, &facts.group]
        .into_iter()
        .flat_map(|text| numbers_of(text));
    let mut taken: Vec<(u64, u64)> = lists.chain(accounts).collect();
    taken.sort_unstable();
    let mut free = FIRST_SUBORDINATE;
    for (first, end) in taken {
        if first >= free.saturating_add(SUBORDINATE_COUNT) {
            break;
        }
        free = free.max(end);
    }
    (free.saturating_add(SUBORDINATE_COUNT) <= END_SUBORDINATE).then_some(free)
}

/// First number and end of each range of a list; saturates at the largest number.
fn ranges_of(text: &str) -> impl Iterator<Item = (u64, u64)> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':').skip(1);
        let first: u64 = fields.next()?.trim().parse().ok()?;
        let count: u64 = fields.next()?.trim().parse().ok()?;
        (count > 0).then(|| (first, first.saturating_add(count)))
    })
}

/// The user and group ids of passwd, or the group ids of group, as ranges of one.
fn numbers_of(text: &str) -> impl Iterator<Item = (u64, u64)> {
    text.lines()
        .flat_map(|line| line.split(':').skip(2).take(2))
        .filter_map(|number| number.parse::<u64>().ok())
        .map(|number| (number, number.saturating_add(1)))
}

/// Delegates systemd's control groups to an ordinary user.
fn delegation(facts: &FixFacts) -> Option<FixStep> {
    let account = facts.account.as_ref()?;
    if !facts.systemd_groups || facts.delegation_file.is_some() {
        return None;
    }
    let delegated = facts.delegated.as_deref().unwrap_or_default();
    let has = |controller: &&str| delegated.split_whitespace().any(|name| name == *controller);
    if CONTROLLERS.iter().all(has) {
        return None;
    }
    Some(FixStep {
        name: "delegation",
        what: "lets users' own systemd have the controllers cpu, memory and pids".to_owned(),
        why: "in a delegated control group memory, processes and CPU of a session are hard limits; without one they are bound \
              per process and by polling"
            .to_owned(),
        weakens: Some("every user may then divide its own share of CPU and memory among its own groups".to_owned()),
        actions: vec![
            Action::Write {
                path: rooted(DELEGATION_FILE),
                content: "# Control groups for sessions of codeyard.\n[Service]\nDelegate=cpu memory pids\n".to_owned(),
            },
            run(&["systemctl", "daemon-reload"]),
        ],
        then: Some(format!(
            "{} logs in again, and starts codeyard with `systemd-run --user --scope --property=Delegate=yes codeyard mcp`",
            account.name
        )),
    })
}

fn rooted(path: &str) -> PathBuf {
    Path::new("/").join(path)
}

fn run(command: &[&str]) -> Action {
    Action::Run {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests;
