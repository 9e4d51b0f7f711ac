//! Root of the session library: the `no_std` build of `session` that the zygote loads.
//!
//! The build script compiles this file by itself; the crate sees the same source as its module `session`,
//! so that lints and tests read what runs.

#![no_std]

mod session;

/// Nothing here panics on purpose; if it does, the process that did so ends.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    session::exit(session::EXIT_PANIC)
}
