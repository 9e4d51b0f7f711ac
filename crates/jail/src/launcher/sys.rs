//! System calls of the launcher that no safe library offers.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::thread::CapabilitySet;

/// Mount attributes.
pub const RDONLY: u64 = 1;
pub const NOSUID: u64 = 2;
pub const NODEV: u64 = 4;
pub const NOEXEC: u64 = 8;

pub fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn owned(descriptor: libc::c_long) -> io::Result<OwnedFd> {
    let descriptor = i32::try_from(descriptor).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Clones this process into new namespaces of every kind. Returns the child's pid, or `None` in the child.
pub fn clone_init() -> io::Result<Option<i32>> {
    let mut arguments = [0u64; 8];
    arguments[0] = u64::from(
        (libc::CLONE_NEWUSER
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWPID
            | libc::CLONE_NEWNET
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWUTS
            | libc::CLONE_NEWCGROUP)
            .cast_unsigned(),
    );
    arguments[4] = u64::from(libc::SIGCHLD.cast_unsigned());
    // SAFETY: the launcher has one thread, so the child may go on with everything it has, as after fork.
    let child =
        check(unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of_val(&arguments)) })?;
    Ok((child != 0).then(|| i32::try_from(child).unwrap_or(-1)))
}

pub fn fork() -> io::Result<Option<i32>> {
    // SAFETY: the launcher and what it cloned have one thread each.
    let child = check(libc::c_long::from(unsafe { libc::fork() }))?;
    Ok((child != 0).then(|| i32::try_from(child).unwrap_or(-1)))
}

/// Kills every process that this process can signal, except itself. The caller must have scoped signals.
pub fn kill_all_in_reach() {
    const EVERYBODY: libc::pid_t = -1;
    // SAFETY: kill takes numbers.
    unsafe { libc::kill(EVERYBODY, libc::SIGKILL) };
}

/// Ignores interrupts in this process and the program it executes, until the program handles them.
pub fn ignore_interrupts() {
    // SAFETY: signal takes numbers; no handler is installed.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
}

/// Sets `no_new_privs`: executing a program gives no privileges any more.
pub fn forbid_new_privileges() -> io::Result<()> {
    // SAFETY: this option takes numbers.
    check(libc::c_long::from(unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    }))
    .map(drop)
}

pub fn unshare(kind: libc::c_int) -> io::Result<()> {
    // SAFETY: unshare takes a number; single-threaded.
    check(libc::c_long::from(unsafe { libc::unshare(kind) })).map(drop)
}

pub fn die_with_parent() -> io::Result<()> {
    // SAFETY: this option takes a number.
    check(libc::c_long::from(unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
    }))
    .map(drop)
}

/// Becomes user and group `id` permanently, without supplementary groups.
pub fn become_user(id: u32) -> io::Result<()> {
    // Raw calls: the C library's wrappers would signal threads of the process that this one was cloned from. SAFETY:
    // these calls take numbers; setgroups of no groups reads no memory.
    unsafe {
        check(libc::syscall(libc::SYS_setgroups, 0, 0))?;
        check(libc::syscall(libc::SYS_setresgid, id, id, id))?;
        check(libc::syscall(libc::SYS_setresuid, id, id, id)).map(drop)
    }
}

pub fn make_private() -> io::Result<()> {
    // SAFETY: the strings are NUL-terminated constants.
    let result = unsafe {
        let none = std::ptr::null();
        libc::mount(
            none,
            c"/".as_ptr(),
            none,
            libc::MS_REC | libc::MS_PRIVATE,
            none.cast(),
        )
    };
    check(libc::c_long::from(result)).map(drop)
}

pub fn mount(kind: &str, target: &Path, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let (kind, target, options) = (CString::new(kind)?, c_path(target)?, CString::new(options)?);
    // SAFETY: the strings are NUL-terminated and outlive the call.
    let result = unsafe {
        libc::mount(
            kind.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    };
    check(libc::c_long::from(result)).map(drop)
}

/// Returns a detached copy of the mounts at and below `path`.
pub fn open_tree(path: &Path) -> io::Result<OwnedFd> {
    const OPEN_TREE_CLONE: libc::c_uint = 1;
    let flags = OPEN_TREE_CLONE | (libc::O_CLOEXEC | libc::AT_RECURSIVE).cast_unsigned();
    let path = c_path(path)?;
    // SAFETY: the path is NUL-terminated and outlives the call.
    owned(check(unsafe {
        libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags)
    })?)
}

/// Returns a detached copy of the mounts at and below an open directory.
pub fn open_tree_at(directory: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    const OPEN_TREE_CLONE: libc::c_uint = 1;
    let flags =
        OPEN_TREE_CLONE | (libc::O_CLOEXEC | libc::AT_RECURSIVE | libc::AT_EMPTY_PATH).cast_unsigned();
    // SAFETY: the path is a NUL-terminated constant.
    owned(check(unsafe {
        libc::syscall(libc::SYS_open_tree, directory.as_raw_fd(), c"".as_ptr(), flags)
    })?)
}

