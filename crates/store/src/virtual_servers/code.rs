//! The settings of a server that runs programs, as JSON text.
//!
//! Reading fails for an unknown member, because no version may ignore a policy rule.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use types::{
    CodeSettings, CodeSurface, FileGlobs, Language, MountRules, PersonalData, PolicyNumber, Runtime,
    SandboxPolicy, Tokenization, ToolGlobs, Written,
};

use super::rows::{damaged, one_of};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCode {
    surface: String,
    stub_language: String,
    /// The lists by their names.
    mount_rules: Option<BTreeMap<String, Vec<String>>>,
    sandbox_policy: Option<StoredPolicy>,
    tokenization: Option<StoredTokenization>,
    skills_scope: Option<String>,
    skills_require_approval: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPolicy {
    runtime: String,
    /// Numbers by key; an absent number has its default.
    numbers: BTreeMap<String, u64>,
    allow_raw_http: bool,
    allow_tool_calls: bool,
    files: StoredFiles,
    tools: StoredTools,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFiles {
    read: Vec<String>,
    write: Vec<String>,
    deny: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTools {
    allow: Vec<String>,
    deny: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTokenization {
    enabled: bool,
    types: Vec<String>,
}

pub(super) fn write(settings: &CodeSettings) -> Result<String, sqlx::Error> {
    // Each of these patterns names every field, so that a new setting does not compile before it is stored.
    let CodeSettings {
        surface,
        stub_language,
        mount_rules,
        sandbox_policy,
        tokenization,
        skills_scope,
        skills_require_approval,
    } = settings.clone();
    let stored = StoredCode {
        surface: surface.name().to_owned(),
        stub_language: stub_language.name().to_owned(),
        mount_rules: mount_rules.map(|rules| {
            let names = MountRules::NAMES.into_iter().map(str::to_owned);
            names.zip(rules.lists().into_iter().cloned()).collect()
        }),
        sandbox_policy: sandbox_policy.map(StoredPolicy::of),
        tokenization: tokenization.map(|Tokenization { enabled, types }| StoredTokenization {
            enabled,
            types: types.into_iter().map(|kind| kind.name().to_owned()).collect(),
        }),
        skills_scope: skills_scope.map(|scope| scope.to_string()),
        skills_require_approval,
    };
    serde_json::to_string(&stored).map_err(damaged)
}

pub(super) fn read(text: &str) -> Result<CodeSettings, sqlx::Error> {
    let stored: StoredCode = serde_json::from_str(text).map_err(damaged)?;
    let scope = stored.skills_scope.map(|scope| scope.parse().map_err(damaged));
    Ok(CodeSettings {
        surface: one_of(&stored.surface, &CodeSurface::ALL, CodeSurface::name)?,
        stub_language: one_of(&stored.stub_language, &Language::ALL, Language::name)?,
        mount_rules: stored.mount_rules.map(mount_rules).transpose()?,
        sandbox_policy: stored.sandbox_policy.map(StoredPolicy::read).transpose()?,
        tokenization: stored.tokenization.map(tokenization).transpose()?,
        skills_scope: scope.transpose()?,
        skills_require_approval: stored.skills_require_approval,
    })
}

fn mount_rules(mut stored: BTreeMap<String, Vec<String>>) -> Result<MountRules, sqlx::Error> {
    let mut rules = MountRules::default();
    for (name, list) in MountRules::NAMES.into_iter().zip(rules.lists_mut()) {
        *list = stored.remove(name).unwrap_or_default();
    }
    match stored.into_keys().next() {
        None => Ok(rules),
        Some(name) => Err(damaged(format!("unknown rule '{}'", name.escape_debug()))),
    }
}

fn tokenization(stored: StoredTokenization) -> Result<Tokenization, sqlx::Error> {
    let types = stored.types.iter();
    let types = types.map(|name| one_of(name, &PersonalData::ALL, PersonalData::name));
    Ok(Tokenization {
        enabled: stored.enabled,
        types: types.collect::<Result<_, _>>()?,
    })
}

// === impl StoredPolicy ===

impl StoredPolicy {
    fn of(policy: SandboxPolicy) -> StoredPolicy {
        let numbers = PolicyNumber::ALL.into_iter();
        let FileGlobs { read, write, deny } = policy.files.clone();
        let ToolGlobs {
            allow,
            deny: denied_tools,
        } = policy.tools.clone();
        StoredPolicy {
            runtime: policy.runtime.name().to_owned(),
            numbers: numbers
                .map(|number| (number.name().to_owned(), policy.number(number)))
                .collect(),
            allow_raw_http: policy.allow_raw_http,
            allow_tool_calls: policy.allow_tool_calls,
            files: StoredFiles { read, write, deny },
            tools: StoredTools {
                allow,
                deny: denied_tools,
            },
        }
    }

    fn read(self) -> Result<SandboxPolicy, sqlx::Error> {
        let mut policy = SandboxPolicy::default();
        for (name, value) in self.numbers {
            let number = PolicyNumber::from_name(&name);
            let number =
                number.ok_or_else(|| damaged(format!("unknown number '{}'", name.escape_debug())))?;
            policy
                .set_number(number, Written::Whole(value))
                .map_err(damaged)?;
        }
        policy.runtime = one_of(&self.runtime, &Runtime::ALL, Runtime::name)?;
        policy.allow_raw_http = self.allow_raw_http;
        policy.allow_tool_calls = self.allow_tool_calls;
        policy.files = FileGlobs {
            read: self.files.read,
            write: self.files.write,
            deny: self.files.deny,
        };
        policy.tools = ToolGlobs {
            allow: self.tools.allow,
            deny: self.tools.deny,
        };
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use types::SkillsScope;

    use super::*;

    fn words() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec(any::<String>(), 0..3)
    }

    prop_compose! {
        fn rules()(lists in proptest::array::uniform6(words())) -> MountRules {
            let mut rules = MountRules::default();
            for (place, list) in rules.lists_mut().into_iter().zip(lists) {
                *place = list;
            }
            rules
        }
    }

    prop_compose! {
        fn policy()(
            runtime in proptest::sample::select(&Runtime::ALL[..]),
            places in proptest::array::uniform8(any::<u64>()),
            flags: (bool, bool),
            lists in proptest::array::uniform5(words()),
        ) -> SandboxPolicy {
            let mut policy = SandboxPolicy::default();
            for (number, place) in PolicyNumber::ALL.into_iter().zip(places) {
                let (first, last) = number.range().into_inner();
                let value = Written::Whole(first + place % (last - first + 1));
                policy.set_number(number, value).expect("within its range");
            }
            policy.runtime = runtime;
            (policy.allow_raw_http, policy.allow_tool_calls) = flags;
            let [read, write, deny, allow, denied] = lists;
            policy.files = FileGlobs { read, write, deny };
            policy.tools = ToolGlobs { allow, deny: denied };
            policy
        }
    }

    prop_compose! {
        fn settings()(
            surface in proptest::sample::select(&CodeSurface::ALL[..]),
            stub_language in proptest::sample::select(&Language::ALL[..]),
            mount_rules in proptest::option::of(rules()),
            sandbox_policy in proptest::option::of(policy()),
            tokenization in proptest::option::of((
                any::<bool>(),
                proptest::sample::subsequence(&PersonalData::ALL[..], 0..=5),
            )),
            scope in proptest::option::of("(team:[a-z-]{1,9}|user:[a-z]{1,9}@example[.]com)"),
            skills_require_approval: bool,
        ) -> CodeSettings {
            CodeSettings {
                surface,
                stub_language,
                mount_rules,
                sandbox_policy,
                tokenization: tokenization.map(|(enabled, types)| Tokenization { enabled, types }),
                skills_scope: scope.map(|scope| scope.parse::<SkillsScope>().expect("a scope")),
                skills_require_approval,
            }
        }
    }

    proptest! {
        #[test]
        fn every_setting_is_read_as_it_was_written(settings in settings()) {
            let text = write(&settings).expect("written");
            prop_assert_eq!(read(&text).expect("read"), settings);
        }
    }

    #[test]
    fn what_this_version_does_not_know_is_refused() {
        let whole = r#"{"surface":"server","stub_language":"python","mount_rules":{"include_tags":["a"]},
            "sandbox_policy":{"runtime":"deno","numbers":{"max_memory_mb":512},"allow_raw_http":false,
            "allow_tool_calls":true,"files":{"read":[],"write":[],"deny":[]},"tools":{"allow":[],"deny":[]}},
            "tokenization":{"enabled":true,"types":["email"]},"skills_scope":"team:a","skills_require_approval":false}"#;
        assert!(read(whole).is_ok());
        for (known, changed) in [
            (r#""surface":"server""#, r#""surface":"other""#),
            (r#""surface":"server""#, r#""surface":"server","more":1"#),
            ("include_tags", "include_names"),
            ("max_memory_mb", "max_memory"),
            ("512", "1"),
            (
                r#""allow_raw_http":false"#,
                r#""allow_raw_http":false,"allow_dns":true"#,
            ),
            ("email", "iban"),
            ("team:a", "role:a"),
        ] {
            assert!(read(&whole.replacen(known, changed, 1)).is_err(), "{changed}");
        }
    }
}
