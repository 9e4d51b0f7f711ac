//! The gateway's variables `CODE_EXECUTION_*`: switches, and defaults for servers of the kind `code_execution`.
//!
//! The gateway that Codeyard replaces has the same variables. Each is optional. An empty variable counts as absent.

use environment::{Diagnostics, Environment, nearest};
use types::{
    CodeDefaults, EntryBounds, FileBounds, PersonalData, PolicyNumber, Runtime, Tokenization, Written,
};

use crate::bridge::values::switch;

const PREFIX: &str = "CODE_EXECUTION_";
const DEFAULT: &str = "DEFAULT_";

/// Minimum, maximum and default of a number.
type Bounds = (u64, u64, u64);
const READ_SIZE: Bounds = (1024, 10_485_760, 1_048_576);
const USUAL_ENTRIES: Bounds = (1, 5000, 200);
const MOST_ENTRIES: Bounds = (1, 10_000, 1000);

/// Variables that have no effect here, with the reason.
const UNUSED: [(&str, &str); 6] = [
    (
        "MAX_PERSISTED_OUTPUT_CHARS",
        "recordings keep up to 1 MiB of output, encrypted",
    ),
    (
        "BASE_DIR",
        "files are below the data directory; name it with --data",
    ),
    (
        "PYTHON_INPROCESS_FALLBACK_ENABLED",
        "programs run in the sandbox, never in Codeyard's own process",
    ),
    ("RUST_ACCELERATION_ENABLED", "there is nothing to accelerate"),
    (
        "PYTHON_DANGEROUS_PATTERNS",
        "programs are confined by the sandbox; their text is not searched",
    ),
    (
        "TYPESCRIPT_DANGEROUS_PATTERNS",
        "programs are confined by the sandbox; their text is not searched",
    ),
];

/// The operator's settings for virtual servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeExecution {
    /// S0-01: whether servers of the kind `code_execution` may be created and used.
    pub enabled: bool,
    /// S0-02: disabled tools of the surface `server`.
    pub disabled_tools: Vec<&'static str>,
    /// S0-03: whether runs may be repeated.
    pub replay: bool,
    /// S0-04: defaults for settings that a request omits.
    pub defaults: CodeDefaults,
    /// S0-05: limits of one call of `fs_read` and `fs_browse`.
    pub file_bounds: FileBounds,
}

/// The tools of the surface `server`, each with the variable that disables it.
const SWITCHES: [(&str, &str); 4] = [
    ("SHELL_EXEC_ENABLED", "shell_exec"),
    ("FS_BROWSE_ENABLED", "fs_browse"),
    ("FS_READ_ENABLED", "fs_read"),
    ("FS_WRITE_ENABLED", "fs_write"),
];

impl CodeExecution {
    /// Reads the variables; reports every mistake.
    pub(crate) fn read(env: &dyn Environment, diagnostics: &mut Diagnostics) -> CodeExecution {
        let mut reader = GatewayVariables {
            env,
            diagnostics,
            known: Vec::new(),
        };
        let (usual, most) = (
            reader.number("FS_BROWSE_DEFAULT_MAX_ENTRIES", USUAL_ENTRIES),
            reader.number("FS_BROWSE_MAX_ENTRIES", MOST_ENTRIES),
        );
        let entries = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let read = CodeExecution {
            enabled: reader.switch("ENABLED").unwrap_or(true),
            disabled_tools: SWITCHES
                .into_iter()
                .filter(|(name, _)| reader.switch(name) == Some(false))
                .map(|(_, tool)| tool)
                .collect(),
            replay: reader.switch("REPLAY_ENABLED").unwrap_or(true),
            defaults: reader.defaults(),
            file_bounds: FileBounds {
                read: reader.number("FS_READ_MAX_SIZE_BYTES", READ_SIZE),
                entries: EntryBounds {
                    usual: entries(usual.min(most)),
                    most: entries(most),
                },
            },
        };
        reader.check_names();
        read
    }
}

/// Reads the variables one by one.
struct GatewayVariables<'a> {
    env: &'a dyn Environment,
    diagnostics: &'a mut Diagnostics,
    /// Known names, without the prefix.
    known: Vec<String>,
}

