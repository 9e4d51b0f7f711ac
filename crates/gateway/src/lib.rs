//! The downstream edge: MCP over standard input and output, with the `code` surface.
//!
//! Only this crate knows clients' wire types; what a client sends is checked and converted here, and goes on as
//! plain requests to a [`CodeService`].

mod code;
mod serve;
mod stdio;

pub use code::{
    CodeService, Detail, Execute, Executed, NotExecuted, NotListed, NotSearched, Search, error_text,
};
pub use serve::{Connection, serve_code};
pub use stdio::{Pipes, Signals};
