//! The `code` surface over MCP stdio on the binary.

mod arguments;
mod blocks;
mod check;
mod finding;
mod listing;
mod offers;
mod output;
mod own_rules;
mod policy;
mod runs;
mod search;
mod sessions;
mod tool_errors;
mod tools;
