//! The `code` surface as a client meets it, over MCP stdio on the binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "surface/arguments.rs"]
mod arguments;
#[path = "surface/blocks.rs"]
mod blocks;
#[path = "surface/check.rs"]
mod check;
#[path = "surface/finding.rs"]
mod finding;
#[path = "surface/listing.rs"]
mod listing;
#[path = "surface/offers.rs"]
mod offers;
#[path = "surface/output.rs"]
mod output;
#[path = "surface/own_rules.rs"]
mod own_rules;
#[path = "surface/policy.rs"]
mod policy;
#[path = "surface/runs.rs"]
mod runs;
#[path = "surface/search.rs"]
mod search;
#[path = "surface/sessions.rs"]
mod sessions;
#[path = "surface/tool_errors.rs"]
mod tool_errors;
#[path = "surface/tools.rs"]
mod tools;
