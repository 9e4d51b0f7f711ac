//! The TypeScript guest: QuickJS with a platform like Node's, in a jailed process.
//!
//! With namespaces, the process is cloned for each session; without, each session executes it anew.
//!
//! Reading order:
//!
//! - `start`: chooses between the two.
//! - `zygote`: work before and after the clone.
//! - `alone`: a session in its own process.
//! - `session`: the engine of a session; `guest-session` has the loop that receives programs.
//! - `run`: one program, from its text to its result.
//! - `engine`: the engine, its modules and the functions that Rust calls in them.
//! - `process_engine`: Node or Deno instead of QuickJS.
//! - `modules`: modules that programs import.
//! - `inputs`: clock and randomness of recorded runs.
//! - `native`: the machine's functions below the platform.
//! - `bytes`: the only place that reads the engine's memory.

mod alone;
mod bytes;
#[cfg(test)]
mod cases;
mod engine;
mod failure;
mod inputs;
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
