//! The zygote of a guest that is part of this program: it confines itself, and returns as a session in each clone.
//!
//! The launcher executes it in the template, as it executes Python. Python's `zygote.py` takes the same steps.

mod code_pages;

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::session::{self, PathAccess};

/// Descriptor of the socket to the host: the control socket in a zygote, the channel in a session.
pub const CONTROL: i32 = 3;

const FILTERS: &str = "/opt/codeyard/filters";

/// Landlock rules of every session. Later mounts lie below these directories, because a rule on a directory that a
/// mount covers does not hold.
const RULES: [(&CStr, PathAccess); 11] = [
    (c"/", PathAccess::List),
    (c"/usr", PathAccess::Execute),
    (c"/bin", PathAccess::Execute),
    (c"/lib", PathAccess::Execute),
    (c"/lib64", PathAccess::Execute),
    (c"/opt", PathAccess::Execute),
    (c"/etc", PathAccess::Read),
    (c"/k", PathAccess::Read),
    (c"/dev", PathAccess::Device),
    (c"/rw", PathAccess::Own),
    (c"/at", PathAccess::Attached),
];

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A step that failed while a zygote started.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {cause}")]
pub struct ZygoteError {
    step: String,
    cause: io::Error,
}

/// Whether sessions may execute files that they wrote to their own file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFiles {
    /// Only read and write.
    Data,
    /// Read, write and execute.
    Executable,
}

/// Confines this process, reports to the host that it can make sessions, and serves requests. Returns in every
/// session, confined, with the channel as descriptor [`CONTROL`]. The zygote itself ends with its host.
///
/// `greeting` receives the zygote's address space in bytes and returns its first message.
///
/// # Errors
/// The failed step; then no request was served.
pub fn become_session(own_files: OwnFiles, greeting: impl FnOnce(u64) -> Vec<u8>) -> Result<(), ZygoteError> {
    code_pages::inherit().map_err(|cause| error("keep the code's pages mapped", cause))?;
    let ruleset = ruleset(own_files)?;
    let base = filter("zygote.bpf")?;
    let session = filter("session.bpf")?;
    // SAFETY: the filter lives until the call returns, and its length is that of the file.
    let confined = unsafe { session::codeyard_confine_zygote(base.as_ptr(), instructions(base)) };
    checked(confined, "confine the zygote")?;
    refuse_threads()?;
    // Ignore interrupts until a session has a handler, because a session can be interrupted at once.
    crate::launcher::sys::ignore_interrupts();
    let tid = tid_address();
    let greeting = greeting(address_space()?);
    // SAFETY: the descriptor is open for the life of the process.
    let control = unsafe { BorrowedFd::borrow_raw(CONTROL) };
    rustix::io::write(control, &greeting).map_err(|cause| error("greet the host", cause.into()))?;
    // SAFETY: the filter is never freed, the address is null or the C library's, and the process has one thread.
    let flags =
        unsafe { session::codeyard_serve(CONTROL, ruleset, session.as_ptr(), instructions(session), tid) };
    if flags < 0 {
        session::exit(0);
    }
    Ok(())
}

/// The channel of a session. Call this once.
pub fn channel() -> UnixStream {
    // SAFETY: the descriptor is the session's channel, and only its owner uses it.
    UnixStream::from(unsafe { OwnedFd::from_raw_fd(CONTROL) })
}

/// Sends the host the reason why this zygote cannot serve.
pub fn give_up(message: &[u8]) -> ! {
    // SAFETY: the descriptor is open for the life of the process.
    let control = unsafe { BorrowedFd::borrow_raw(CONTROL) };
    // The host may be gone.
    let _ = rustix::io::write(control, message);
    session::exit(1)
}

/// The path by which this process was executed, links included; `None` if the kernel did not pass it.
pub fn executed_path() -> Option<PathBuf> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    // SAFETY: getauxval takes a number and reads the vector that the kernel has put on the stack.
    let path = unsafe { libc::getauxval(libc::AT_EXECFN) };
    if path == 0 {
        return None;
    }
    // SAFETY: the kernel has put a string with its end here, which nothing changes or frees.
    let path = unsafe { CStr::from_ptr(path as *const libc::c_char) };
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

