//! What a result looks like: forms, tables, handles, and markers for what is no text.

mod binary;
mod formats;
mod handles;
mod printed;
mod tables;

#[expect(clippy::print_stderr, reason = "a test says why it shows nothing here")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}
