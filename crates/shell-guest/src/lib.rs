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
//! - `start`: the role of this process.
//! - `session`: the first process of a session, whose programs run in bash.
//! - `shell`: bash, orders to it and its reports; bash's side is `bash/session.bash`.
//! - `run`: one program, from its text to its end.
//! - `requests`: programs' requests to the host.
//! - `command`: the program `mcp`, which sends requests.
//! - `jq`, `rg`: for machines without these programs.
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
