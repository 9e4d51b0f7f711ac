//! What MCP clients keep their servers in: where the files are, what their entries mean, and how one is changed without touching the rest.
//!
//! Pure: places are computed from values, files are texts. Whoever calls reads and writes.

mod client;
mod document;
mod edit;
mod entry;
mod place;
mod read;
mod secrets;
mod variables;

pub use client::Client;
pub use document::{Format, Unreadable};
pub use edit::{Change, Refused, Taken, change};
pub use place::{Place, Surroundings};
pub use read::{Found, read};
pub use secrets::{hide, is_secret, literals};