impl GatewayVariables<'_> {
    fn text(&mut self, name: &str) -> Option<String> {
        self.known.push(name.to_owned());
        let name = format!("{PREFIX}{name}");
        match self.env.var(&name) {
            Ok(value) => value
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty()),
            Err(error) => {
                self.diagnostics.mistake(&name, error.to_string());
                None
            }
        }
    }

    fn value<T>(&mut self, name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(name)?;
        read(&text)
            .map_err(|message| self.diagnostics.mistake(&format!("{PREFIX}{name}"), message))
            .ok()
    }

    fn switch(&mut self, name: &str) -> Option<bool> {
        self.value(name, switch)
    }

    fn number(&mut self, name: &str, (least, most, usual): Bounds) -> u64 {
        let read = self.value(name, |text| Written::argument(text).count(least..=most));
        read.unwrap_or(usual)
    }

    /// A JSON array of strings.
    fn list(&mut self, name: &str) -> Option<Vec<String>> {
        self.value(name, |text| {
            let list: Result<Vec<String>, _> = serde_json::from_str(text);
            list.map_err(|_| format!("`{text}` is not a JSON array of strings, such as [\"a\", \"b\"]"))
        })
    }

    fn defaults(&mut self) -> CodeDefaults {
        let mut defaults = CodeDefaults::default();
        let policy = &mut defaults.sandbox_policy;
        for number in PolicyNumber::ALL {
            // The original spells this name without `DEFAULT`.
            let name = match number {
                PolicyNumber::SessionTtlSeconds => "SESSION_TTL_SECONDS".to_owned(),
                other => format!("{DEFAULT}{}", other.name().to_uppercase()),
            };
            self.value(&name, |text| policy.set_number(number, Written::argument(text)));
        }
        let default = |name: &str| format!("{DEFAULT}{name}");
        if let Some(runtime) = self.value(&default("RUNTIME"), runtime) {
            policy.runtime = runtime;
        }
        policy.allow_tool_calls = self
            .switch(&default("ALLOW_TOOL_CALLS"))
            .unwrap_or(policy.allow_tool_calls);
        policy.allow_raw_http = self
            .switch(&default("ALLOW_RAW_HTTP"))
            .unwrap_or(policy.allow_raw_http);
        for (name, list) in [
            ("FILESYSTEM_READ_PATHS", &mut policy.files.read),
            ("FILESYSTEM_WRITE_PATHS", &mut policy.files.write),
            ("FILESYSTEM_DENY_PATHS", &mut policy.files.deny),
            ("TOOL_ALLOW_PATTERNS", &mut policy.tools.allow),
            ("TOOL_DENY_PATTERNS", &mut policy.tools.deny),
        ] {
            if let Some(read) = self.list(&default(name)) {
                *list = read;
            }
        }
        for mistake in policy::check_globs(&policy.files, &policy.tools)
            .err()
            .unwrap_or_default()
        {
            self.diagnostics.mistake(
                &format!("{PREFIX}{DEFAULT}*"),
                format!("{}: {}", mistake.field, mistake.message),
            );
        }
        defaults.tokenization = self.tokenization();
        defaults
    }

    fn tokenization(&mut self) -> Tokenization {
        let usual = Tokenization::default();
        self.value(&format!("{DEFAULT}TOKENIZATION_STRATEGY"), |text| match text {
            Tokenization::STRATEGY => Ok(()),
            other => Err(format!(
                "`{other}` is unknown; write `{}`",
                Tokenization::STRATEGY
            )),
        });
        Tokenization {
            enabled: self
                .switch(&format!("{DEFAULT}TOKENIZATION_ENABLED"))
                .unwrap_or(usual.enabled),
            types: self
                .value(&format!("{DEFAULT}TOKENIZATION_TYPES"), personal_data)
                .unwrap_or(usual.types),
        }
    }

    /// Warns about variables without effect, and about unknown ones.
    fn check_names(&mut self) {
        for name in self.env.names(PREFIX) {
            let rest = name.strip_prefix(PREFIX).unwrap_or(&name);
            if self.known.iter().any(|known| known == rest) {
                continue;
            }
            let unused = UNUSED.iter().find(|(unused, _)| *unused == rest);
            let message = match (unused, nearest(rest, self.known.iter().map(String::as_str))) {
                (Some((_, reason)), _) => format!("has no effect: {reason}"),
                (None, Some(near)) => {
                    format!("codeyard does not use this variable; did you mean {PREFIX}{near}?")
                }
                (None, None) => "codeyard does not use this variable".to_owned(),
            };
            self.diagnostics.warning(&name, message);
        }
    }
}

fn runtime(text: &str) -> Result<Runtime, String> {
    let found = Runtime::ALL.into_iter().find(|runtime| runtime.name() == text);
    found.ok_or_else(|| format!("`{text}` is unknown; write `deno` or `python`"))
}

