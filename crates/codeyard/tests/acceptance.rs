//! The acceptance cases of the `code` surface, over the binary and its standard streams.
//!
//! `.output` of a case is `stdout`, `.error` is `error` or `stderr`, and its servers are those of `test-support`.

#[path = "acceptance/confinement.rs"]
mod confinement;
#[path = "acceptance/language.rs"]
mod language;
#[path = "acceptance/limits.rs"]
mod limits;
#[path = "acceptance/output.rs"]
mod output;
#[path = "acceptance/protocol.rs"]
mod protocol;
#[path = "acceptance/upstreams.rs"]
mod upstreams;