/// Installs the interrupt handler; [`is_interrupted`] reports interrupts.
///
/// # Errors
/// If the system refuses the handler.
pub fn catch_interrupts() -> io::Result<()> {
    extern "C" fn note(_signal: i32) {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
    // SAFETY: all bytes zero is a valid `sigaction`: no flags, so that a wait ends with EINTR, and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = note as *const () as usize;
    // SAFETY: the handler only stores into an atomic; the action outlives the call.
    match unsafe { libc::sigaction(libc::SIGINT, &raw const action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a write beyond the file size limit fail instead of ending the process. Only sessions without a pid namespace
/// need this: the signal does not end a namespace's first process.
pub fn survive_large_files() {
    // SAFETY: ignoring a signal runs no code.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Whether an interrupt has arrived since [`forget_interrupt`].
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Clears the interrupt flag, before the next run begins.
pub fn forget_interrupt() {
    INTERRUPTED.store(false, Ordering::Relaxed);
}

/// Limits this process to one heap. Each further heap would reserve 64 MiB of addresses, which the memory limit
/// counts.
pub fn share_heap() {
    // SAFETY: mallopt takes numbers.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

fn ruleset(own_files: OwnFiles) -> Result<i32, ZygoteError> {
    let made = session::codeyard_ruleset();
    let ruleset = i32::try_from(checked(made, "make the Landlock ruleset")?).unwrap_or(-1);
    for (path, access) in RULES {
        let access = match (access, own_files) {
            (PathAccess::Own, OwnFiles::Executable) => PathAccess::OwnExecutable,
            (access, _) => access,
        };
        let shown = path.to_string_lossy();
        if Path::new(&*shown).exists() {
            // SAFETY: the path ends with NUL.
            let allowed =
                unsafe { session::codeyard_allow(ruleset, path.as_ptr().cast::<u8>(), access as u32) };
            checked(allowed, &format!("allow {shown}"))?;
        }
    }
    Ok(ruleset)
}

fn filter(name: &str) -> Result<&'static [u8], ZygoteError> {
    let path = Path::new(FILTERS).join(name);
    let bytes = std::fs::read(&path).map_err(|cause| error(&format!("read {}", path.display()), cause))?;
    Ok(bytes.leak())
}

fn instructions(filter: &[u8]) -> u16 {
    const INSTRUCTION: usize = 8;
    u16::try_from(filter.len() / INSTRUCTION).unwrap_or(u16::MAX)
}

/// A clone keeps only one thread.
fn refuse_threads() -> Result<(), ZygoteError> {
    let counted = std::fs::read_dir("/proc/self/task").map(Iterator::count);
    match counted.map_err(|cause| error("count the threads", cause))? {
        1 => Ok(()),
        more => Err(error(
            "count the threads",
            io::Error::other(format!("{more} after loading")),
        )),
    }
}

/// Address of the C library's id of this thread, so that a clone receives its own id; null if unknown.
fn tid_address() -> *mut i32 {
    const PR_GET_TID_ADDRESS: i32 = 40;
    let mut address: *mut i32 = ptr::null_mut();
    // SAFETY: the kernel writes one pointer to this place.
    let asked = unsafe { libc::prctl(PR_GET_TID_ADDRESS, &raw mut address, 0, 0, 0) };
    if asked != 0 || address.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the address is the C library's, in the memory of this thread.
    let held = unsafe { ptr::read_volatile(address) };
    if held == rustix::thread::gettid().as_raw_nonzero().get() {
        address
    } else {
        ptr::null_mut()
    }
}

fn address_space() -> Result<u64, ZygoteError> {
    let statm =
        std::fs::read_to_string("/proc/self/statm").map_err(|cause| error("read /proc/self/statm", cause))?;
    let pages: u64 = statm
        .split(' ')
        .next()
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    Ok(pages * u64::try_from(rustix::param::page_size()).unwrap_or(0))
}

fn checked(result: i64, step: &str) -> Result<i64, ZygoteError> {
    if result >= 0 {
        return Ok(result);
    }
    let errno = i32::try_from(-result).unwrap_or(0);
    Err(error(step, io::Error::from_raw_os_error(errno)))
}

fn error(step: &str, cause: io::Error) -> ZygoteError {
    ZygoteError {
        step: step.to_owned(),
        cause,
    }
}
