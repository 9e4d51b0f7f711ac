//! Converts TypeScript to JavaScript: removes types, and makes a program's top level outlive its run; pure.
//!
//! ```text
//! text ─► strip (parse, remove types, print, map of lines) ─► script (top-level names become the session's) ─► Script
//!      ─► calls (of tools, for the check before the run) ─► FoundCalls
//! ```

mod calls;
mod decorators;
mod error;
mod lines;
mod nested_new;
mod script;
mod strip;

pub use calls::{Bound, calls};
pub use error::SyntaxError;
pub use lines::LineMap;
pub use script::{ProgramValue, Script, script};

/// A module's text as JavaScript.
#[derive(Debug)]
pub struct Module {
    /// An ECMAScript module.
    pub code: String,
    /// From `code` back to the text.
    pub lines: LineMap,
}

/// Removes the types of a module.
///
/// # Errors
/// The first error of the text.
pub fn module(source: &str) -> Result<Module, SyntaxError> {
    let stripped = strip::strip(source, |_| {})?;
    Ok(Module {
        code: stripped.code,
        lines: stripped.lines,
    })
}
