//! Root of the session library: the `no_std` build of `session` that the zygote loads.
//!
//! The build script compiles this file separately. The crate has the same source as its module `session`,
//! so that lints and tests cover it.

#![no_std]

mod session;

/// Ends the process at an unexpected panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    session::exit(session::EXIT_PANIC)
}
