//! Bodies: accepted requests and reported mistakes.

mod mistakes;
mod properties;
mod updates;

use serde_json::{Value, json};
use types::{
    CodeDefaults, CodeSettings, Language, PersonalData, PolicyNumber, Runtime, SandboxPolicy, ServerId,
    ServerKind, ServerSettings, SkillsScope, TenantId, UserId, VirtualServer, Visibility, Written,
};

use super::*;

/// Defaults in which the operator has changed one value of each kind.
fn operator() -> CodeDefaults {
    let mut defaults = CodeDefaults::default();
    let policy = &mut defaults.sandbox_policy;
    policy.runtime = Runtime::Python;
    policy.allow_tool_calls = false;
    policy.tools.deny = vec!["stub/add".to_owned()];
    let memory = policy.set_number(PolicyNumber::MaxMemoryMb, Written::Whole(512));
    assert_eq!(memory, Ok(()));
    defaults.tokenization.types = vec![PersonalData::Email];
    defaults
}

fn create(body: &Value) -> Result<NewServer, RestError> {
    create_server(body.to_string().as_bytes(), &CodeDefaults::default())
}

fn created(body: &Value) -> ServerSettings {
    match create(body) {
        Ok(new) => new.settings,
        Err(problem) => panic!("{body}: {problem}"),
    }
}

fn code(settings: &ServerSettings) -> &CodeSettings {
    settings.kind.code().expect("a server of the kind code_execution")
}

/// A new code-execution server with this policy.
fn with_policy(policy: &Value) -> Value {
    json!({"name": "a", "type": "code_execution", "sandbox_policy": policy})
}

fn policy(policy: &Value, defaults: &CodeDefaults) -> SandboxPolicy {
    let body = with_policy(policy).to_string();
    let new = create_server(body.as_bytes(), defaults).unwrap_or_else(|problem| panic!("{body}: {problem}"));
    code(&new.settings).sandbox_policy.clone().expect("a policy")
}

fn server(settings: ServerSettings) -> VirtualServer {
    VirtualServer {
        id: ServerId::new("s1"),
        tenant: TenantId::new("acme"),
        owner: UserId::new("ann@example.com"),
        created_ms: 1_000,
        updated_ms: 2_000,
        settings,
    }
}

/// The documented body of system 0.
fn documented() -> Value {
    serde_json::from_str(include_str!("documented.json")).unwrap()
}

#[test]
fn c001_the_documented_body_creates_a_server_and_is_answered_in_camel_case() {
    let settings = created(&documented());
    assert_eq!(
        code(&settings).skills_scope,
        Some(SkillsScope::Team("platform-eng".to_owned()))
    );
    let answer = serde_json::to_value(ServerView::of(&server(settings))).expect("JSON");
    assert_eq!(
        answer,
        json!({
            "id": "s1",
            "name": "secure-code-lab",
            "description": "Sandboxed execution for analytics workflows",
            "icon": null,
            "type": "code_execution",
            "tags": [],
            "visibility": "public",
            "teamId": null,
            "ownerEmail": "ann@example.com",
            "createdAt": "1970-01-01T00:00:01.000Z",
            "updatedAt": "1970-01-01T00:00:02.000Z",
            "surface": "server",
            "stubLanguage": "python",
            "mountRules": {
                "include_tags": ["analytics"], "exclude_tags": [],
                "include_servers": [], "exclude_servers": ["admin-internal"],
                "include_tools": [], "exclude_tools": [],
            },
            "sandboxPolicy": {
                "runtime": "python",
                "max_execution_time_ms": 30000,
                "max_memory_mb": 256,
                "max_cpu_percent": 50,
                "max_network_connections": 0,
                "max_file_size_mb": 10,
                "max_total_disk_mb": 100,
                "max_runs_per_minute": 20,
                "session_ttl_seconds": 900,
                "allow_raw_http": false,
                "allow_tool_calls": true,
                "permissions": {
                    "filesystem": {
                        "read": ["/tools/**", "/skills/**", "/scratch/**", "/results/**"],
                        "write": ["/scratch/**", "/results/**"],
                        "deny": ["/etc/**", "/proc/**", "/sys/**"],
                    },
                    "tools": {"allow": [], "deny": []},
                },
            },
            "tokenization": {"enabled": true, "types": ["email", "phone", "name"], "strategy": "bidirectional"},
            "skillsScope": "team:platform-eng",
            "skillsRequireApproval": true,
        })
    );
}

#[test]
fn s0_08_a_minimal_body_is_a_standard_server() {
    let new = create(&json!({"name": " a "})).expect("a server");
    assert_eq!(new.id, None);
    assert_eq!(
        new.settings,
        ServerSettings {
            name: "a".to_owned(),
            description: None,
            kind: ServerKind::Standard,
            tags: Vec::new(),
            visibility: Visibility::Public,
            team: None,
            icon: None,
        }
    );
}

#[test]
fn s0_08_members_that_every_server_has() {
    let new = create(&json!({
        "id": "my-server_1", "name": "a", "icon": "https://example.com/a.png",
        "tags": ["x", {"name": "y"}, "x"], "teamId": "t1",
    }))
    .expect("a server");
    assert_eq!(new.id, Some(ServerId::new("my-server_1")));
    assert_eq!(new.settings.tags, ["x", "y"]);
    assert_eq!(
        new.settings.team.map(|team| team.to_string()),
        Some("t1".to_owned())
    );
    // By default, a team's server is visible to the team only.
    assert_eq!(new.settings.visibility, Visibility::Team);
    let public = created(&json!({"name": "a", "team_id": "t1", "visibility": "public"}));
    assert_eq!(public.visibility, Visibility::Public);
}