/// Sets attributes on a detached tree and all mounts below it. With a user namespace, also maps the owners of its
/// files.
pub fn set_mapped_attributes(
    tree: BorrowedFd<'_>,
    attributes: u64,
    map: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    const IDMAP: u64 = 0x10_0000;
    let arguments = match map {
        Some(map) => [
            attributes | IDMAP,
            0,
            0,
            u64::from(map.as_raw_fd().cast_unsigned()),
        ],
        None => [attributes, 0, 0, 0],
    };
    // SAFETY: path and arguments outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const arguments,
            size_of_val(&arguments),
        )
    })
    .map(drop)
}

pub fn open_filesystem(kind: &CStr) -> io::Result<OwnedFd> {
    const CLOSE_ON_EXEC: libc::c_uint = 1;
    // SAFETY: the name is NUL-terminated and outlives the call.
    owned(check(unsafe {
        libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOSE_ON_EXEC)
    })?)
}

/// Makes the file system with one option, as a detached mount.
pub fn mount_filesystem(
    context: BorrowedFd<'_>,
    option: (&CStr, &CStr),
    attributes: u64,
) -> io::Result<OwnedFd> {
    const SET_STRING: libc::c_uint = 1;
    const CREATE: libc::c_uint = 6;
    const CLOSE_ON_EXEC: libc::c_uint = 1;
    let (context, none) = (context.as_raw_fd(), std::ptr::null::<libc::c_char>());
    let configure = |command: libc::c_uint, key: *const libc::c_char, value: *const libc::c_char| {
        // SAFETY: key and value are null or NUL-terminated, and outlive the call.
        check(unsafe { libc::syscall(libc::SYS_fsconfig, context, command, key, value, 0) })
    };
    configure(SET_STRING, option.0.as_ptr(), option.1.as_ptr())?;
    configure(CREATE, none, none)?;
    // SAFETY: fsmount takes numbers.
    owned(check(unsafe {
        libc::syscall(libc::SYS_fsmount, context, CLOSE_ON_EXEC, attributes)
    })?)
}

/// The directory of this process's namespaces. It stays valid when `/proc` belongs to another mount namespace.
pub fn own_namespaces() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        "/proc/self/ns",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

pub fn mount_namespace(namespaces: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(
        namespaces,
        "mnt",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Enters a mount namespace and its root. `namespace` is the namespace or the pidfd of a process in it.
pub fn enter_mounts(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: setns takes numbers; single-threaded.
    check(libc::c_long::from(unsafe {
        libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNS)
    }))
    .map(drop)
}

/// Starts later children of this process in a pid namespace. `namespace` is the namespace or the pidfd of a process
/// in it.
pub fn enter_pids(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: setns takes numbers; single-threaded.
    check(libc::c_long::from(unsafe {
        libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWPID)
    }))
    .map(drop)
}

pub fn attach_at(tree: BorrowedFd<'_>, directory: BorrowedFd<'_>) -> io::Result<()> {
    const BOTH_EMPTY: libc::c_uint = 4 | 0x40;
    // SAFETY: the paths are NUL-terminated constants.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            directory.as_raw_fd(),
            c"".as_ptr(),
            BOTH_EMPTY,
        )
    })
    .map(drop)
}

/// Detaches the topmost mount at a path.
pub fn detach(path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: the path is NUL-terminated.
    let done = unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW) };
    check(libc::c_long::from(done)).map(drop)
}

/// A user namespace in which user and group `inside` are user and group `outside` of this one.
///
/// A child makes it: a process that has become `outside` may map itself to any number inside.
pub fn mapping_namespace(inside: (u32, u32), outside: u32) -> io::Result<OwnedFd> {
    let (reader, writer) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    let Some(child) = fork()? else {
        let sent = map_self(inside, outside)
            .and_then(|namespace| crate::message::send_descriptors(writer.as_fd(), &[namespace.as_fd()]));
        if let Err(error) = &sent {
            // The parent may be gone.
            let _ = crate::message::send_error(writer.as_fd(), &error.to_string());
        }
        crate::session::exit(0);
    };
    drop(writer);
    let reply = crate::message::receive_reply(reader.as_fd());
    let child = rustix::process::Pid::from_raw(child);
    rustix::io::retry_on_intr(|| rustix::process::waitpid(child, rustix::process::WaitOptions::empty()))?;
    match reply? {
        crate::message::LauncherReply::Handover(mut descriptors) => {
            descriptors.pop().ok_or_else(|| io::ErrorKind::InvalidData.into())
        }
        crate::message::LauncherReply::Failure(text) => Err(io::Error::other(text)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Becomes `outside`, maps itself in a new user namespace, and returns the namespace.
fn map_self(inside: (u32, u32), outside: u32) -> io::Result<OwnedFd> {
    become_user(outside)?;
    // Otherwise the process's files in /proc would belong to root.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)?;
    unshare(libc::CLONE_NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{} {outside} 1", inside.0))?;
    std::fs::write("/proc/self/gid_map", format!("{} {outside} 1", inside.1))?;
    Ok(std::fs::File::open("/proc/self/ns/user")?.into())
}

/// Sets attributes on a detached tree and all mounts below it, or on the mount at `/`.
pub fn set_attributes(tree: Option<BorrowedFd<'_>>, attributes: u64) -> io::Result<()> {
    let arguments = [attributes, 0, 0, 0];
    let (descriptor, path, flags) = match tree {
        Some(tree) => (tree.as_raw_fd(), c"", libc::AT_EMPTY_PATH | libc::AT_RECURSIVE),
        None => (libc::AT_FDCWD, c"/", 0),
    };
    // SAFETY: path and arguments outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            descriptor,
            path.as_ptr(),
            flags,
            &raw const arguments,
            size_of_val(&arguments),
        )
    })
    .map(drop)
}

pub fn attach(tree: BorrowedFd<'_>, target: &Path) -> io::Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
    let target = c_path(target)?;
    // SAFETY: the paths are NUL-terminated and outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    })
    .map(drop)
}

/// Makes the current directory the root and detaches the old root.
pub fn pivot() -> io::Result<()> {
    let here = c".".as_ptr();
    // SAFETY: the path is a NUL-terminated constant.
    unsafe {
        check(libc::syscall(libc::SYS_pivot_root, here, here))?;
        check(libc::c_long::from(libc::umount2(here, libc::MNT_DETACH)))?;
    }
    Ok(rustix::process::chdir("/")?)
}

/// A sealed, read-only file in memory.
pub fn sealed_file(name: &str, content: &[u8]) -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, SealFlags};
    let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut rest = content;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// Keeps SYS_ADMIN, SETUID, SETGID and SETPCAP across the execution of the interpreter.
