//! The `standard` surface: passes the upstream servers' tools, resources and prompts through with every field.

mod client;
mod handler;
mod input_router;
mod lists;
mod protocol;
mod relay;
mod results;
mod routes;
mod service;
mod suspended;
mod upstream_call;

pub use handler::{LOG_LEVELS, standard};
pub use service::{Listing, StandardService, Upstream};
