//! What the mode of this machine and user promises, guard by guard: the table of docs/sandbox.md, as data.

use jail::spec::Identity;
use serde::Serialize;

use crate::mode::Mode;

/// One guard of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guard {
    /// Its name: `kernel user`, `counters`, `memory`, `processes`, `cpu`, `files`, `disk`, `mounts ro` or
    /// `mounts rw`.
    pub name: &'static str,
    /// How far it goes.
    pub strength: Strength,
    /// What is promised, in one sentence.
    pub promise: String,
}

/// How far a guard goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// As far as any mode's: it also stands between sessions of different tenants.
    Full,
    /// Less far; the promise says what is not there.
    Weaker,
    /// Nothing is promised; the reason is in its place.
    NotPromised,
}

/// The guards of a mode, in the order of the table.
pub(crate) fn of(mode: &Mode) -> Vec<Guard> {
    let [user, counters, files] = ownership(mode.identity);
    let [memory, processes, cpu] = if mode.groups.is_ok() {
        counted()
    } else {
        uncounted(mode.identity)
    };
    let disk = full(
        "disk",
        "size and number of files of a session's own file system are bound by the kernel",
    );
    vec![user, counters, memory, processes, cpu, files, disk]
}

/// What folders of the user's give beside bytes. `bare` says why read-only ones have no overlay, if they have none.
pub(crate) fn mounts(bare: Option<&str>) -> [Guard; 2] {
    let read_only = match bare {
        None => full(
            "mounts ro",
            "an overlay gives bytes and nothing else: no socket, FIFO, file lock or lease of the host is reached",
        ),
        Some(cause) => Guard {
            strength: Strength::NotPromised,
            ..full(
                "mounts ro",
                &format!("programs reach sockets, FIFOs and file locks in read-only folders: {cause}"),
            )
        },
    };
    let writable = Guard {
        strength: Strength::NotPromised,
        ..full(
            "mounts rw",
            "programs make no sockets and no FIFOs in writable folders, but reach those that the host keeps there, and \
             its file locks",
        )
    };
    [read_only, writable]
}

/// What depends on who sessions are outside.
fn ownership(identity: Identity) -> [Guard; 3] {
    if identity.has_user_per_session() {
        return [
            full(
                "kernel user",
                "one for each session, which owns nothing else and is never the host's",
            ),
            full(
                "counters",
                "timers, watches, descriptors in flight and the like are counted for each session apart",
            ),
            full("files", "mounts and Landlock, and ownership behind them"),
        ];
    }
    [
        weaker(
            "kernel user",
            "this user's own, for all sessions: sessions of one tenant only",
        ),
        weaker(
            "counters",
            "timers, watches and descriptors in flight are counted together with this user's own: a session can use \
             them up for the others and for this user",
        ),
        weaker("files", "mounts and Landlock, and no ownership behind them"),
    ]
}

/// What a control group gives.
fn counted() -> [Guard; 3] {
    [
        full(
            "memory",
            "bound by the session's control group, kernel memory and files included",
        ),
        full("processes", "bound by the session's control group"),
        full(
            "cpu",
            "rate and time are bound and counted by the session's control group",
        ),
    ]
}

/// What there is without one.
fn uncounted(identity: Identity) -> [Guard; 3] {
    let processes = match identity {
        Identity::Single { .. } => "in a user namespace of each session's own",
        Identity::Range { .. } | Identity::Subordinate { .. } => "of each session's own kernel user",
    };
    [
        weaker(
            "memory",
            "bound for each process, and counted for all of them every 50 ms; files and what the kernel holds are not \
             counted, and calls that could hold much there are refused",
        ),
        weaker(
            "processes",
            &format!("at most 16, by the process limit {processes}"),
        ),
        weaker(
            "cpu",
            "the rate in whole cores by affinity; the time is looked at every 50 ms, without processes that ended unseen",
        ),
    ]
}

fn full(name: &'static str, promise: &str) -> Guard {
    Guard {
        name,
        strength: Strength::Full,
        promise: promise.to_owned(),
    }
}

fn weaker(name: &'static str, promise: &str) -> Guard {
    Guard {
        strength: Strength::Weaker,
        ..full(name, promise)
    }
}