fn personal_data(text: &str) -> Result<Vec<PersonalData>, String> {
    let words: Vec<String> = serde_json::from_str(text)
        .map_err(|_| format!("`{text}` is not a JSON array of strings, such as [\"email\", \"phone\"]"))?;
    let read = |word: &String| {
        let found = PersonalData::ALL.into_iter().find(|data| data.name() == word);
        let names = || PersonalData::ALL.map(PersonalData::name).join("`, `");
        found.ok_or_else(|| format!("`{word}` is unknown; write some of `{}`", names()))
    };
    words.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use test_support::FakeEnvironment;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> (CodeExecution, Vec<String>, Vec<String>) {
        let env = variables
            .iter()
            .fold(FakeEnvironment::new(), |env, (name, value)| {
                env.var(&format!("{PREFIX}{name}"), value)
            });
        let mut diagnostics = Diagnostics::of(None);
        let read = CodeExecution::read(&env, &mut diagnostics);
        let texts = |list: &[environment::Mistake]| list.iter().map(ToString::to_string).collect();
        (read, texts(&diagnostics.mistakes), texts(&diagnostics.warnings))
    }

    #[test]
    fn s0_01_to_s0_05_without_variables_the_defaults_apply() {
        let (read, mistakes, warnings) = read(&[("SHELL_EXEC_ENABLED", "")]);
        assert!(mistakes.is_empty() && warnings.is_empty());
        assert!(read.enabled && read.disabled_tools.is_empty());
        assert_eq!(read.defaults, CodeDefaults::default());
        assert_eq!(read.file_bounds, FileBounds::default());
    }

    #[test]
    fn s0_01_to_s0_05_every_variable_has_its_effect() {
        let (read, mistakes, warnings) = read(&[
            ("ENABLED", "false"),
            ("FS_BROWSE_ENABLED", "false"),
            ("DEFAULT_RUNTIME", "python"),
            ("DEFAULT_MAX_MEMORY_MB", "64"),
            ("DEFAULT_MAX_RUNS_PER_MINUTE", "3"),
            ("SESSION_TTL_SECONDS", "60"),
            ("DEFAULT_ALLOW_TOOL_CALLS", "false"),
            ("DEFAULT_TOOL_DENY_PATTERNS", r#"["stub/add"]"#),
            ("DEFAULT_FILESYSTEM_DENY_PATHS", r#"["/scratch/private/**"]"#),
            ("DEFAULT_TOKENIZATION_ENABLED", "true"),
            ("DEFAULT_TOKENIZATION_TYPES", r#"["email"]"#),
            ("FS_BROWSE_DEFAULT_MAX_ENTRIES", "500"),
            ("FS_BROWSE_MAX_ENTRIES", "300"),
        ]);
        assert_eq!((mistakes, warnings), (vec![], vec![]));
        assert!(!read.enabled);
        assert_eq!(read.disabled_tools, ["fs_browse"]);
        let policy = &read.defaults.sandbox_policy;
        assert_eq!(policy.runtime, Runtime::Python);
        assert_eq!(policy.number(PolicyNumber::MaxMemoryMb), 64);
        assert_eq!(policy.number(PolicyNumber::MaxRunsPerMinute), 3);
        assert_eq!(policy.number(PolicyNumber::SessionTtlSeconds), 60);
        assert!(!policy.allow_tool_calls);
        assert_eq!(policy.tools.deny, ["stub/add"]);
        assert_eq!(policy.files.deny, ["/scratch/private/**"]);
        assert!(read.defaults.tokenization.enabled);
        assert_eq!(read.defaults.tokenization.types, [PersonalData::Email]);
        let entries = read.file_bounds.entries;
        assert_eq!((entries.usual, entries.most), (300, 300));
    }

    #[test]
    fn c010_mistakes_name_the_variable_and_the_bounds() {
        let (_, mistakes, _) = read(&[
            ("ENABLED", "maybe"),
            ("DEFAULT_MAX_MEMORY_MB", "8"),
            ("DEFAULT_RUNTIME", "ruby"),
            ("DEFAULT_TOOL_ALLOW_PATTERNS", "stub/*"),
            ("DEFAULT_TOKENIZATION_STRATEGY", "oneway"),
            ("FS_READ_MAX_SIZE_BYTES", "1"),
        ]);
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(mistakes.join("\n")) });
    }

    #[test]
    fn s0_06_s0_07_variables_without_effect_are_told() {
        let (_, mistakes, warnings) = read(&[
            ("BASE_DIR", "/tmp/x"),
            ("PYTHON_DANGEROUS_PATTERNS", "[]"),
            ("FS_BROWS_ENABLED", "true"),
        ]);
        assert!(mistakes.is_empty());
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(warnings.join("\n")) });
    }
}
