//! What this backend promises on this machine, guard by guard, in the words of the other backend's table.

use sandbox_process::doctor::{Guard, Strength};

use crate::ground::Ground;

/// The guards, in the order of the table of docs/sandbox.md.
pub fn of(ground: &Ground) -> Vec<Guard> {
    let own_user = ground.has_user_per_session();
    let grouped = ground.groups.is_ok();
    vec![
        either(
            own_user,
            "kernel user",
            "one for each session, which owns nothing else and is never the host's",
            "this user's own, for all sessions: sessions of one tenant only",
        ),
        either(
            own_user,
            "counters",
            "descriptors in flight, watches and the like are counted for each session apart",
            "descriptors in flight and watches are counted together with this user's own",
        ),
        either(
            grouped,
            "memory",
            "bound by the session's control group, kernel memory included",
            "bound for each process, and for the session by polling",
        ),
        either(
            grouped || own_user,
            "processes",
            "bound by the kernel",
            "counted by polling: who has more is ended",
        ),
        either(
            grouped,
            "cpu",
            "bound by the session's control group",
            "bound in whole cores",
        ),
        weaker(
            "files",
            "Landlock and seccomp; names, owners and sizes of the host's files can be seen, no mounts hide them",
        ),
        weaker(
            "disk",
            "size and number of a session's own files are counted by polling: who has more is ended",
        ),
        Guard {
            name: "mounts",
            strength: Strength::NotPromised,
            promise: "programs reach no sockets, but FIFOs and file locks in the folders that they are shown: there is no \
                      overlay"
                .to_owned(),
        },
    ]
}

fn either(holds: bool, name: &'static str, full: &str, less: &str) -> Guard {
    if !holds {
        return weaker(name, less);
    }
    Guard {
        name,
        strength: Strength::Full,
        promise: full.to_owned(),
    }
}

fn weaker(name: &'static str, promise: &str) -> Guard {
    Guard {
        name,
        strength: Strength::Weaker,
        promise: promise.to_owned(),
    }
}
