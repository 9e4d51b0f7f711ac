//! The `code` surface: two tools, behind which everything that is connected can be called from programs.

mod arguments;
mod artifacts;
mod binary;
mod exposed;
mod files;
mod format;
mod handle;
mod handler;
mod render;
mod service;
mod shown;
mod table;
mod tools;

pub(crate) use binary::spare;
pub use exposed::exposed_definitions;
pub(crate) use handler::CodeHandler;
pub use handler::{own_definitions, receipt_of};
pub use render::error_text;
pub use service::{
    CodeService, Detail, Execute, Executed, Exposed, NotExecuted, NotListed, NotSearched, Search,
    SearchedBefore, changed_before_failure,
};
pub use shown::value_text;
