//! Files of MCP clients: where they are, what their entries mean, and edits that leave the rest unchanged.
//!
//! Pure: paths are computed from values, files are texts. The caller reads and writes.

mod client;
mod client_file;
mod document;
mod edit;
mod entry;
mod env_file;
mod filter;
mod mask;
mod plain;
mod read;
mod secrets;
mod variables;

pub use client::{Client, TokenPlace};
pub use client_file::{ClientFile, Surroundings};
pub use document::{Format, Unreadable};
pub use edit::{
    BearerToken, Change, HttpEntry, OwnEntry, ProcessEntry, Refused, Restored, TOKEN_VARIABLE, Taken, change,
    data, fresh, installed, own_texts, restore,
};
pub use env_file::env_file;
pub use filter::Filter;
pub use mask::masked;
pub use plain::plain_texts;
pub use read::{ClientServer, read};
pub use secrets::{RemainingSecret, found as found_secrets, hide, names_secret};
