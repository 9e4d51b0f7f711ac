//! Hostile guests: each `hostile/*.py` is a program that tries something and says how each attempt ended.
//!
//! Attempts that a control shows to succeed outside are the probes of `codeyard doctor --attack`, which `attack.rs` runs.
//! Here are the programs that need a client, a channel or a whole codeyard around them. After each the next session
//! works, and at the end of a test the host is as before and no process, mount, control group or file is left.

mod bombs;
mod channel;
mod doors;
mod handles;
mod host;
mod landlock;
mod neighbours;
mod numbers;
mod race;
mod table;
mod yard;
