//! Differences between processors: entry code and numbers of system calls.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
compile_error!(
    "codeyard's jail supports x86_64; add the file of this processor beside session/arch/x86_64.rs"
);
