//! Hostile guests: each `hostile/*.py` is a program that attacks and prints the result of each attempt.
//!
//! `attack.rs` runs the probes of `codeyard doctor --attack`, whose controls show that an attempt succeeds outside.
//! The programs here need a client, a channel or a whole codeyard. After each, the next session works.
//! At a test's end, the host is unchanged and no process, mount, control group or file is left.

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
