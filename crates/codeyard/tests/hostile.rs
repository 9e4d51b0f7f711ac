//! Hostile guests: each `hostile/*.py` is a program that tries something and says how each attempt ended.
//!
//! Attempts that a control shows to succeed outside are the probes of `codeyard doctor --attack`, which `attack.rs` runs.
//! Here are the programs that need a client, a channel or a whole codeyard around them. After each the next session
//! works, and at the end of a test the host is as before and no process, mount, control group or file is left.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails here"
)]

#[path = "hostile/bombs.rs"]
mod bombs;
#[path = "hostile/channel.rs"]
mod channel;
#[path = "hostile/doors.rs"]
mod doors;
#[path = "hostile/handles.rs"]
mod handles;
#[path = "hostile/host.rs"]
mod host;
#[path = "hostile/landlock.rs"]
mod landlock;
#[path = "hostile/neighbours.rs"]
mod neighbours;
#[path = "hostile/numbers.rs"]
mod numbers;
#[path = "hostile/table.rs"]
mod table;
#[path = "hostile/yard.rs"]
mod yard;
