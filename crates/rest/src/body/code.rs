//! The members of servers of the kind `code_execution`.

use serde_json::Value;
use types::{
    BadScope, CodeDefaults, CodeSettings, CodeSurface, Language, MountRules, PersonalData, SkillsScope,
    Tokenization,
};

use super::policy;
use super::server::cleared;
use super::texts::{self, Items};
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object, boolean, one_of};

/// The members, in snake case.
pub(super) const NAMES: [&str; 7] = [
    "surface",
    "stub_language",
    "mount_rules",
    "sandbox_policy",
    "tokenization",
    "skills_scope",
    "skills_require_approval",
];

/// Members with system 0's text for a refusal.
const POLICIES: [&str; 3] = ["mount_rules", "sandbox_policy", "tokenization"];

/// Languages of stubs.
pub(crate) const STUB_LANGUAGES: [Language; 2] = [Language::TypeScript, Language::Python];

/// The settings after the request. `base` is `None` for a server of another kind.
pub(super) fn read(
    object: &Object<'_>,
    base: Option<&CodeSettings>,
    defaults: &CodeDefaults,
    mistakes: &mut MistakeList,
) -> CodeSettings {
    let new = CodeSettings::new(defaults);
    let old = base.unwrap_or(&new);
    let mut settings = CodeSettings {
        surface: cleared(
            object.read("surface", mistakes, |value| {
                one_of(value, &CodeSurface::ALL, CodeSurface::name)
            }),
            &old.surface,
        ),
        mount_rules: cleared(mount_rules(object, mistakes), &old.mount_rules),
        sandbox_policy: cleared(
            policy::read(object, &defaults.sandbox_policy, mistakes),
            &old.sandbox_policy,
        ),
        tokenization: cleared(tokenization(object, defaults, mistakes), &old.tokenization),
        skills_scope: cleared(
            object.read("skills_scope", mistakes, skills_scope),
            &old.skills_scope,
        ),
        skills_require_approval: cleared(
            object.read("skills_require_approval", mistakes, boolean),
            &old.skills_require_approval,
        ),
        stub_language: old.stub_language,
    };
    let by_runtime = settings.sandbox_policy(defaults).runtime.language();
    let stub_language = object.read("stub_language", mistakes, |value| {
        one_of(value, &STUB_LANGUAGES, Language::name)
    });
    settings.stub_language = match stub_language {
        MemberValue::Value(language) => language,
        MemberValue::Absent if base.is_some() => old.stub_language,
        MemberValue::Absent | MemberValue::Null => by_runtime,
    };
    settings
}

/// Reports members that a server of another kind cannot have.
pub(super) fn refuse(object: &Object<'_>, kind: &str, mistakes: &mut MistakeList) {
    for name in NAMES {
        let MemberValue::Value(value) = object.given(name) else {
            continue;
        };
        if POLICIES.contains(&name) {
            let text = "mount_rules/sandbox_policy/tokenization are only valid for type='code_execution'";
            mistakes.wrong(&object.place(name), text);
        } else if *value != Value::Bool(false) {
            let text = format!("is only valid for type='code_execution', and the server is '{kind}'");
            mistakes.wrong(&object.place(name), text);
        }
    }
}

fn mount_rules(object: &Object<'_>, mistakes: &mut MistakeList) -> MemberValue<MountRules> {
    given(object, "mount_rules", || {
        let lists = object.object("mount_rules", &MountRules::NAMES, mistakes);
        let mut rules = MountRules::default();
        for (name, list) in MountRules::NAMES.into_iter().zip(rules.lists_mut()) {
            let items = if name.ends_with("_tags") {
                Items::Tags
            } else {
                Items::Texts
            };
            *list = texts::list(&lists, name, items, mistakes)
                .value()
                .unwrap_or_default();
        }
        rules
    })
}

fn tokenization(
    object: &Object<'_>,
    defaults: &CodeDefaults,
    mistakes: &mut MistakeList,
) -> MemberValue<Tokenization> {
    given(object, "tokenization", || {
        let members = object.object("tokenization", &["enabled", "types", "strategy"], mistakes);
        let usual = &defaults.tokenization;
        members.read("strategy", mistakes, |value| {
            one_of(value, &[Tokenization::STRATEGY], |strategy| strategy)
        });
        Tokenization {
            enabled: members
                .read("enabled", mistakes, boolean)
                .value()
                .unwrap_or(usual.enabled),
            types: types(&members, mistakes).unwrap_or_else(|| usual.types.clone()),
        }
    })
}

fn types(members: &Object<'_>, mistakes: &mut MistakeList) -> Option<Vec<PersonalData>> {
    let names = texts::list(members, "types", Items::Texts, mistakes).value()?;
    let place = members.place("types");
    let mut types = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let read = one_of(&Value::String(name), &PersonalData::ALL, PersonalData::name);
        types.extend(mistakes.or_wrong(&format!("{place}[{index}]"), read));
    }
    Some(texts::without_duplicates(types))
}

fn skills_scope(value: &Value) -> Result<SkillsScope, String> {
    let text = texts::line(value, SkillsScope::MAX_BYTES)?;
    text.parse().map_err(|error: BadScope| error.to_string())
}

/// A member's value from `read`, unless the member is absent or null.
pub(super) fn given<T>(object: &Object<'_>, name: &str, read: impl FnOnce() -> T) -> MemberValue<T> {
    match object.given(name) {
        MemberValue::Absent => MemberValue::Absent,
        MemberValue::Null => MemberValue::Null,
        MemberValue::Value(_) => MemberValue::Value(read()),
    }
}
