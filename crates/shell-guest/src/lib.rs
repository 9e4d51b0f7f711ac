//! The shell guest: bash in a jailed process, and the programs that Codeyard adds to those of the machine.
//!
//! ```text
//! host ◄─ frames ─► first process (finds calls, has them judged) ◄─ orders, reports ─► bash ─► programs
//!                         ▲                                                                    │
//!                         └────────────────── requests through a FIFO ─────────────── `mcp` ◄──┘
//! ```
//!
//! Reading order:
//!
//! - `start`: what this process is.
//! - `session`: the first process of a session, whose programs run in bash.
//! - `shell`: bash and the lines to and from it; its own side is `bash/session.bash`.
//! - `run`: one program, from its text to its end.
//! - `requests`: what the programs of a session ask the host for.
//! - `command`: the program `mcp`, which asks.
//! - `jq`, `rg`: for machines that have none.
//! - `calls`: the calls that a program's text shows.

mod calls;
mod command;
mod jq;
mod processes;
mod requests;
mod rg;
mod run;
mod session;
mod settings;
mod shell;
mod start;

pub use start::{FILES, PROGRAMS, dispatch};
