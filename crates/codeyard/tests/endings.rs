//! However codeyard, its zygote, a guest or a client ends, all that hangs below ends with it, and the next start works.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails here"
)]

#[path = "endings/guests.rs"]
mod guests;
#[path = "endings/machine.rs"]
mod machine;
#[path = "endings/races.rs"]
mod races;
#[path = "endings/runs.rs"]
mod runs;
#[path = "endings/signals.rs"]
mod signals;
#[path = "endings/trees.rs"]
mod trees;
