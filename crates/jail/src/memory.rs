//! Freed memory that the allocator of this process still holds.

/// Returns free memory to the kernel, after work with a short peak such as building an index.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes a number, and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