pub fn keep_capabilities() -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    const KEPT: [u32; 4] = [21, 7, 6, 8];
    let mask = KEPT.iter().fold(0, |mask, capability| mask | 1u32 << capability);
    let header = [VERSION_3, 0];
    let data = [mask, mask, mask, 0, 0, 0];
    // SAFETY: header and data have the layout of version 3 and outlive the call.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const data) })?;
    for capability in KEPT {
        // SAFETY: this option takes numbers.
        let raised = unsafe {
            libc::prctl(
                libc::PR_CAP_AMBIENT,
                libc::PR_CAP_AMBIENT_RAISE,
                libc::c_ulong::from(capability),
                0,
                0,
            )
        };
        check(libc::c_long::from(raised))?;
    }
    Ok(())
}

/// Accesses files as this user and group, without privileges over files. Keeps the capabilities that mounting needs.
pub fn read_files_as(user: u32) -> io::Result<()> {
    let retained = CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_CHROOT | CapabilitySet::SYS_PTRACE;
    // These calls do not fail: they return the previous number. SAFETY: they take numbers.
    let set = unsafe {
        libc::syscall(libc::SYS_setfsgid, user);
        libc::syscall(libc::SYS_setfsuid, user);
        libc::syscall(libc::SYS_setfsuid, user)
    };
    if set != libc::c_long::from(user) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut sets = rustix::thread::capabilities(None)?;
    sets.effective &= retained;
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

/// Kills this process after this many seconds.
pub fn end_after(seconds: u32) {
    // SAFETY: alarm takes a number; its signal ends a process that has no handler.
    unsafe { libc::alarm(seconds) };
}

pub fn reap() {
    while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
}

/// Moves descriptors to the numbers 0, 1, 2, … and closes all others.
pub fn place(descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let count = libc::c_int::try_from(descriptors.len()).map_err(io::Error::other)?;
    let mut copies = Vec::new();
    for descriptor in descriptors {
        // Copy above all targets, so that no target overwrites a source.
        copies.push(rustix::io::fcntl_dupfd_cloexec(descriptor, count)?);
    }
    for (target, copy) in (0..count).zip(&copies) {
        // SAFETY: dup2 takes numbers; what the targets held is not used any more.
        check(libc::c_long::from(unsafe {
            libc::dup2(copy.as_raw_fd(), target)
        }))?;
    }
    std::mem::forget(copies);
    // SAFETY: close_range takes numbers; this process executes another program next and uses no other descriptor.
    check(unsafe { libc::syscall(libc::SYS_close_range, count, u32::MAX, 0) }).map(drop)
}

/// Executes a program with exactly this environment; returns only on failure.
pub fn execute(program: &Path, arguments: &[String], environment: &[(String, String)]) -> io::Error {
    let attempt = || -> io::Result<()> {
        let program = c_path(program)?;
        let mut owned = vec![program.clone()];
        for argument in arguments {
            owned.push(CString::new(argument.as_str())?);
        }
        let variables: Vec<CString> = environment
            .iter()
            .map(|(name, value)| CString::new(format!("{name}={value}")))
            .collect::<Result<_, _>>()?;
        let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
            strings
                .iter()
                .map(|s| s.as_ptr())
                .chain([std::ptr::null()])
                .collect()
        };
        let (arguments, environment) = (pointers(&owned), pointers(&variables));
        // SAFETY: all strings are NUL-terminated, both lists end with a null pointer.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        Err(io::Error::last_os_error())
    };
    attempt().err().unwrap_or_else(|| io::ErrorKind::Other.into())
}
