//! Memory of this process that the allocator keeps although nothing is in it.

/// Gives it back to the kernel: after work that needed much for a moment, such as building an index.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes a number, and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
