//! The `standard` surface: the upstream servers' own tools, resources and prompts, passed through with every field.

mod client;
mod desk;
mod directory;
mod flight;
mod handler;
mod lists;
mod names;
mod parked;
mod protocol;
mod relay;
mod results;
mod service;

pub(crate) use client::{Downstream, forward};
pub(crate) use handler::StandardHandler;
pub(crate) use names::exposed as exposed_names;
pub use service::{Listing, StandardService, Upstream};
