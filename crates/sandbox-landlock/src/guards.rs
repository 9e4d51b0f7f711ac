//! The guards that this backend promises on this machine, named as those of the backend `process`.

use sandbox_host::doctor::Guard;

use crate::host::HostResources;

/// In the order of the table in docs/sandbox.md.
pub fn of(host: &HostResources) -> Vec<Guard> {
    let user_per_session = host.has_user_per_session();
    let has_cgroups = host.groups.is_ok();
    let depending = [
        (
            user_per_session,
            "kernel user",
            "one for each session, which owns nothing else and is never the host's",
            "this user's own, for all sessions: sessions of one tenant only",
        ),
        (
            user_per_session,
            "counters",
            "descriptors in flight, watches and the like are counted for each session apart",
            "descriptors in flight and watches are counted together with this user's own",
        ),
        (
            has_cgroups,
            "memory",
            "bound by the session's control group, kernel memory included",
            "bound for each process, and for the session by polling",
        ),
        (
            has_cgroups || user_per_session,
            "processes",
            "bound by the kernel",
            "counted by polling; a session that exceeds the limit is ended",
        ),
        (
            has_cgroups,
            "cpu",
            "bound by the session's control group",
            "bound in whole cores",
        ),
    ];
    let depending = depending.map(|(is_full, name, full, weaker)| match is_full {
        true => Guard::full(name, full),
        false => Guard::weaker(name, weaker),
    });
    let fixed = [
        Guard::weaker(
            "files",
            "Landlock and seccomp; names, owners and sizes of the host's files can be seen, no mounts hide them",
        ),
        Guard::weaker(
            "disk",
            "size and number of a session's own files are counted by polling; a session that exceeds the \
            limit is ended",
        ),
        Guard::not_promised(
            "mounts",
            "programs reach no sockets, but FIFOs and file locks in the folders that they are shown: there is no overlay",
        ),
    ];
    depending.into_iter().chain(fixed).collect()
}
