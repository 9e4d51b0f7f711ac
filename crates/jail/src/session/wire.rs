//! Requests of the host to a zygote and the zygote's answers: fixed little-endian words, sent together with
//! descriptors.
//!
//! A zygote receives only numbers and descriptors, never data of a tenant.

/// The child gets its own user namespace, which maps the zygote's one user.
pub const OWN_USER_NAMESPACE: u64 = 1;
/// The child becomes the request's user.
pub const SET_USER: u64 = 2;
/// The interpreter runs its own after-fork hooks in the child. `zygote.py` uses the same number.
#[cfg(not(codeyard_session_library))]
pub const PYTHON_HOOKS: u64 = 4;
/// No namespaces and no confinement: the baseline of benchmarks. Builds without the feature `unconfined-guests` refuse
/// it.
pub const UNCONFINED: u64 = 8;
/// The child's workspace, results and scratch files are on its own file system; otherwise they are attached later.
pub const OWN_FILES: u64 = 16;
/// The child looks like a container: it sees itself as `shown`, and may write only its `rooms`.
pub const CONTAINER: u64 = 32;
/// Files on the child's own file systems may be executed; otherwise these are mounted noexec.
pub const EXECUTABLE: u64 = 64;

/// Writable mount points of a session that looks like a container: `/workspace`, `/tmp` and `/dev/shm`, in this order.
pub const ROOMS: usize = 3;

/// Guards of a session that a test build can leave out; each is a bit of [`Request::flags`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[cfg_attr(
    not(codeyard_session_library),
    expect(missing_docs, reason = "each variant names its guard")
)]
#[cfg_attr(
    codeyard_session_library,
    expect(dead_code, reason = "some are the host's to leave away")
)]
pub enum Guard {
    Network = 1 << 32,
    Pids = 1 << 33,
    User = 1 << 34,
    Disk = 1 << 35,
    Descriptors = 1 << 36,
    Rlimits = 1 << 37,
    Landlock = 1 << 38,
    Capabilities = 1 << 39,
    Seccomp = 1 << 40,
    ReadOnly = 1 << 41,
    ControlGroup = 1 << 42,
    Overlay = 1 << 43,
}

/// Descriptors of every request, in this order: channel, standard output, standard error, network namespace.
pub const REQUEST_DESCRIPTORS: usize = 4;
/// Limit on the entrances of control groups that may follow: files to which a thread writes `0` to move itself.
pub const ENTRANCES: usize = 4;
/// Limit on the descriptors of a request.
pub const MOST_DESCRIPTORS: usize = REQUEST_DESCRIPTORS + ENTRANCES;

/// Resource limits in the order of [`Request::rlimits`], as the kernel numbers them.
pub const RLIMITS: [u32; 12] = [
    0,  // CPU seconds of one process
    1,  // size of a file
    3,  // stack
    4,  // core dump
    5,  // resident set, ignored by the kernel, for programs that ask
    6,  // processes of the user
    7,  // open files
    8,  // locked memory
    9,  // address space
    11, // queued signals
    12, // message queues
    13, // nice
];

/// Limits of one file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSystemBounds {
    /// Bytes; 0 would mean no limit.
    pub bytes: u64,
    /// Files and directories, the root included; 0 would mean no limit.
    pub inodes: u64,
}

/// A request for one session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Bits: [`OWN_USER_NAMESPACE`] and the following constants, and removed [`Guard`]s.
    pub flags: u64,
    /// User and group inside the zygote's user namespace.
    pub user: u64,
    /// Bytes of the session's own file system.
    pub disk: u64,
    /// Inodes of the session's own file system.
    pub inodes: u64,
    /// Hard and soft values, in the order of [`RLIMITS`].
    pub rlimits: [u64; RLIMITS.len()],
    /// With `CONTAINER`: user and group as the session sees them.
    pub shown: [u64; 2],
    /// With `CONTAINER`: limits per mount point, instead of `disk` and `inodes`.
    pub rooms: [FileSystemBounds; ROOMS],
}

/// Bytes of an encoded request.
pub const REQUEST_BYTES: usize = 8 * (4 + RLIMITS.len() + 2 + 2 * ROOMS);

impl Request {
    /// Whether the session has the guard. Always true, except in test builds.
    pub fn has(&self, guard: Guard) -> bool {
        cfg!(not(feature = "removable-guards")) || self.flags & guard as u64 == 0
    }

    /// Whether the session looks like a container.
    pub fn is_container(&self) -> bool {
        self.flags & CONTAINER != 0
    }

    /// Whether the session may execute its own files.
    pub fn is_executable(&self) -> bool {
        self.flags & EXECUTABLE != 0
    }

    /// Encodes the request.
    #[cfg(not(codeyard_session_library))]
    pub fn encode(&self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        let words = [self.flags, self.user, self.disk, self.inodes]
            .into_iter()
            .chain(self.rlimits)
            .chain(self.shown)
            .chain(self.rooms.into_iter().flat_map(|room| [room.bytes, room.inodes]));
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes a request.
    pub fn decode(bytes: &[u8; REQUEST_BYTES]) -> Self {
        let mut request = Self::default();
        let (words, _) = bytes.as_chunks::<8>();
        let head = [
            &mut request.flags,
            &mut request.user,
            &mut request.disk,
            &mut request.inodes,
        ];
        let rooms = request.rooms.iter_mut();
        let tail = rooms.flat_map(|room| [&mut room.bytes, &mut room.inodes]);
        let places = head
            .into_iter()
            .chain(&mut request.rlimits)
            .chain(&mut request.shown);
        for (place, word) in places.chain(tail).zip(words) {
            *place = u64::from_le_bytes(*word);
        }
        request
    }
}

/// First byte of an answer to a request. A message with another first byte is the zygote's JSON greeting.
pub const ANSWER: u8 = 1;
/// Bytes of an answer: [`ANSWER`], three unused, then the error number or 0. The child's pidfd is sent with it.
pub const ANSWER_BYTES: usize = 8;

/// Encodes an answer.
pub fn answer(errno: i32) -> [u8; ANSWER_BYTES] {
    let [a, b, c, d] = errno.to_le_bytes();
    [ANSWER, 0, 0, 0, a, b, c, d]
}
