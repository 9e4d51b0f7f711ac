//! The session library: what a zygote runs between a request of the host and the first byte of user code.
//!
//! The code makes raw system calls only, allocates nothing and uses no libc: it must work in a process that was cloned
//! without its C library's knowledge. `serve` clones one child per request. The child confines itself (`confine`) and
//! returns to the interpreter. `zygote.py` calls the exported functions at the end of this file through ctypes.

mod arch;
mod confine;
mod landlock;
mod serve;
mod sys;
mod text;
pub mod wire;

#[cfg(not(codeyard_session_library))]
pub(crate) use confine::{Descriptors, alone};
#[cfg(not(codeyard_session_library))]
pub use confine::{HOST_NAME, Step};
#[cfg(not(codeyard_session_library))]
pub(crate) use landlock::{NetworkAccess, create_for_server, enforce};
#[cfg(not(codeyard_session_library))]
pub use landlock::{PathAccess, scope_signals};
#[cfg(not(codeyard_session_library))]
pub(crate) use sys::Errno;
pub use sys::{EXIT_PANIC, Filter, exit};

/// Creates the Landlock ruleset of sessions; returns a descriptor or a negative error number.
#[unsafe(no_mangle)]
pub extern "C" fn codeyard_ruleset() -> i64 {
    landlock::create()
}

/// Allows `access` (see [`landlock::PathAccess`]) beneath `path`; returns 0 or a negative error number.
///
/// # Safety
/// `path` is a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn codeyard_allow(ruleset: i32, path: *const u8, access: u32) -> i64 {
    // SAFETY: the caller passes a NUL-terminated string.
    unsafe { landlock::allow(ruleset, path, access) }
}

/// Drops the rights that a zygote does not need and loads the filter that all sessions inherit; returns 0 or a negative
/// error number.
///
/// # Safety
/// `instructions` points to `len` BPF instructions of eight bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn codeyard_confine_zygote(instructions: *const u8, len: u16) -> i64 {
    // SAFETY: the caller passes a filter of that length.
    unsafe { confine::zygote(Filter { len, instructions }) }
}

/// Serves session requests on descriptor `control` until the host closes it.
///
/// Returns in each confined child with the request's flags (not negative); the child's channel is descriptor 3.
/// Returns -1 in the zygote when the host is gone.
///
/// # Safety
/// `instructions` points to `len` BPF instructions of eight bytes; `tid` is the address of the C library's thread id of
/// the calling thread, or null; the process has one thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn codeyard_serve(
    control: i32,
    ruleset: i32,
    instructions: *const u8,
    len: u16,
    tid: *mut i32,
) -> i64 {
    let template = serve::Template {
        control,
        ruleset,
        filter: Filter { len, instructions },
        tid,
    };
    // SAFETY: the caller keeps the filter alive and has one thread.
    unsafe { serve::serve(&template) }
}
