//! Python files as tools: found in directories, read as text, never imported or run.
//!
//! ```text
//! DIR/servers/<server>/<tool>.py ─► walk (names, links, bounds) ─► read (the parser's tree: one function) ─► Found
//! ```
//!
//! The tool is the function that has the file's name, else the first one whose name does not begin with an underscore.
//! Its parameters become a JSON Schema, its docstring the description. What cannot be a tool is left out with a finding.

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
