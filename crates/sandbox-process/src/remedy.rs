//! Adds the most likely remedy to the error of a failed launch.

use std::fmt::Display;
use std::fs;

use jail::machine;

/// Limit on open files below which too few may be the cause.
const FEW_FILES: u64 = 256;
/// Ubuntu's restriction of user namespaces to programs with an AppArmor profile.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

pub(crate) fn explain(error: impl Display) -> String {
    let text = error.to_string();
    match Restrictions::of_this_process().remedy(&text) {
        Some(remedy) => format!("{text}; {remedy}"),
        None => text,
    }
}

#[derive(Default)]
struct Restrictions {
    few_files: bool,
    apparmor: bool,
}

impl Restrictions {
    fn of_this_process() -> Self {
        let is_root = rustix::process::geteuid().is_root();
        Self {
            few_files: machine::open_files() < FEW_FILES,
            apparmor: !is_root && fs::read_to_string(APPARMOR).is_ok_and(|value| value.trim() == "1"),
        }
    }

    fn remedy(&self, text: &str) -> Option<&'static str> {
        let says = |part: &str| text.contains(part);
        let forbidden = says("Operation not permitted") || says("Permission denied");
        // The kernel also counts the descriptors that all of the user's processes have sent and not yet received.
        let too_many = says("Too many open files") || says("Too many references");
        if too_many || ((says("ended before") || says("is gone")) && self.few_files) {
            return Some("raise this user's limit of open files (`ulimit -n`)");
        }
        if forbidden && self.apparmor {
            return Some(
                "AppArmor restricts user namespaces here to programs that it knows: `codeyard doctor --fix` says how to \
             allow them to codeyard",
            );
        }
        if says("create user, mount") {
            return Some(match () {
                () if says("No space left") => {
                    "user namespaces are refused here: their number is used up or switched off; raise \
                 user.max_user_namespaces with sysctl"
                }
                () if says("not implemented") => {
                    "user namespaces are refused here by a filter of system calls, as in a container: start it with \
                 --security-opt seccomp=unconfined"
                }
                () => {
                    "user namespaces are refused here, by a security module or by a filter of system calls, as in a \
                 container (--security-opt seccomp=unconfined); `codeyard doctor --fix` says what can be allowed"
                }
            });
        }
        if says("mount /proc") {
            return Some(
                "in a container, run it with an unmasked /proc (--security-opt systempaths=unconfined, podman: \
             unmask=ALL)",
            );
        }
        if forbidden && says("set the host name") {
            return Some(
                "a filter of system calls forbids what a session is set up with, as in a container: start it with \
             --security-opt seccomp=unconfined and an unmasked /proc (--security-opt systempaths=unconfined, podman: \
             unmask=ALL)",
            );
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, apparmor: bool, expected: &str) {
        let restrictions = Restrictions {
            apparmor,
            ..Restrictions::default()
        };
        let remedy = restrictions.remedy(text).unwrap_or_default();
        assert!(remedy.contains(expected), "{text}: {remedy}");
    }

    #[test]
    fn each_cause_has_its_remedy() {
        let create = "create user, mount, pid namespaces";
        check(
            &format!("{create}: No space left on device"),
            false,
            "max_user_namespaces",
        );
        check(
            &format!("{create}: Function not implemented"),
            false,
            "seccomp=unconfined",
        );
        check(
            &format!("{create}: Operation not permitted"),
            false,
            "security module",
        );
        check(&format!("{create}: Operation not permitted"), true, "AppArmor");
        check(
            "mount a tmpfs: Permission denied (os error 13)",
            true,
            "doctor --fix",
        );
        check("mount /proc: Operation not permitted", false, "unmask=ALL");
        check(
            "set the host name: Operation not permitted",
            false,
            "seccomp=unconfined",
        );
        check("make a pipe: Too many open files", false, "ulimit -n");
        check(
            "hand over the sockets: Too many references: cannot splice",
            false,
            "ulimit -n",
        );
        assert_eq!(Restrictions::default().remedy("something else"), None);
        let few_files = Restrictions {
            few_files: true,
            ..Restrictions::default()
        };
        assert!(few_files.remedy("the zygote is gone").is_some());
    }
}
