//! Confinement of the zygote, once, and of each session's child, in the only order that works.

#[cfg(not(codeyard_session_library))]
pub mod alone;
mod container;

use super::arch::number;
use super::landlock::{self, PathAccess};
use super::sys::{self, EXIT_UNCONFINED, Errno, Filter, Result, fd};
use super::text::Text;
use super::wire::{self, ENTRANCES, Guard, MOST_DESCRIPTORS, RLIMITS, Request};

/// Descriptor of the channel between host and guest, in every child.
pub const CHANNEL: i32 = 3;
/// Descriptor of the ruleset between set-up and enforcement.
const RULESET: i32 = 4;

const CLONE_NEWNET: usize = 0x4000_0000;
const MS_NOSUID: usize = 2;
const MS_NODEV: usize = 4;
const MS_NOEXEC: usize = 8;
const PR_SET_PDEATHSIG: usize = 1;
const PR_CAPBSET_DROP: usize = 24;
const PR_SET_NO_NEW_PRIVS: usize = 38;
const PR_CAP_AMBIENT: usize = 47;
const PR_CAP_AMBIENT_CLEAR_ALL: usize = 4;
const SIGKILL: usize = 9;
const SIGCHLD: usize = 17;
const CAP_SETGID: u32 = 6;
const CAP_SETUID: u32 = 7;
const CAP_SYS_ADMIN: u32 = 21;
const LAST_POSSIBLE_CAPABILITY: usize = 63;

/// The steps of a child, numbered as in the guest's `jail` frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[cfg_attr(
    not(codeyard_session_library),
    expect(missing_docs, reason = "each variant names its step")
)]
pub enum Step {
    ControlGroups = 0,
    Signals = 1,
    UserNamespace = 2,
    Network = 3,
    Proc = 4,
    Disk = 5,
    Hostname = 6,
    Descriptors = 7,
    ProcessGroup = 8,
    User = 9,
    Directories = 10,
    Rlimits = 11,
    Landlock = 12,
    Capabilities = 13,
    ParentDeath = 14,
    Seccomp = 15,
    #[cfg(not(codeyard_session_library))]
    Execute = 16,
    OwnUser = 17,
}

/// Descriptors that the host sent with a request.
#[derive(Clone, Copy)]
pub struct Descriptors {
    pub channel: i32,
    pub stdout: i32,
    pub stderr: i32,
    pub network: i32,
    /// Of control groups; -1 if absent.
    pub entrances: [i32; ENTRANCES],
}

impl Descriptors {
    /// All descriptors, -1 for absent ones.
    pub fn all(&self) -> [i32; MOST_DESCRIPTORS] {
        let [a, b, c, d] = self.entrances;
        [self.channel, self.stdout, self.stderr, self.network, a, b, c, d]
    }
}

/// Drops every right that a zygote does not need to make sessions.
///
/// # Safety
/// `filter` is valid.
pub unsafe fn zygote(filter: Filter) -> i64 {
    let result = (|| {
        drop_bounding_set();
        sys::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
        capabilities(1 << CAP_SYS_ADMIN | 1 << CAP_SETUID | 1 << CAP_SETGID)?;
        sys::prctl(PR_SET_NO_NEW_PRIVS, 1, 0)?;
        const IGNORE: usize = 1;
        disposition(SIGCHLD, IGNORE)?;
        // SAFETY: the caller vouches for the filter.
        unsafe { seccomp(filter) }
    })();
    match result {
        Ok(()) => 0,
        Err(errno) => -i64::from(errno.0),
    }
}

/// Confines the calling child; on failure reports the step on its channel and ends the child.
///
/// # Safety
/// `filter` is valid; the caller is a freshly cloned child with one thread.
pub unsafe fn session(request: &Request, descriptors: Descriptors, ruleset: i32, filter: Filter) {
    // SAFETY: the caller vouches for the filter.
    if let Err((step, errno)) = unsafe { steps(request, descriptors, ruleset, filter) } {
        // The channel keeps its first number until the descriptors are placed.
        let at_its_place = step as u32 > Step::Descriptors as u32;
        report(
            if at_its_place {
                CHANNEL
            } else {
                descriptors.channel
            },
            step,
            errno,
        );
        sys::exit(EXIT_UNCONFINED);
    }
}

