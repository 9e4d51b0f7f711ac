//! The guards that each mode promises: the table of `docs/sandbox.md` as data.

use jail::spec::Identity;
use sandbox_host::doctor::Guard;

use crate::mode::Mode;

/// The guards of a mode, in the table's order.
pub(crate) fn of(mode: &Mode) -> Vec<Guard> {
    let [user, counters, files] = ownership(mode.identity);
    let [memory, processes, cpu] = if mode.groups.is_ok() {
        counted()
    } else {
        uncounted(mode.identity)
    };
    let disk = Guard::full(
        "disk",
        "size and number of files of a session's own file system are bound by the kernel",
    );
    vec![user, counters, memory, processes, cpu, files, disk]
}

/// What programs can reach in attached folders, besides the bytes of files. `without_overlay` is the reason why
/// read-only folders have no overlay; `None` if they have one.
pub(crate) fn mounts(without_overlay: Option<&str>) -> [Guard; 2] {
    let read_only = match without_overlay {
        None => Guard::full(
            "mounts ro",
            "an overlay gives bytes and nothing else: no socket, FIFO, file lock or lease of the host is reached",
        ),
        Some(cause) => Guard::not_promised(
            "mounts ro",
            format!("programs reach sockets, FIFOs and file locks in read-only folders: {cause}"),
        ),
    };
    let writable = Guard::not_promised(
        "mounts rw",
        "programs make no sockets and no FIFOs in writable folders, but reach those that the host keeps there, and its \
         file locks",
    );
    [read_only, writable]
}

fn ownership(identity: Identity) -> [Guard; 3] {
    if identity.has_user_per_session() {
        return [
            Guard::full(
                "kernel user",
                "one for each session, which owns nothing else and is never the host's",
            ),
            Guard::full(
                "counters",
                "timers, watches, descriptors in flight and the like are counted for each session apart",
            ),
            Guard::full("files", "mounts and Landlock, and ownership behind them"),
        ];
    }
    [
        Guard::weaker(
            "kernel user",
            "this user's own, for all sessions: sessions of one tenant only",
        ),
        Guard::weaker(
            "counters",
            "timers, watches and descriptors in flight are counted together with this user's own: a session can use \
             them up for the others and for this user",
        ),
        Guard::weaker("files", "mounts and Landlock, and no ownership behind them"),
    ]
}

fn counted() -> [Guard; 3] {
    [
        Guard::full(
            "memory",
            "bound by the session's control group, kernel memory and files included",
        ),
        Guard::full("processes", "bound by the session's control group"),
        Guard::full(
            "cpu",
            "rate and time are bound and counted by the session's control group",
        ),
    ]
}

fn uncounted(identity: Identity) -> [Guard; 3] {
    let processes = match identity {
        Identity::Single { .. } => "in a user namespace of each session's own",
        Identity::Range { .. } | Identity::Subordinate { .. } => "of each session's own kernel user",
    };
    [
        Guard::weaker(
            "memory",
            "bound for each process, and counted for all of them every 50 ms; files and what the kernel holds are not \
             counted, and calls that could hold much there are refused",
        ),
        Guard::weaker(
            "processes",
            format!("at most 16, by the process limit {processes}"),
        ),
        Guard::weaker(
            "cpu",
            "the rate in whole cores by affinity; the time is looked at every 50 ms, without processes that ended unseen",
        ),
    ]
}
