//! Which virtual paths may be read and written: deny first, then the list of the operation.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::virtual_files::error::FileError;
use crate::virtual_files::path::VirtualPath;

const READ: [&str; 4] = ["/tools/**", "/skills/**", "/scratch/**", "/results/**"];
const WRITE: [&str; 2] = ["/scratch/**", "/results/**"];
const DENY: [&str; 3] = ["/etc/**", "/proc/**", "/sys/**"];

/// Patterns of virtual paths. `*` and `?` also match `/`, and `X/**` also matches `X`.
#[derive(Debug, Clone)]
pub struct FilePolicy {
    read: GlobSet,
    write: GlobSet,
    deny: GlobSet,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operation {
    Read,
    Write,
}

/// A pattern cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a pattern of paths: {cause}; write one like /scratch/private/**")]
pub struct BadPattern {
    pattern: String,
    cause: String,
}

// === impl FilePolicy ===

impl FilePolicy {
    /// A policy of these patterns.
    ///
    /// # Errors
    /// The first pattern that cannot be understood.
    pub fn new<P: AsRef<str>>(read: &[P], write: &[P], deny: &[P]) -> Result<FilePolicy, BadPattern> {
        Ok(FilePolicy {
            read: set(read)?,
            write: set(write)?,
            deny: set(deny)?,
        })
    }

    /// A policy that reaches no path.
    pub fn nothing() -> FilePolicy {
        FilePolicy {
            read: GlobSet::empty(),
            write: GlobSet::empty(),
            deny: GlobSet::empty(),
        }
    }

    pub(super) fn check(&self, operation: Operation, path: &VirtualPath) -> Result<(), FileError> {
        let allowed = match operation {
            Operation::Read => &self.read,
            Operation::Write => &self.write,
        };
        if !self.deny.is_match(path.text()) && allowed.is_match(path.text()) {
            return Ok(());
        }
        Err(FileError::Denied {
            operation,
            path: path.shown(),
        })
    }
}

impl Default for FilePolicy {
    /// The policy where none is set: reads everywhere, writes in `/scratch` and `/results`.
    fn default() -> Self {
        FilePolicy::new(&READ, &WRITE, &DENY).unwrap_or_else(|_| FilePolicy::nothing())
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

fn set<P: AsRef<str>>(patterns: &[P]) -> Result<GlobSet, BadPattern> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().map(AsRef::as_ref) {
        let bad = |cause: globset::Error| BadPattern {
            pattern: pattern.escape_debug().take(200).collect(),
            cause: cause.kind().to_string(),
        };
        for text in [Some(pattern), pattern.strip_suffix("/**")].into_iter().flatten() {
            let glob = GlobBuilder::new(&without_choices(text))
                .literal_separator(false)
                .backslash_escape(false)
                .build();
            set.add(glob.map_err(bad)?);
        }
    }
    set.build().map_err(|cause| BadPattern {
        pattern: String::new(),
        cause: cause.kind().to_string(),
    })
}

/// The original's patterns have no choices `{a,b}`: braces stand for themselves.
fn without_choices(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    for c in pattern.chars() {
        match c {
            '[' if !in_class => in_class = true,
            ']' => in_class = false,
            '{' | '}' if !in_class => {
                out.extend(['[', c, ']']);
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
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
        let policy = FilePolicy::new(
            &["/tools/**", "/scratch/**", "/results/*.csv"],
            &["/scratch/**"],
            &["/scratch/private/**", "/scratch/*.key", "/tools/[ab]/{x}"],
        )
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

    #[test]
    fn a_pattern_that_cannot_be_understood_is_named() {
        let error = FilePolicy::new(&["/scratch/[a"], &[], &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`/scratch/[a` is not a pattern of paths: "),
            "{error}"
        );
    }
}