#[test]
fn c003_the_stubs_language_follows_the_runtime_where_it_is_left_out() {
    for (runtime, language) in [("deno", Language::TypeScript), ("python", Language::Python)] {
        let settings = created(&with_policy(&json!({"runtime": runtime})));
        assert_eq!(code(&settings).stub_language, language);
    }
    let other = json!({
        "name": "a", "type": "code_execution", "stub_language": "python", "sandbox_policy": {"runtime": "deno"},
    });
    assert_eq!(code(&created(&other)).stub_language, Language::Python);
    let by_operator =
        create_server(br#"{"name": "a", "type": "code_execution"}"#, &operator()).expect("a server");
    assert_eq!(code(&by_operator.settings).stub_language, Language::Python);
    assert_eq!(code(&by_operator.settings).sandbox_policy, None);
}

#[test]
fn c004_the_exact_bounds_are_right() {
    for number in PolicyNumber::ALL {
        for value in [*number.range().start(), *number.range().end()] {
            let policy = policy(&json!({ number.name(): value }), &CodeDefaults::default());
            assert_eq!(policy.number(number), value, "{}", number.name());
        }
    }
}

#[test]
fn s0_d16_a_partial_policy_takes_the_operator_s_values() {
    let defaults = operator();
    let read = policy(&json!({"max_cpu_percent": 7}), &defaults);
    let mut expected = defaults.sandbox_policy.clone();
    assert_eq!(
        expected.set_number(PolicyNumber::MaxCpuPercent, Written::Whole(7)),
        Ok(())
    );
    assert_eq!(read, expected);
    assert_eq!(policy(&json!({}), &defaults), defaults.sandbox_policy);
    let tools = policy(
        &json!({"permissions": {"tools": {"allow": ["stub/*"]}}}),
        &defaults,
    )
    .tools;
    assert_eq!(
        (tools.allow, tools.deny),
        (vec!["stub/*".to_owned()], vec!["stub/add".to_owned()])
    );
    let body = json!({"name": "a", "type": "code_execution", "tokenization": {"enabled": true}}).to_string();
    let new = create_server(body.as_bytes(), &defaults).expect("a server");
    let tokenization = code(&new.settings).tokenization.as_ref().expect("a policy");
    assert_eq!(
        (tokenization.enabled, &tokenization.types[..]),
        (true, &[PersonalData::Email][..])
    );
}

#[test]
fn s0_11_the_nested_form_and_camel_case_are_the_same_policy() {
    let defaults = CodeDefaults::default();
    let flat = policy(
        &json!({
            "runtime": "python", "max_memory_mb": 64, "session_ttl_seconds": 60, "allow_raw_http": true,
            "allow_tool_calls": false,
            "permissions": {"filesystem": {"read": ["/scratch/**"], "deny": []}, "tools": {"deny": ["a/*"]}},
        }),
        &defaults,
    );
    assert_eq!(flat.files.read, ["/scratch/**"]);
    assert_eq!(flat.files.write, ["/scratch/**", "/results/**"]);
    assert!(flat.files.deny.is_empty());
    let nested = json!({
        "limits": {"max_memory_mb": 64, "sessionTtlSeconds": 60},
        "runtimeRequirements": {"language": "python"},
        "permissions": {
            "filesystem": {"read": ["/scratch/**"], "deny": []},
            "tools": {"deny": ["a/*"]},
            "network": {"allowRawHttp": true, "allow_tool_calls": false},
        },
    });
    assert_eq!(policy(&nested, &defaults), flat);
    let camel = json!({
        "runtime": "python", "maxMemoryMb": 64, "sessionTtlSeconds": 60, "allowRawHttp": true, "allowToolCalls": false,
        "permissions": {"filesystem": {"read": ["/scratch/**"], "deny": []}, "tools": {"deny": ["a/*"]}},
    });
    assert_eq!(policy(&camel, &defaults), flat);
}

#[test]
fn s0_11_flat_keys_win_and_null_is_absent() {
    let both = json!({
        "runtime": "deno", "max_memory_mb": 64, "allow_raw_http": false, "max_cpu_percent": null, "permissions": {
            "network": {"allow_raw_http": true}, "tools": null,
        },
        "limits": {"max_memory_mb": 128, "max_cpu_percent": 9}, "runtime_requirements": {"language": "python"},
    });
    let read = policy(&both, &operator());
    assert_eq!((read.runtime, read.allow_raw_http), (Runtime::Deno, false));
    assert_eq!(read.number(PolicyNumber::MaxMemoryMb), 64);
    assert_eq!(read.number(PolicyNumber::MaxCpuPercent), 9);
    assert_eq!(read.tools, operator().sandbox_policy.tools);
}

#[test]
fn s0_10_tags_are_texts_or_objects_with_a_name() {
    let rules = json!({
        "name": "a", "type": "code_execution",
        "mountRules": {"includeTags": ["x", {"name": "y"}], "exclude_tools": ["t"], "include_servers": null},
    });
    let settings = created(&rules);
    let rules = code(&settings).mount_rules.as_ref().expect("rules");
    assert_eq!(rules.include_tags, ["x", "y"]);
    assert_eq!(rules.exclude_tools, ["t"]);
    assert!(rules.include_servers.is_empty());
}
