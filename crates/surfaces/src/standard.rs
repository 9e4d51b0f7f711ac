//! The `standard` surface: the upstream servers' own tools, resources and prompts, passed through with every field.

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
