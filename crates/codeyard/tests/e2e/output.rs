//! Results: forms, tables, handles, and markers for binary data.

mod binary;
mod formats;
mod handles;
mod printed;
mod tables;

#[expect(clippy::print_stderr, reason = "a skipped test prints its reason")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}