/// INVARIANT: no code of the tenant runs before the last step.
///
/// # Safety
/// As `session`.
unsafe fn steps(
    request: &Request,
    descriptors: Descriptors,
    ruleset: i32,
    filter: Filter,
) -> core::result::Result<(), (Step, Errno)> {
    let at = |step: Step| move |errno: Errno| (step, errno);
    const DEFAULT: usize = 0;
    enter_groups(descriptors.entrances).map_err(at(Step::ControlGroups))?;
    // The zygote ignores SIGCHLD so that the kernel reaps sessions, but programs that start processes need it.
    disposition(SIGCHLD, DEFAULT).map_err(at(Step::Signals))?;
    if request.flags & wire::OWN_USER_NAMESPACE != 0 {
        let shown = if request.is_container() {
            request.shown
        } else {
            [request.user; 2]
        };
        map_user(shown, request.user).map_err(at(Step::UserNamespace))?;
    } else if request.has(Guard::Network) {
        enter_network(descriptors.network).map_err(at(Step::Network))?;
    }
    mount_proc().map_err(at(Step::Proc))?;
    mount_places(request).map_err(at(Step::Disk))?;
    hostname().map_err(at(Step::Hostname))?;
    let other_descriptors = match request.has(Guard::Descriptors) {
        true => OtherDescriptors::Close,
        false => OtherDescriptors::Keep,
    };
    place(descriptors, Some(ruleset), other_descriptors).map_err(at(Step::Descriptors))?;
    // SAFETY: setsid takes no argument.
    unsafe { sys::call(number::SETSID, &[]) }.map_err(at(Step::ProcessGroup))?;
    if request.flags & wire::SET_USER != 0 {
        become_user(request.user).map_err(at(Step::User))?;
    }
    enter_places(request).map_err(at(Step::Directories))?;
    if request.is_container() && request.flags & wire::OWN_USER_NAMESPACE == 0 {
        // This step follows the last step that needs a capability over the mounts.
        container::become_shown(request).map_err(at(Step::OwnUser))?;
    }
    if request.has(Guard::Rlimits) {
        set_rlimits(request).map_err(at(Step::Rlimits))?;
    }
    if request.has(Guard::Landlock) {
        let enforced = if request.is_container() {
            landlock::enforce_container(match request.is_executable() {
                true => PathAccess::OwnExecutable,
                false => PathAccess::Own,
            })
        } else {
            landlock::enforce(RULESET)
        };
        enforced.map_err(at(Step::Landlock))?;
    }
    sys::close(RULESET);
    if request.is_container() || request.flags & wire::OWN_USER_NAMESPACE != 0 {
        // A new user namespace has filled the bounding set again.
        drop_bounding_set();
    }
    if request.has(Guard::Capabilities) {
        capabilities(0).map_err(at(Step::Capabilities))?;
    }
    // Set the signal after the change of user, because that change would clear the signal.
    sys::prctl(PR_SET_PDEATHSIG, SIGKILL, 0).map_err(at(Step::ParentDeath))?;
    // SAFETY: the caller vouches for the filter.
    unsafe { seccomp(filter) }.map_err(at(Step::Seccomp))
}

/// Moves this thread, the only one, into its control groups. When a thread moves itself, the kernel takes no lock that
/// waits for a grace period of all processors (10 ms on a quiet machine).
fn enter_groups(entrances: [i32; ENTRANCES]) -> Result<()> {
    for entrance in entrances {
        if entrance >= 0 {
            sys::write(entrance, b"0")?;
        }
    }
    Ok(())
}

pub fn enter_network(namespace: i32) -> Result<()> {
    // SAFETY: setns takes numbers.
    unsafe { sys::call(number::SETNS, &[fd(namespace), CLONE_NEWNET]) }.map(|_| ())
}

/// Maps the one user and group of this process's new user namespace: `shown` inside, `user` outside.
fn map_user(shown: [u64; 2], user: u64) -> Result<()> {
    put(c"/proc/self/setgroups", b"deny")?;
    for (file, shown) in [c"/proc/self/uid_map", c"/proc/self/gid_map"]
        .into_iter()
        .zip(shown)
    {
        let mut map = Text::<64>::new();
        map.number(shown).push(b" ").number(user).push(b" 1");
        put(file, map.as_bytes())?;
    }
    Ok(())
}

fn put(path: &core::ffi::CStr, bytes: &[u8]) -> Result<()> {
    const O_WRONLY: usize = 1;
    let file = sys::open(path, O_WRONLY)?;
    let written = sys::write(file, bytes);
    sys::close(file);
    written.map(|_| ())
}

