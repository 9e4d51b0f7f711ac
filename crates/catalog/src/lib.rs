//! An immutable snapshot of all tools: names, search, signatures, stubs and argument checks; no I/O, no lock.
//!
//! A snapshot is built from the upstream servers' lists, and replaced as a whole when a list changes. All of
//! it is foreign input: depth and size of schemas are bounded, `$ref`s stay inside the schema, and every text
//! is escaped before it reaches a stub or a signature.

mod arguments;
mod catalog;
mod entry;
mod fields;
mod learned;
mod likeness;
mod names;
mod resolve;
mod schema;
mod search;
mod shapes;
mod shell_words;
mod signature;
mod stub;
mod text;
mod tree;

pub use arguments::{ArgumentError, ArgumentValidator, Path, StaticArguments};
pub use catalog::{Catalog, CurrentTools, Server};
pub use entry::Entry;
pub use fields::{NoField, Step, no_field};
pub use learned::{
    CALLS_UNTIL_STABLE, Drift, DriftKind, Learned, MAX_LEARNED_RESULT, declared_drift, other_block_kinds,
    program_value,
};
pub use likeness::nearest;
pub use names::{PYTHON_KEYWORDS, aliases, normalise};
pub use resolve::{Unknown, UnknownKind};
pub use search::{FEATURES, Features, Hit, Ranking, Search, SearchHits, WordMatching, stem, synonyms, words};
pub use signature::{UNDECLARED_RESULT, UNDECLARED_RESULT_NOTE, type_of_value};
pub use stub::{Language, Observed, SHARED_MODULE, declarations, wrappers};
pub use text::{python_scalar, python_string, summary};
pub use tree::tree;
