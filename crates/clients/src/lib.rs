//! Files of MCP clients: paths, meaning of entries, and edits that leave all other text unchanged.
//!
//! Pure: computes paths from values, and handles files as texts. The caller reads and writes.

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
    BearerToken, Change, HttpEntry, OwnEntry, ProcessEntry, Refused, ReplacedServer, Restored,
    TOKEN_VARIABLE, change, data, fresh, installed, own_texts, restore,
};
pub use env_file::env_file;
pub use filter::Filter;
pub use mask::masked;
pub use plain::plain_texts;
pub use read::{ClientServer, read};
pub use secrets::{RemainingSecret, found as found_secrets, hide, names_secret};
