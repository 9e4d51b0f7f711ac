//! The member `sandbox_policy`: reads flat keys and the nested form, in both cases, as one policy.

use policy::check_globs;
use serde_json::{Map, Value, json};
use types::{FileGlobs, PolicyNumber, Runtime, SandboxPolicy, Written};

use super::code::given;
use super::texts::{self, Items};
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object, boolean, one_of};

const PERMISSIONS: [&str; 3] = ["filesystem", "tools", "network"];
const NETWORK: [&str; 2] = ["allow_raw_http", "allow_tool_calls"];

/// Languages of the nested form, and their runtimes.
pub(crate) const LANGUAGES: [(&str, Runtime); 4] = [
    ("typescript", Runtime::Deno),
    ("javascript", Runtime::Deno),
    ("deno", Runtime::Deno),
    ("python", Runtime::Python),
];

/// Reads the member over the operator's policy. A flat key overrides the same key of the nested form.
pub(super) fn read(
    object: &Object<'_>,
    operator: &SandboxPolicy,
    mistakes: &mut MistakeList,
) -> MemberValue<SandboxPolicy> {
    given(object, "sandbox_policy", || {
        let flat = object.object("sandbox_policy", &known(), mistakes);
        let mut policy = operator.clone();
        read_nested(&flat, &mut policy, mistakes);
        read_numbers(&flat, &mut policy, mistakes);
        let runtime = flat.read("runtime", mistakes, |value| {
            one_of(value, &Runtime::ALL, Runtime::name)
        });
        policy.runtime = runtime.value().unwrap_or(policy.runtime);
        read_network(&flat, &mut policy, mistakes);
        policy
    })
}

/// The keys of a policy.
fn known() -> Vec<&'static str> {
    let numbers = PolicyNumber::ALL.map(PolicyNumber::name);
    let others = ["runtime", "limits", "permissions", "runtime_requirements"];
    numbers.into_iter().chain(NETWORK).chain(others).collect()
}

fn read_nested(flat: &Object<'_>, policy: &mut SandboxPolicy, mistakes: &mut MistakeList) {
    let limits = flat.object("limits", &PolicyNumber::ALL.map(PolicyNumber::name), mistakes);
    read_numbers(&limits, policy, mistakes);
    let required = flat.object("runtime_requirements", &["language"], mistakes);
    let language = required.read("language", mistakes, |value| {
        one_of(value, &LANGUAGES, |(name, _)| name)
    });
    policy.runtime = language.value().map_or(policy.runtime, |(_, runtime)| runtime);
    if flat.given("permissions").value().is_some() {
        let permissions = flat.object("permissions", &PERMISSIONS, mistakes);
        read_network(
            &permissions.object("network", &NETWORK, mistakes),
            policy,
            mistakes,
        );
        read_globs(&permissions, policy, mistakes);
    }
}

fn read_numbers(object: &Object<'_>, policy: &mut SandboxPolicy, mistakes: &mut MistakeList) {
    for number in PolicyNumber::ALL {
        object.read(number.name(), mistakes, |value| {
            policy.set_number(number, Written::json(value))
        });
    }
}

fn read_network(object: &Object<'_>, policy: &mut SandboxPolicy, mistakes: &mut MistakeList) {
    let [raw_http, tool_calls] = NETWORK.map(|name| object.read(name, mistakes, boolean).value());
    policy.allow_raw_http = raw_http.unwrap_or(policy.allow_raw_http);
    policy.allow_tool_calls = tool_calls.unwrap_or(policy.allow_tool_calls);
}

fn read_globs(permissions: &Object<'_>, policy: &mut SandboxPolicy, mistakes: &mut MistakeList) {
    let files = permissions.object("filesystem", &["read", "write", "deny"], mistakes);
    let tools = permissions.object("tools", &["allow", "deny"], mistakes);
    let mut replace = |object: &Object<'_>, name: &str, list: &mut Vec<String>| {
        if let MemberValue::Value(globs) = texts::list(object, name, Items::Texts, mistakes) {
            *list = globs;
        }
    };
    replace(&files, "read", &mut policy.files.read);
    replace(&files, "write", &mut policy.files.write);
    replace(&files, "deny", &mut policy.files.deny);
    replace(&tools, "allow", &mut policy.tools.allow);
    replace(&tools, "deny", &mut policy.tools.deny);
    let wrong = check_globs(&policy.files, &policy.tools)
        .err()
        .unwrap_or_default();
    for mistake in wrong {
        let place = permissions.place(&mistake.field);
        mistakes.wrong(&place, mistake.message);
    }
}

/// A policy in answers, in a form that a body may repeat: flat keys, and globs below `permissions`.
pub fn sandbox_policy_json(policy: &SandboxPolicy) -> Value {
    let mut flat = Map::new();
    flat.insert("runtime".to_owned(), policy.runtime.name().into());
    for number in PolicyNumber::ALL {
        flat.insert(number.name().to_owned(), policy.number(number).into());
    }
    for (name, allows) in NETWORK
        .into_iter()
        .zip([policy.allow_raw_http, policy.allow_tool_calls])
    {
        flat.insert(name.to_owned(), allows.into());
    }
    let FileGlobs { read, write, deny } = &policy.files;
    let permissions = json!({
        "filesystem": {"read": read, "write": write, "deny": deny},
        "tools": {"allow": policy.tools.allow, "deny": policy.tools.deny},
    });
    flat.insert("permissions".to_owned(), permissions);
    Value::Object(flat)
}
