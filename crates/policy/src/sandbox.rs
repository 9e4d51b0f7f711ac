//! A virtual server's `sandbox_policy`: lower limits, and globs on paths and tools.

use std::time::Duration;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use types::{FileGlobs, Limits, PolicyNumber, SandboxPolicy, ToolGlobs};

use crate::access::Access;
use crate::config::PolicyConfig;
use crate::mistake::Mistake;

const MIB: u64 = 1024 * 1024;

impl PolicyConfig {
    /// Lowers the limits to the limits of `sandbox`; lower limits stay.
    pub fn bind(&mut self, sandbox: &SandboxPolicy) {
        let number = |number| sandbox.number(number);
        let wall_time = Duration::from_millis(number(PolicyNumber::MaxExecutionTimeMs));
        self.max_wall_time = self.max_wall_time.min(wall_time);
        let percent = u32::try_from(number(PolicyNumber::MaxCpuPercent)).unwrap_or(u32::MAX);
        let limits = &mut self.limits;
        *limits = Limits {
            wall_time: self.max_wall_time,
            memory: limits.memory.min(number(PolicyNumber::MaxMemoryMb) * MIB),
            cpu_rate: limits.cpu_rate.min(f64::from(percent) / 100.0),
            file_size: limits.file_size.min(number(PolicyNumber::MaxFileSizeMb) * MIB),
            disk: limits.disk.min(number(PolicyNumber::MaxTotalDiskMb) * MIB),
            ..limits.clone()
        };
    }
}

/// Virtual paths that `fs_browse`, `fs_read` and `fs_write` may access, by the globs of a policy.
#[derive(Debug, Clone)]
pub struct FileAccess {
    read: GlobSet,
    write: GlobSet,
    deny: GlobSet,
}

impl FileAccess {
    /// Checks the globs.
    ///
    /// # Errors
    /// Every mistake, at least one; its field is `read[0]` and so on.
    pub fn new(globs: &FileGlobs) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let access = Self {
            read: paths("read", &globs.read, &mut mistakes),
            write: paths("write", &globs.write, &mut mistakes),
            deny: paths("deny", &globs.deny, &mut mistakes),
        };
        if mistakes.is_empty() {
            Ok(access)
        } else {
            Err(mistakes)
        }
    }

    /// Refuses every path.
    pub fn none() -> Self {
        Self {
            read: GlobSet::empty(),
            write: GlobSet::empty(),
            deny: GlobSet::empty(),
        }
    }

    /// Whether a normalized virtual path such as `/scratch/a.txt` may be read.
    pub fn may_read(&self, path: &str) -> bool {
        !self.deny.is_match(path) && self.read.is_match(path)
    }

    /// Whether a normalized virtual path may be written.
    pub fn may_write(&self, path: &str) -> bool {
        !self.deny.is_match(path) && self.write.is_match(path)
    }
}

/// Maximum bytes of the globs on paths, and of the globs on tools: bounds the time to compile them.
const MAX_GLOBS: usize = 8 * 1024;

/// Checks the globs of a policy on paths and tools.
///
/// # Errors
/// Every mistake, at least one; its field is `filesystem.read[0]`, `tools.deny[1]` and so on.
pub fn check_globs(files: &FileGlobs, tools: &ToolGlobs) -> Result<(), Vec<Mistake>> {
    let mut mistakes = Vec::new();
    match too_long("filesystem", [&files.read, &files.write, &files.deny]) {
        Some(mistake) => mistakes.push(mistake),
        None => {
            let wrong = FileAccess::new(files).err().into_iter().flatten();
            mistakes.extend(wrong.map(|mistake| below("filesystem", mistake)));
        }
    }
    match too_long("tools", [&tools.allow, &tools.deny]) {
        Some(mistake) => mistakes.push(mistake),
        None => mistakes.extend(Access::of_virtual_server(tools).err().into_iter().flatten()),
    }
    if mistakes.is_empty() {
        Ok(())
    } else {
        Err(mistakes)
    }
}

fn too_long<const N: usize>(field: &str, lists: [&Vec<String>; N]) -> Option<Mistake> {
    let bytes: usize = lists.into_iter().flatten().map(String::len).sum();
    (bytes > MAX_GLOBS).then(|| Mistake {
        field: field.to_owned(),
        message: format!("the patterns have {bytes} bytes together; {MAX_GLOBS} are the most"),
    })
}

fn below(parent: &str, mistake: Mistake) -> Mistake {
    Mistake {
        field: format!("{parent}.{}", mistake.field),
        ..mistake
    }
}

fn paths(list: &str, texts: &[String], mistakes: &mut Vec<Mistake>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for (index, text) in texts.iter().enumerate() {
        match path_globs(text) {
            Ok(globs) => {
                for glob in globs {
                    set.add(glob);
                }
            }
            Err(message) => mistakes.push(Mistake {
                field: format!("{list}[{index}]"),
                message,
            }),
        }
    }
    set.build().unwrap_or_else(|error| {
        mistakes.push(Mistake {
            field: list.to_owned(),
            message: format!("the patterns are too large together: {error}"),
        });
        GlobSet::empty()
    })
}

