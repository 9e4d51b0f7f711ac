//! The settings of a virtual server that runs programs, and the operator's defaults for them.

use std::fmt;
use std::str::FromStr;

use super::{MountRules, Runtime, SandboxPolicy};
use crate::Language;

/// The settings of a server of the kind `code_execution`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSettings {
    /// The tools that clients see.
    pub surface: CodeSurface,
    /// Language of the stubs below `/tools`, and of programs whose call names none. Never shell.
    pub stub_language: Language,
    /// `None` mounts every tool that the caller may see.
    pub mount_rules: Option<MountRules>,
    /// `None` for the operator's.
    pub sandbox_policy: Option<SandboxPolicy>,
    /// `None` for the operator's.
    pub tokenization: Option<Tokenization>,
    /// Who may use the skills that are made here.
    pub skills_scope: Option<SkillsScope>,
    /// Whether a skill waits for another person's approval.
    pub skills_require_approval: bool,
}

/// What the operator sets for servers whose requests leave it out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeDefaults {
    /// Also the values of keys that a server's policy leaves out.
    pub sandbox_policy: SandboxPolicy,
    /// Also the values of keys that a server's object leaves out.
    pub tokenization: Tokenization,
}

/// The set of tools that a server of the kind `code_execution` shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodeSurface {
    /// `shell_exec`, `fs_browse`, `fs_read`, `fs_write`.
    #[default]
    Server,
    /// `execute_code` and `search_tools`.
    Code,
    /// `run_python`.
    Bridge,
}

/// How personal data is replaced by tokens. The only strategy is `bidirectional`: tokens are restored in
/// arguments of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokenization {
    /// Whether data is replaced at all.
    pub enabled: bool,
    /// Without duplicates, in the order given.
    pub types: Vec<PersonalData>,
}

/// A type of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the words in requests")]
pub enum PersonalData {
    Email,
    Phone,
    Ssn,
    CreditCard,
    Name,
}

/// Who may use a server's skills: `team:<id>` or `user:<email>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillsScope {
    /// The team's id.
    Team(String),
    /// The user's address.
    User(String),
}

/// A text that does not name a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected \"team:<id>\" or \"user:<email>\" without spaces, at most {} bytes",
    SkillsScope::MAX_BYTES
)]
pub struct BadScope;

// === impl CodeSettings ===

impl CodeSettings {
    /// The settings of a server whose request sets none of them.
    pub fn new(defaults: &CodeDefaults) -> Self {
        Self {
            surface: CodeSurface::default(),
            stub_language: defaults.sandbox_policy.runtime.language(),
            mount_rules: None,
            sandbox_policy: None,
            tokenization: None,
            skills_scope: None,
            skills_require_approval: false,
        }
    }

    /// The policy that binds the server's programs.
    pub fn sandbox_policy<'a>(&'a self, defaults: &'a CodeDefaults) -> &'a SandboxPolicy {
        self.sandbox_policy.as_ref().unwrap_or(&defaults.sandbox_policy)
    }

    /// What is replaced in results that programs receive.
    pub fn tokenization<'a>(&'a self, defaults: &'a CodeDefaults) -> &'a Tokenization {
        self.tokenization.as_ref().unwrap_or(&defaults.tokenization)
    }
}

// === impl CodeSurface ===

impl CodeSurface {
    /// In the order of the variants.
    pub const ALL: [CodeSurface; 3] = [CodeSurface::Server, CodeSurface::Code, CodeSurface::Bridge];

    /// The word in requests.
    pub fn name(self) -> &'static str {
        match self {
            CodeSurface::Server => "server",
            CodeSurface::Code => "code",
            CodeSurface::Bridge => "bridge",
        }
    }
}

// === impl Tokenization ===

impl Tokenization {
    /// The only strategy.
    pub const STRATEGY: &str = "bidirectional";
}

impl Default for Tokenization {
    fn default() -> Self {
        Self {
            enabled: false,
            types: PersonalData::ALL.to_vec(),
        }
    }
}

// === impl PersonalData ===

impl PersonalData {
    /// In the order of the default.
    pub const ALL: [PersonalData; 5] = [
        PersonalData::Email,
        PersonalData::Phone,
        PersonalData::Ssn,
        PersonalData::CreditCard,
        PersonalData::Name,
    ];

    /// The word in requests.
    pub fn name(self) -> &'static str {
        match self {
            PersonalData::Email => "email",
            PersonalData::Phone => "phone",
            PersonalData::Ssn => "ssn",
            PersonalData::CreditCard => "credit_card",
            PersonalData::Name => "name",
        }
    }
}

// === impl SkillsScope ===

impl SkillsScope {
    /// Of its text; an address has at most 254.
    pub const MAX_BYTES: usize = 262;
}

impl fmt::Display for SkillsScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkillsScope::Team(id) => write!(f, "team:{id}"),
            SkillsScope::User(email) => write!(f, "user:{email}"),
        }
    }
}

impl FromStr for SkillsScope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        let is_plain = |c: char| c.is_ascii_graphic() || (c.is_alphanumeric() && !c.is_ascii());
        let (kind, name) = text.split_once(':').ok_or(BadScope)?;
        if name.is_empty() || text.len() > SkillsScope::MAX_BYTES || !name.chars().all(is_plain) {
            return Err(BadScope);
        }
        match kind {
            "team" => Ok(SkillsScope::Team(name.to_owned())),
            "user" if name.contains('@') => Ok(SkillsScope::User(name.to_owned())),
            _ => Err(BadScope),
        }
    }
}

// === impl Runtime ===

impl Runtime {
    /// The language of its programs.
    pub fn language(self) -> Language {
        match self {
            Runtime::Deno => Language::TypeScript,
            Runtime::Python => Language::Python,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn s0_13_scopes_name_a_team_or_a_user() {
        for right in [
            "team:platform-eng",
            "user:ann@example.com",
            "team:a:b",
            "team:Zürich",
        ] {
            let scope: SkillsScope = right.parse().expect(right);
            assert_eq!(scope.to_string(), right);
        }
        let long = format!("team:{}", "x".repeat(SkillsScope::MAX_BYTES));
        for wrong in [
            "",
            "team",
            "team:",
            "user:ann",
            "Team:a",
            "team: a",
            "role:x",
            "team:a\u{202e}b",
            &long,
        ] {
            assert_eq!(wrong.parse::<SkillsScope>(), Err(BadScope), "{wrong}");
        }
    }

    #[test]
    fn s0_09_a_new_server_s_stubs_are_in_the_language_of_the_operator_s_runtime() {
        let mut defaults = CodeDefaults::default();
        assert_eq!(CodeSettings::new(&defaults).stub_language, Language::TypeScript);
        defaults.sandbox_policy.runtime = Runtime::Python;
        let new = CodeSettings::new(&defaults);
        assert_eq!(new.stub_language, Language::Python);
        assert_eq!(new.sandbox_policy(&defaults).runtime, Runtime::Python);
    }

    proptest! {
        #[test]
        fn a_scope_that_is_read_is_written_the_same(text in "(team|user|x)?:?[a-z@: \u{e4}]{0,9}") {
            if let Ok(scope) = text.parse::<SkillsScope>() {
                prop_assert_eq!(scope.to_string(), text);
            }
        }
    }
}
