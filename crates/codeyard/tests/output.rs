//! What a result looks like: forms, tables, handles, and markers for what is no text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "output/binary.rs"]
mod binary;
#[path = "output/formats.rs"]
mod formats;
#[path = "output/handles.rs"]
mod handles;
#[path = "output/printed.rs"]
mod printed;
#[path = "output/tables.rs"]
mod tables;

#[expect(clippy::print_stderr, reason = "a test says why it shows nothing here")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}