/// The glob, and for `X/**` also `X`. As in system 0, `*` also matches `/`, and `\\`, `{` and `}` are literal.
fn path_globs(text: &str) -> Result<Vec<Glob>, String> {
    if !text.starts_with('/') {
        return Err(format!(
            "'{text}' is not a virtual path; begin it with '/', such as '/scratch/**'"
        ));
    }
    if text.split('/').any(|part| part == "..") {
        return Err(format!("'{text}' has '..'; write the path without it"));
    }
    let glob = |pattern: &str| {
        let glob = GlobBuilder::new(&without_choices(pattern))
            .backslash_escape(false)
            .build();
        glob.map_err(|error| format!("'{text}' is not a valid pattern: {}", error.kind()))
    };
    let directory = text.strip_suffix("/**").filter(|directory| !directory.is_empty());
    let directory = directory.map(glob).transpose()?;
    Ok([glob(text)?].into_iter().chain(directory).collect())
}

/// Escapes braces outside of classes, so that they do not form choices `{a,b}`.
fn without_choices(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut in_class = false;
    for c in pattern.chars() {
        match c {
            '[' if !in_class => in_class = true,
            ']' => in_class = false,
            '{' | '}' if !in_class => {
                plain.extend(['[', c, ']']);
                continue;
            }
            _ => {}
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use types::{Principal, ToolRef, Written};

    use super::*;
    use crate::Policy;

    fn sandbox(numbers: &[(PolicyNumber, u64)]) -> SandboxPolicy {
        let mut policy = SandboxPolicy::default();
        for (number, value) in numbers {
            let set = policy.set_number(*number, Written::Whole(*value));
            assert_eq!(set, Ok(()));
        }
        policy
    }

    #[test]
    fn s0_11_the_numbers_are_limits_and_absent_numbers_have_the_original_s_defaults() {
        let mut usual = PolicyConfig::default();
        usual.bind(&SandboxPolicy::default());
        assert_eq!(usual.max_wall_time, Duration::from_secs(30));
        assert_eq!(usual.limits.wall_time, Duration::from_secs(30));
        assert_eq!((usual.limits.memory, usual.limits.cpu_rate), (256 * MIB, 0.5));
        assert_eq!((usual.limits.file_size, usual.limits.disk), (10 * MIB, 100 * MIB));
        let mut other = PolicyConfig::default();
        other.bind(&sandbox(&[
            (PolicyNumber::MaxExecutionTimeMs, 500),
            (PolicyNumber::MaxMemoryMb, 128),
            (PolicyNumber::MaxCpuPercent, 7),
            (PolicyNumber::MaxTotalDiskMb, 12),
        ]));
        assert_eq!(other.limits.wall_time, Duration::from_millis(500));
        assert_eq!((other.limits.memory, other.limits.cpu_rate), (128 * MIB, 0.07));
        assert_eq!((other.limits.file_size, other.limits.disk), (10 * MIB, 12 * MIB));
    }

    #[test]
    fn the_operator_s_limits_are_never_exceeded() {
        let least = Limits {
            memory: 64 * MIB,
            cpu_rate: 0.1,
            file_size: MIB,
            disk: 2 * MIB,
            ..Limits::default()
        };
        let mut config = PolicyConfig {
            limits: least.clone(),
            max_wall_time: Duration::from_secs(2),
            ..PolicyConfig::default()
        };
        config.bind(&SandboxPolicy::default());
        let expected = Limits {
            wall_time: Duration::from_secs(2),
            ..least
        };
        assert_eq!(config.limits, expected);
    }

    #[test]
    fn s0_55_a_deny_glob_overrides_every_other_glob() {
        let globs = |list: &[&str]| list.iter().map(|glob| (*glob).to_owned()).collect();
        let access = FileAccess::new(&FileGlobs {
            read: globs(&["/scratch/**", "/results/*.csv", "/tools"]),
            write: globs(&["/scratch/**"]),
            deny: globs(&["/scratch/private/**"]),
        })
        .expect("right globs");
        for (path, read, write) in [
            ("/scratch", true, true),
            ("/scratch/a/b.txt", true, true),
            ("/scratchy", false, false),
            ("/scratch/private", false, false),
            ("/scratch/private/key", false, false),
            ("/scratch/private2", true, true),
            ("/results/a.csv", true, false),
            ("/results/a/b.csv", true, false),
            ("/results/a.txt", false, false),
            ("/tools", true, false),
            ("/tools/x", false, false),
            ("/etc/passwd", false, false),
        ] {
            assert_eq!(
                (access.may_read(path), access.may_write(path)),
                (read, write),
                "{path}"
            );
        }
    }

    #[test]
    fn s0_55_the_default_globs_are_the_four_roots() {
        let access = FileAccess::new(&FileGlobs::default()).expect("right globs");
        for (path, read, write) in [
            ("/tools/a/b.py", true, false),
            ("/skills", true, false),
            ("/scratch/x", true, true),
            ("/results/x", true, true),
            ("/proc/self", false, false),
            ("/home/x", false, false),
        ] {
            assert_eq!(
                (access.may_read(path), access.may_write(path)),
                (read, write),
                "{path}"
            );
        }
    }

    #[test]
    fn every_wrong_glob_is_reported_with_its_place() {
        let globs = |list: &[&str]| list.iter().map(|glob| (*glob).to_owned()).collect();
        let files = FileGlobs {
            read: globs(&["/ok", "scratch/**", "/a/../b"]),
            write: globs(&["/x["]),
            deny: Vec::new(),
        };
        let tools = ToolGlobs {
            allow: globs(&["stub/add", "stub"]),
            deny: globs(&["stub/*", ""]),
        };
        let mistakes = check_globs(&files, &tools).expect_err("mistakes");
        let said: Vec<String> = mistakes
            .into_iter()
            .map(|mistake| format!("{}: {}", mistake.field, mistake.message))
            .collect();
        assert_eq!(
            said,
            [
                "filesystem.read[1]: 'scratch/**' is not a virtual path; begin it with '/', such as '/scratch/**'",
                "filesystem.read[2]: '/a/../b' has '..'; write the path without it",
                "filesystem.write[0]: '/x[' is not a valid pattern: unclosed character class; missing ']'",
                "tools.allow[1]: 'stub' is not a tool name; write 'stub.*' for all tools of a server",
                "tools.deny[1]: is empty; write 'server.tool', with '*' for any text",
            ]
        );
        assert_eq!(check_globs(&FileGlobs::default(), &ToolGlobs::default()), Ok(()));
    }

    #[test]
    fn s0_56_a_virtual_server_s_globs_narrow_the_operator_s() {
        let operator = Policy::new(PolicyConfig {
            deny: vec!["stub.fail".to_owned()],
            ..PolicyConfig::default()
        })
        .expect("right rules");
        let globs = |list: &[&str]| list.iter().map(|glob| (*glob).to_owned()).collect();
        let check = |allow: &[&str], deny: &[&str], tool: &str, expected: &str| {
            let globs = ToolGlobs {
                allow: globs(allow),
                deny: globs(deny),
            };
            let policy = operator.for_virtual_server(&globs).expect("right globs");
            let (who, tool) = (Principal::local(), ToolRef::new("stub", tool));
            let admitted = policy.admit(&who, &tool);
            assert_eq!(policy.admit_unconfirmed(&who, &tool).is_ok(), admitted.is_ok());
            let said = admitted.map_or_else(|denied| denied.to_string(), |_| "ok".to_owned());
            assert_eq!(said, expected, "{allow:?} {deny:?} {tool}");
        };
        let denied = "tool 'stub.add' is denied by policy";
        let place = "this server's sandbox_policy";
        check(&[], &[], "add", "ok");
        check(&["stub/*"], &[], "add", "ok");
        check(
            &["stub/echo"],
            &[],
            "add",
            &format!("{denied} (no allow rule of {place} matches)"),
        );
        check(
            &["stub/*"],
            &["stub/add"],
            "add",
            &format!("{denied} (deny rule 'stub/add' of {place})"),
        );
        check(
            &["stub/fail"],
            &[],
            "fail",
            "tool 'stub.fail' is denied by policy (deny rule 'stub.fail')",
        );
        let none = ToolGlobs {
            allow: globs(&["crm/*"]),
            deny: Vec::new(),
        };
        let policy = operator.for_virtual_server(&none).expect("right globs");
        assert!(!policy.may_see(&Principal::local(), "stub") && policy.may_see(&Principal::local(), "crm"));
    }

    #[test]
    fn a_glob_s_cost_is_bounded() {
        let globs = ToolGlobs {
            allow: vec!["a/*".to_owned(), "a/".repeat(100)],
            deny: Vec::new(),
        };
        let mistakes = check_globs(&FileGlobs::default(), &globs).expect_err("a mistake");
        assert_eq!(mistakes.len(), 1);
        assert_eq!(mistakes[0].field, "tools.allow[1]");
        assert_eq!(
            mistakes[0].message,
            "has more than 4 '.' and '/'; write '*' for a part of them"
        );
        let long = vec![format!("/{}", "x".repeat(200)); 50];
        let files = FileGlobs {
            read: long,
            ..FileGlobs::default()
        };
        let mistakes = check_globs(&files, &ToolGlobs::default()).expect_err("a mistake");
        assert_eq!(mistakes[0].field, "filesystem");
        assert_eq!(
            mistakes[0].message,
            "the patterns have 10094 bytes together; 8192 are the most"
        );
    }
}
