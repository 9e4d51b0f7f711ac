//! The TypeScript guest: QuickJS with a platform like Node's, in a jailed process.
//!
//! Where there are namespaces, the process is cloned for every session; elsewhere every session executes it anew.
//!
//! Reading order:
//!
//! - `start`: which of the two the process is.
//! - `zygote`: what the process does before and after it is cloned.
//! - `alone`: a session in its own process.
//! - `session`: the engine of a session; `guest-session` has the loop that receives programs.
//! - `run`: one program, from its text to its result.
//! - `engine`: the engine, its modules and the functions that Rust calls in them.
//! - `process_engine`: Node or Deno in the place of QuickJS.
//! - `modules`: what programs import.
//! - `native`: the functions of the machine that the platform is built on.
//! - `bytes`: the one place that reads the engine's memory.

mod alone;
mod bytes;
#[cfg(test)]
mod cases;
mod engine;
mod failure;
mod json;
mod modules;
mod native;
mod output;
mod places;
mod process_engine;
mod report;
mod resolve;
mod run;
mod session;
mod shared;
mod sources;
#[cfg(test)]
mod standard;
mod start;
mod timers;
mod zygote;

pub use process_engine::files as engine_files;
pub use start::dispatch;