fn mount_proc() -> Result<()> {
    mount(
        c"proc",
        c"/proc",
        MS_NOSUID | MS_NODEV | MS_NOEXEC,
        b"subset=pid,hidepid=2\0",
    )
}

fn mount_places(request: &Request) -> Result<()> {
    if request.is_container() {
        container::mount_rooms(request)
    } else {
        mount_disk(request)
    }
}

fn enter_places(request: &Request) -> Result<()> {
    if request.is_container() {
        container::enter_workspace()
    } else {
        make_directories()?;
        match request.flags & wire::OWN_FILES {
            0 => Ok(()),
            _ => attach_own(),
        }
    }
}

fn mount_disk(request: &Request) -> Result<()> {
    let mut options = Text::<160>::new();
    if request.has(Guard::Disk) {
        options
            .push(b"size=")
            .number(request.disk)
            .push(b",nr_inodes=")
            .number(request.inodes)
            .push(b",");
    }
    options
        .push(b"mode=0755,uid=")
        .number(request.user)
        .push(b",gid=")
        .number(request.user)
        .push(b"\0");
    mount(c"tmpfs", c"/rw/d", own_flags(request), options.as_bytes())
}

/// Mount flags of the session's own file systems. In addition to Landlock's rules, noexec also refuses to map files as
/// code.
fn own_flags(request: &Request) -> usize {
    let noexec = if request.is_executable() { 0 } else { MS_NOEXEC };
    MS_NOSUID | MS_NODEV | noexec
}

/// Mounts a file system of `kind`, whose name is also its source; `options` ends with a NUL.
fn mount(kind: &core::ffi::CStr, target: &core::ffi::CStr, flags: usize, options: &[u8]) -> Result<()> {
    let kind = kind.as_ptr() as usize;
    // SAFETY: all strings are NUL-terminated and outlive the call.
    unsafe {
        sys::call(
            number::MOUNT,
            &[
                kind,
                target.as_ptr() as usize,
                kind,
                flags,
                options.as_ptr() as usize,
            ],
        )
    }
    .map(|_| ())
}

/// The same neutral host name for every session and its zygote.
pub const HOST_NAME: &[u8] = b"sandbox";

fn hostname() -> Result<()> {
    // SAFETY: the name is valid for reads of its length.
    unsafe {
        sys::call(
            number::SETHOSTNAME,
            &[HOST_NAME.as_ptr() as usize, HOST_NAME.len()],
        )
    }
    .map(|_| ())
}

