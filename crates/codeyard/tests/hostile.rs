//! Hostile guests: each `hostile/*.py` is a program that tries something and says how each attempt ended.
//!
//! Each runs in a session, where the table says what it meets, and as its own control outside of one, where the same
//! attempt must succeed; a row whose attempt cannot be made there says why. After each the next session works, and at
//! the end of a test the host is as before and no process, mount, control group or file is left.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails here"
)]

#[path = "hostile/attempts.rs"]
mod attempts;
#[path = "hostile/bombs.rs"]
mod bombs;
#[path = "hostile/channel.rs"]
mod channel;
#[path = "hostile/control.rs"]
mod control;
#[path = "hostile/host.rs"]
mod host;
#[path = "hostile/neighbours.rs"]
mod neighbours;
#[path = "hostile/numbers.rs"]
mod numbers;
#[path = "hostile/places.rs"]
mod places;
#[path = "hostile/table.rs"]
mod table;
#[path = "hostile/yard.rs"]
mod yard;
