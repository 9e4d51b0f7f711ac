//! The one crate with raw system calls: namespaces, cgroups, limits, Landlock, seccomp, execution.
//!
//! Reading order:
//!
//! - `spec`: the specification of a zygote.
//! - `launcher`: the helper process that makes a zygote.
//! - `session`: the code that a zygote runs to make a session.
//! - `seccomp`: filters from data.
//! - `zygote`: the host's handle of a zygote.
//! - `own_zygote`: the zygote of a guest that is part of this program.
//! - `keeper`: a guest without namespaces.
//! - `attach`: directories that sessions see.
//! - `cgroup` and `lease`: control groups and users that the host prepares.
//! - `loopback`: files as block devices.
//! - `guards`: guards that tests leave out.
//! - `supervise`: the subreaper of upstream servers.
//! - `confinement`: the rights of an upstream server.
//! - `signal`: ends processes by identity.
//! - `usage`: what this process has used.

pub mod attach;
pub mod cgroup;
pub mod confinement;
pub mod guards;
pub mod keeper;
pub mod launcher;
pub mod lease;
pub mod loopback;
pub mod machine;
pub mod memory;
pub mod message;
pub mod own_zygote;
pub mod quota;
pub mod seccomp;
pub mod session;
pub mod signal;
pub mod spec;
pub mod supervise;
pub mod usage;
pub mod zygote;

/// Whether this build starts guests without confinement, for benchmarks.
pub const HAS_UNCONFINED_GUESTS: bool = cfg!(feature = "unconfined-guests");

/// If the arguments name a helper process, runs it and does not return.
///
/// Programs that start guests or upstream servers must call this first in `main`, before any thread exists.
pub fn dispatch() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(first) = arguments.next() else { return };
    if first == launcher::ARGUMENT {
        session::exit(launcher::main());
    }
    if first == keeper::ARGUMENT {
        session::exit(keeper::main());
    }
    if first == supervise::ARGUMENT {
        supervise::main(arguments);
    }
}
