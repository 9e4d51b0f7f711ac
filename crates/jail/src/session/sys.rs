//! Raw system calls with typed arguments; each returns the kernel's result or an error number.

use super::arch::{number, syscall6};

/// Exit status of a process whose library code panicked.
pub const EXIT_PANIC: i32 = 121;
/// Exit status of a child that could not be confined.
pub const EXIT_UNCONFINED: i32 = 120;

/// A compiled seccomp filter in the kernel's layout.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Filter {
    /// Number of instructions.
    pub len: u16,
    /// Eight bytes per instruction.
    pub instructions: *const u8,
}

/// A positive error number of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

pub type Result<T> = core::result::Result<T, Errno>;

fn check(result: isize) -> Result<usize> {
    match usize::try_from(result) {
        Ok(value) => Ok(value),
        Err(_) => Err(Errno(i32::try_from(-result).unwrap_or(i32::MAX))),
    }
}

/// Makes a system call whose arguments are numbers or pointers that outlive the call.
///
/// # Safety
/// As the system call demands.
pub unsafe fn call(number: usize, arguments: &[usize]) -> Result<usize> {
    let mut six = [0; 6];
    for (place, argument) in six.iter_mut().zip(arguments) {
        *place = *argument;
    }
    // SAFETY: the caller vouches for the arguments.
    check(unsafe { syscall6(number, six) })
}

/// Converts a descriptor to an argument; negative ones (such as `AT_FDCWD`) are sign-extended.
pub fn fd(fd: i32) -> usize {
    (fd as isize).cast_unsigned()
}

/// Ends the process with all its threads.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: exit_group takes a number and does not return.
        let _ = unsafe { call(number::EXIT_GROUP, &[fd(status)]) };
    }
}

/// Closes a descriptor; ignores errors.
pub fn close(descriptor: i32) {
    // SAFETY: close takes a number; a wrong one is an error, not undefined behaviour.
    let _ = unsafe { call(number::CLOSE, &[fd(descriptor)]) };
}

pub fn write(descriptor: i32, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the slice is valid for reads of its length.
    unsafe {
        call(
            number::WRITE,
            &[fd(descriptor), bytes.as_ptr() as usize, bytes.len()],
        )
    }
}

/// Opens a path; `flags` choose writing or `O_PATH`.
pub fn open(path: &core::ffi::CStr, flags: usize) -> Result<i32> {
    const AT_FDCWD: i32 = -100;
    // SAFETY: the path is NUL-terminated and outlives the call.
    let opened = unsafe { call(number::OPENAT, &[fd(AT_FDCWD), path.as_ptr() as usize, flags, 0]) }?;
    i32::try_from(opened).map_err(|_| Errno(24))
}

pub fn prctl(option: usize, argument: usize, third: usize) -> Result<usize> {
    // SAFETY: the options used here take numbers only.
    unsafe { call(number::PRCTL, &[option, argument, third, 0, 0]) }
}
