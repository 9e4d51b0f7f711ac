//! Decides which virtual paths may be read and written: the deny list first, then the operation's list.

use std::fmt;

use policy::{FileAccess, Mistake};
use types::FileGlobs;

use crate::virtual_files::error::FileError;
use crate::virtual_files::path::VirtualPath;

/// The globs on paths, and the message of a refusal.
#[derive(Debug, Clone)]
pub struct FilePolicy(FileAccess);

/// An operation on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operation {
    Read,
    Write,
}

// === impl FilePolicy ===

impl FilePolicy {
    /// A policy with these globs.
    ///
    /// # Errors
    /// Every invalid glob, at least one.
    pub fn new(globs: &FileGlobs) -> Result<FilePolicy, Vec<Mistake>> {
        FileAccess::new(globs).map(FilePolicy)
    }

    /// A policy that denies every path.
    pub fn nothing() -> FilePolicy {
        FilePolicy(FileAccess::none())
    }

    pub(super) fn check(&self, operation: Operation, path: &VirtualPath) -> Result<(), FileError> {
        let is_allowed = match operation {
            Operation::Read => self.0.may_read(path.text()),
            Operation::Write => self.0.may_write(path.text()),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(FileError::Denied {
                operation,
                path: path.shown(),
            }),
        }
    }
}

impl Default for FilePolicy {
    /// System 0's: reads the four roots, writes `/scratch` and `/results`.
    fn default() -> Self {
        FilePolicy::new(&FileGlobs::default()).unwrap_or_else(|_| FilePolicy::nothing())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Read => "read",
            Operation::Write => "write",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(policy: &FilePolicy, operation: Operation, path: &str, is_allowed: bool) {
        let path = VirtualPath::parse(path).unwrap();
        let checked = policy.check(operation, &path);
        assert_eq!(checked.is_ok(), is_allowed, "{operation} {}", path.text());
        if let Err(error) = checked {
            let expected = format!("EACCES: {operation} denied for path: {}", path.text());
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn s0_55_deny_comes_first_and_each_operation_has_its_list() {
        let globs = |list: &[&str]| list.iter().map(|glob| (*glob).to_owned()).collect();
        let policy = FilePolicy::new(&FileGlobs {
            read: globs(&["/tools/**", "/scratch/**", "/results/*.csv"]),
            write: globs(&["/scratch/**"]),
            deny: globs(&["/scratch/private/**", "/scratch/*.key", "/tools/[ab]/{x}"]),
        })
        .unwrap();
        for (operation, path, is_allowed) in [
            (Operation::Read, "/tools", true),
            (Operation::Read, "/tools/crm/find.py", true),
            (Operation::Read, "/toolsx", false),
            (Operation::Read, "/skills", false),
            (Operation::Read, "/results/a.csv", true),
            (Operation::Read, "/results/deep/a.csv", true),
            (Operation::Read, "/results/a.txt", false),
            (Operation::Read, "/results", false),
            (Operation::Read, "/scratch/private", false),
            (Operation::Read, "/scratch/private/a/b", false),
            (Operation::Read, "/scratch/privates", true),
            (Operation::Read, "/scratch//private/./a", false),
            (Operation::Read, "/scratch/Private", true),
            (Operation::Read, "/scratch/a/my.key", false),
            (Operation::Read, "/tools/a/{x}", false),
            (Operation::Read, "/tools/a/x", true),
            (Operation::Write, "/scratch/a", true),
            (Operation::Write, "/scratch", true),
            (Operation::Write, "/results/a.csv", false),
            (Operation::Write, "/tools/a", false),
            (Operation::Write, "/scratch/private/a", false),
        ] {
            check(&policy, operation, path, is_allowed);
        }
    }

    #[test]
    fn the_standard_policy_reads_all_roots_and_writes_two() {
        let policy = FilePolicy::default();
        for (root, is_written) in [
            ("/tools", false),
            ("/skills", false),
            ("/scratch", true),
            ("/results", true),
        ] {
            check(&policy, Operation::Read, root, true);
            check(&policy, Operation::Read, &format!("{root}/a/.b"), true);
            check(&policy, Operation::Write, &format!("{root}/a"), is_written);
        }
        for outside in ["/", "/etc/passwd", "/home/x", "/workspace/a"] {
            check(&policy, Operation::Read, outside, false);
        }
    }
}