/// Opens the null device as standard input. All sessions share the cloned descriptor, so one session could set its
/// flags and another session could read them.
fn open_standard_input() -> Result<()> {
    const O_RDWR: usize = 2;
    let null = sys::open(c"/dev/null", O_RDWR)?;
    if null != 0 {
        // SAFETY: dup3 takes numbers.
        unsafe { sys::call(number::DUP3, &[fd(null), 0, 0]) }?;
        sys::close(null);
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OtherDescriptors {
    Close,
    Keep,
}

pub fn place(descriptors: Descriptors, ruleset: Option<i32>, others: OtherDescriptors) -> Result<()> {
    open_standard_input()?;
    let mut places = [
        (descriptors.stdout, 1),
        (descriptors.stderr, 2),
        (descriptors.channel, CHANNEL),
        (0, 0),
    ];
    let mut first_closed = RULESET;
    if let Some(ruleset) = ruleset {
        places[3] = (ruleset, RULESET);
        first_closed += 1;
    }
    for (from, to) in places {
        if from != to {
            // SAFETY: dup3 takes numbers.
            unsafe { sys::call(number::DUP3, &[fd(from), fd(to), 0]) }?;
        }
    }
    if others == OtherDescriptors::Keep {
        return Ok(());
    }
    const LAST: usize = u32::MAX as usize;
    // SAFETY: close_range takes numbers.
    unsafe { sys::call(number::CLOSE_RANGE, &[fd(first_closed), LAST, 0]) }.map(|_| ())
}

fn become_user(user: u64) -> Result<()> {
    let user = usize::try_from(user).map_err(|_| Errno(22))?;
    // SAFETY: these calls take numbers; setgroups with no groups reads no memory.
    unsafe {
        sys::call(number::SETGROUPS, &[0, 0])?;
        sys::call(number::SETRESGID, &[user, user, user])?;
        sys::call(number::SETRESUID, &[user, user, user]).map(|_| ())
    }
}

/// Makes the directories of the session's own file system; the template's links point to them.
fn make_directories() -> Result<()> {
    const PATHS: [&core::ffi::CStr; 3] = [c"/rw/d/tmp", c"/rw/d/home", c"/rw/d/shm"];
    for path in PATHS {
        make_directory(path)?;
    }
    // The guest changes to its workspace once the workspace is attached.
    change_to(PATHS[0])
}

fn change_to(directory: &core::ffi::CStr) -> Result<()> {
    // SAFETY: the path is NUL-terminated.
    unsafe { sys::call(number::CHDIR, &[directory.as_ptr() as usize]) }.map(|_| ())
}

fn make_directory(path: &core::ffi::CStr) -> Result<()> {
    const MODE: usize = 0o755;
    // SAFETY: the path is NUL-terminated.
    unsafe { sys::call(number::MKDIR, &[path.as_ptr() as usize, MODE]) }.map(|_| ())
}

/// Makes `workspace`, `results` and `scratch` on the session's own file system and mounts them at their mount points.
fn attach_own() -> Result<()> {
    const MS_BIND: usize = 4096;
    const PARTS: [&core::ffi::CStr; 2] = [c"/rw/d/session/results", c"/rw/d/session/scratch"];
    const PLACES: [(&core::ffi::CStr, &core::ffi::CStr); 2] = [
        (c"/rw/d/workspace", c"/at/workspace"),
        (c"/rw/d/session", c"/at/session"),
    ];
    for (own, place) in PLACES {
        make_directory(own)?;
        let paths = [own.as_ptr() as usize, place.as_ptr() as usize, 0, MS_BIND, 0];
        // SAFETY: the paths are NUL-terminated; a bind mount takes neither kind nor options.
        unsafe { sys::call(number::MOUNT, &paths) }?;
    }
    for part in PARTS {
        make_directory(part)?;
    }
    Ok(())
}

fn set_rlimits(request: &Request) -> Result<()> {
    for (resource, value) in RLIMITS.iter().zip(request.rlimits) {
        let value = [value; 2];
        // SAFETY: the pair outlives the call.
        unsafe {
            sys::call(
                number::PRLIMIT64,
                &[0, *resource as usize, &raw const value as usize, 0],
            )
        }?;
    }
    Ok(())
}

/// Empties the bounding set, so that no executed program can gain a capability.
fn drop_bounding_set() {
    for capability in 0..=LAST_POSSIBLE_CAPABILITY {
        // Beyond the kernel's last capability this fails with EINVAL: there is nothing to drop.
        let _ = sys::prctl(PR_CAPBSET_DROP, capability, 0);
    }
}

/// Sets permitted and effective capabilities to `mask`, and clears the inheritable ones.
fn capabilities(mask: u32) -> Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let data = [mask, mask, 0, 0, 0, 0];
    // SAFETY: header and data have the layout of version 3 and outlive the call.
    unsafe {
        sys::call(
            number::CAPSET,
            &[&raw const header as usize, &raw const data as usize],
        )
    }
    .map(|_| ())
}

/// Sets the disposition of a signal: 0 is the default, 1 is to ignore it.
fn disposition(signal: usize, handler: usize) -> Result<()> {
    const SET_BYTES: usize = 8;
    let action = [handler, 0, 0, 0];
    // SAFETY: the action has the kernel's layout and outlives the call.
    unsafe {
        sys::call(
            number::RT_SIGACTION,
            &[signal, &raw const action as usize, 0, SET_BYTES],
        )
    }
    .map(|_| ())
}

/// Loads a filter for this process and all its descendants.
///
/// # Safety
/// `filter` is valid.
unsafe fn seccomp(filter: Filter) -> Result<()> {
    const SET_MODE_FILTER: usize = 1;
    // SAFETY: `Filter` has the layout of `struct sock_fprog` and outlives the call.
    unsafe { sys::call(number::SECCOMP, &[SET_MODE_FILTER, 0, &raw const filter as usize]) }.map(|_| ())
}

fn report(channel: i32, step: Step, errno: Errno) {
    let mut body = Text::<64>::new();
    body.push(b"{\"t\":\"jail\",\"step\":")
        .number(u64::from(step as u32))
        .push(b",\"errno\":")
        .number(u64::try_from(errno.0).unwrap_or(0))
        .push(b"}");
    let length = u32::try_from(body.as_bytes().len()).unwrap_or(0).to_le_bytes();
    let mut frame = Text::<80>::new();
    frame.push(&length).push(body.as_bytes());
    // The process ends next; if the write fails, the host sees the channel close.
    let _ = sys::write(channel, frame.as_bytes());
}
