//! Seccomp filters from commented data: `data/<architecture>/*.rules` to BPF with a binary search.
//!
//! The zygote loads the large filter once. It allows every call that sessions and their confinement need. Each child
//! adds a small filter, which removes the calls that only confinement needs. A linear filter takes 0.5 ms to load, a
//! binary search 0.05 ms.

mod compile;
mod rules;

use std::collections::BTreeMap;

use crate::session::NetworkAccess;

pub use compile::{Instruction, Preamble, compile};
pub use rules::{Action, Condition, Rule, Rules, RulesError, Table, parse};

/// Rules of sessions on this processor.
pub const RULES: &str = include_str!("../data/x86_64/session.rules");
/// Rules of confined servers on this processor.
pub const SERVER_RULES: &str = include_str!("../data/x86_64/server.rules");
const NUMBERS: &str = include_str!("../data/x86_64/syscalls.txt");

/// Whether a memory cgroup counts the kernel memory of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelMemory {
    /// A cgroup counts it.
    Counted,
    /// Uncounted: calls that could hold unbounded kernel memory are refused.
    Uncounted,
}

/// A filter that refuses nothing, for test builds without seccomp: one instruction, `SECCOMP_RET_ALLOW`.
pub const ALLOW_ALL: [u8; 8] = [6, 0, 0, 0, 0, 0, 0xff, 0x7f];

/// The two filters of a profile, in the kernel's layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filters {
    /// Loaded by the zygote.
    pub zygote: Vec<u8>,
    /// Loaded by each child on top.
    pub session: Vec<u8>,
}

/// What separates a session from the rest of the machine, in addition to its filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    /// Namespaces of its own.
    Own,
    /// As `Own`, plus Landlock rules and a user namespace that the session makes itself.
    Mapped,
    /// No namespaces. The filter also refuses calls on objects that only namespaces would separate.
    Shared,
}

/// Compiles the embedded rules.
///
/// # Errors
/// If the embedded data is wrong, which a test rules out.
pub fn filters(memory: KernelMemory, namespaces: Namespaces) -> Result<Filters, RulesError> {
    let rules = parse(RULES, &numbers())?;
    let zygote = compile(&rules.zygote(namespaces), compile::Preamble::CheckArchitecture);
    let session = compile(&rules.session(memory, namespaces), compile::Preamble::None);
    Ok(Filters {
        zygote: bytes(&zygote),
        session: bytes(&session),
    })
}

/// Compiles the filter of a confined server, in the kernel's layout.
///
/// # Errors
/// If the embedded data is wrong, which a test rules out.
pub(crate) fn server_filter(network: NetworkAccess) -> Result<Vec<u8>, RulesError> {
    let numbers = numbers();
    let table = parse(SERVER_RULES, &numbers)?.server(numbers.values().copied(), network);
    Ok(bytes(&compile(&table, compile::Preamble::CheckArchitecture)))
}

/// Names and numbers of this processor's system calls.
pub fn numbers() -> BTreeMap<&'static str, u32> {
    NUMBERS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, number)| Some((name, number.parse().ok()?)))
        .collect()
}

fn bytes(program: &[Instruction]) -> Vec<u8> {
    program
        .iter()
        .flat_map(|instruction| instruction.to_bytes())
        .collect()
}

#[cfg(test)]
mod tests;
