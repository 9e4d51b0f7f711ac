//! The downstream edge: MCP over standard input and output, with the surfaces `code`, `bridge` and `standard`.
//!
//! Only this crate knows clients' wire types; what a client sends is checked and converted here, and goes on as
//! plain requests to a [`CodeService`], a [`BridgeService`] or a [`StandardService`].

mod blocks;
mod bridge;
mod code;
mod printed;
mod receipt;
mod running;
mod serve;
mod standard;
mod stdio;
mod toon;

pub use blocks::block_as_json;
pub use bridge::{BridgeService, Output, RunPython, Selected, Timeouts};
pub use code::{
    CodeService, Detail, Execute, Executed, Exposed, NotExecuted, NotListed, NotSearched, Search,
    SearchedBefore, changed_before_failure, error_text, exposed_definitions, own_definitions, receipt_of,
    value_text,
};
pub use receipt::{DirectCost, Receipt, Receipts, used};
pub use serve::{Connection, serve_bridge, serve_code, serve_standard};
pub use standard::{Listing, StandardService, Upstream};
pub use stdio::{Pipes, Signals};
