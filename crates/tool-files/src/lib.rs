//! Finds tools in Python files, which are read as text and never imported or run.
//!
//! ```text
//! DIR/servers/<server>/<tool>.py ─► walk (names, links, bounds) ─► read (the parser's tree: one function) ─► Found
//! ```
//!
//! The tool is the function with the file's name, else the first without a leading underscore. Its
//! parameters become a JSON Schema, its docstring the description. Files without a usable tool get a finding.

mod annotation;
mod classes;
mod docstring;
mod finding;
mod function;
mod notices;
mod read;
mod scanner;
mod stamp;
#[cfg(test)]
mod tests;
mod walk;

pub use finding::Finding;
pub use read::{MARK, ToolFile};
pub use scanner::{ScannedTools, Scanner, Server};
