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
mod signature;
mod stub;
mod text;

pub use arguments::{ArgumentError, Check, Partial, Path};
pub use catalog::{Catalog, Present, Server};
pub use entry::Entry;
pub use fields::{NoField, Step, no_field};
pub use learned::{Drift, DriftKind, LARGEST_RESULT, Learned, SETTLED, blocks_beside, declared_drift, seen};
pub use likeness::nearest;
pub use names::{PYTHON_KEYWORDS, aliases, normalise};
pub use resolve::{Unknown, UnknownKind};
pub use search::{Hit, Ranking, Reading, SIGNS, Search, SearchHits, Signs, meant, stem, words};
pub use signature::{ANSWER, ANSWER_NOTE, type_of_value};
pub use stub::{Language, Observed, SHARED_MODULE, declarations, modules, wrappers};
pub use text::{python_scalar, python_string, summary};
