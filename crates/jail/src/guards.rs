//! Guards that a test build can leave out, one at a time, to show that their probes can fail.
//!
//! Only a build with the feature `removable-guards` can, and a release build refuses that feature. In every other
//! build [`RemovedGuards`] is empty, and no request can fill it.

use serde::{Deserialize, Serialize};

use crate::session::wire::Guard;

#[cfg(all(feature = "removable-guards", not(debug_assertions)))]
compile_error!("`removable-guards` is for tests: it weakens the sandbox, so a release build refuses it");

/// Guards by the probes' names for them.
pub const NAMES: [(&str, Guard); 12] = [
    ("network-namespace", Guard::Network),
    ("pid-namespace", Guard::Pids),
    ("own-user", Guard::User),
    ("disk", Guard::Disk),
    ("descriptors", Guard::Descriptors),
    ("rlimits", Guard::Rlimits),
    ("landlock", Guard::Landlock),
    ("capabilities", Guard::Capabilities),
    ("seccomp", Guard::Seccomp),
    ("read-only", Guard::ReadOnly),
    ("cgroup", Guard::ControlGroup),
    ("overlay", Guard::Overlay),
];

/// Guards that sessions run without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedGuards {
    #[cfg(feature = "removable-guards")]
    bits: u64,
}

impl RemovedGuards {
    /// Whether the guard is left out.
    pub fn contains(self, guard: Guard) -> bool {
        self.bits() & guard as u64 != 0
    }

    /// The bits that a session request carries.
    pub fn bits(self) -> u64 {
        #[cfg(feature = "removable-guards")]
        return self.bits;
        #[cfg(not(feature = "removable-guards"))]
        0
    }

    /// The guards of these names; `None` if a name is unknown.
    #[cfg(feature = "removable-guards")]
    pub fn of(names: &[&str]) -> Option<Self> {
        let find = |name: &&str| NAMES.iter().find(|(known, _)| known == name);
        let bits = names
            .iter()
            .map(|name| find(name).map(|(_, guard)| *guard as u64));
        let bits = bits.collect::<Option<Vec<u64>>>()?;
        Some(Self {
            bits: bits.into_iter().fold(0, |all, bit| all | bit),
        })
    }
}
