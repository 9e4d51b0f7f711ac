//! Mistakes: reported with their places, all of a body together.

use super::*;

/// The mistakes of a new code-execution server with these other members.
fn said(members: &Value) -> String {
    let mut body = json!({"name": "a", "type": "code_execution"});
    for (name, value) in members.as_object().expect("members") {
        body[name] = value.clone();
    }
    create(&body).map_or_else(|problem| problem.to_string(), |_| "ok".to_owned())
}

fn check(members: Value, expected: &str) {
    assert_eq!(said(&members), expected, "{members}");
}

#[test]
fn c004_each_value_out_of_bounds_names_its_field() {
    for number in PolicyNumber::ALL {
        let (low, high) = (*number.range().start(), *number.range().end());
        let name = number.name();
        for wrong in [
            low.checked_sub(1).map_or(json!(-1), |below| json!(below)),
            json!(high + 1),
        ] {
            let said = said(&json!({"sandbox_policy": {name: wrong}}));
            let expected = if wrong == json!(-1) {
                format!("sandbox_policy.{name}: expected a whole number, found -1")
            } else {
                format!("sandbox_policy.{name}: {wrong} is out of range; write {low} to {high}")
            };
            assert_eq!(said, expected);
        }
    }
    check(
        json!({"sandbox_policy": {"runtime": "ruby"}}),
        "sandbox_policy.runtime: expected \"deno\" or \"python\", found \"ruby\"",
    );
    check(
        json!({"sandbox_policy": {"runtime": "pyton"}}),
        "sandbox_policy.runtime: expected \"deno\" or \"python\", found \"pyton\"; did you mean \"python\"?",
    );
}

#[test]
fn values_of_another_type_are_refused() {
    let wrong = |value: Value| said(&json!({"sandbox_policy": {"max_memory_mb": value}}));
    for (value, found) in [
        (json!(true), "a boolean"),
        (json!("256"), "a string"),
        (json!([256]), "an array"),
        (json!({}), "an object"),
        (json!(256.5), "a float"),
    ] {
        assert_eq!(
            wrong(value),
            format!("sandbox_policy.max_memory_mb: expected a whole number, found {found}")
        );
    }
    assert_eq!(wrong(json!(256.0)), "ok");
    assert!(
        wrong(json!(1e300)).contains("expected a whole number"),
        "{}",
        wrong(json!(1e300))
    );
    check(
        json!({"sandbox_policy": {"allow_raw_http": "no"}}),
        "sandbox_policy.allow_raw_http: expected true or false, found a string",
    );
    check(
        json!({"sandbox_policy": []}),
        "sandbox_policy: expected an object, found an array",
    );
    check(
        json!({"mount_rules": "x"}),
        "mount_rules: expected an object, found a string",
    );
    check(
        json!({"sandbox_policy": {"limits": 7}}),
        "sandbox_policy.limits: expected an object, found a number",
    );
}

#[test]
fn c005_the_only_strategy_is_bidirectional() {
    check(
        json!({"tokenization": {"enabled": true, "strategy": "oneway"}}),
        "tokenization.strategy: expected \"bidirectional\", found \"oneway\"",
    );
    check(
        json!({"tokenization": {"types": ["email", "emal", 7]}}),
        "tokenization.types[2]: expected a string, found a number",
    );
    check(
        json!({"tokenization": {"types": ["email", "emal"]}}),
        "tokenization.types[1]: expected \"email\" or \"phone\" or \"ssn\" or \"credit_card\" or \"name\", found \"emal\"; \
         did you mean \"email\"?",
    );
}

#[test]
fn c006_a_standard_server_has_no_members_of_code_execution() {
    let exact = "mount_rules/sandbox_policy/tokenization are only valid for type='code_execution'";
    check(
        json!({"type": "standard", "sandbox_policy": {"runtime": "python"}}),
        &format!("sandbox_policy: {exact}"),
    );
    check(
        json!({"type": "standard", "tokenization": {}, "mountRules": {}}),
        &format!("mountRules: {exact}; tokenization: {exact}"),
    );
    check(
        json!({"type": "standard", "skills_require_approval": true, "surface": "code"}),
        "surface: is only valid for type='code_execution', and the server is 'standard'; \
         skills_require_approval: is only valid for type='code_execution', and the server is 'standard'",
    );
    check(
        json!({"type": "standard", "skills_require_approval": false, "sandbox_policy": null, "surface": null}),
        "ok",
    );
}

#[test]
fn s0_d16_unknown_keys_are_refused_with_the_nearest_name() {
    check(
        json!({"server_type": "standard"}),
        "server_type: unknown key; did you mean `type`?",
    );
    check(
        json!({"descripton": "x"}),
        "descripton: unknown key; did you mean `description`?",
    );
    check(
        json!({"sandboxPolicy": {"maxMemory": 1, "max_memroy_mb": 2}}),
        "sandboxPolicy.maxMemory: unknown key; did you mean `max_memory_mb`?; \
         sandboxPolicy.max_memroy_mb: unknown key; did you mean `max_memory_mb`?",
    );
    check(
        json!({"sandbox_policy": {"permissions": {"filesystem": {"reads": []}, "tools": {"block": []}}}}),
        "sandbox_policy.permissions.filesystem.reads: unknown key; did you mean `read`?; \
         sandbox_policy.permissions.tools.block: unknown key; known are `allow`, `deny`",
    );
    check(
        json!({"mount_rules": {"include_tag": []}}),
        "mount_rules.include_tag: unknown key; did you mean `include_tags`?",
    );
}

#[test]
fn a_member_in_both_cases_is_given_twice() {
    check(
        json!({"sandbox_policy": {"max_memory_mb": 64, "maxMemoryMb": 65}}),
        "sandbox_policy.maxMemoryMb: is also given as `max_memory_mb`; write one of both",
    );
    let body = br#"{"name": "a", "name": "b", "tags": [{"name": "x", "name": "y"}]}"#;
    let problem = create_server(body, &CodeDefaults::default()).expect_err("a mistake");
    assert_eq!(
        problem.to_string(),
        "name: is given twice; write it once; tags[0].name: is given twice; write it once"
    );
}

#[test]
fn s0_55_globs_are_checked() {
    check(
        json!({"sandbox_policy": {"permissions": {
            "filesystem": {"read": ["/a/**", "scratch"], "write": ["/x["]}, "tools": {"deny": ["stub"]},
        }}}),
        "sandbox_policy.permissions.filesystem.read[1]: 'scratch' is not a virtual path; begin it with '/', such as \
         '/scratch/**'; \
         sandbox_policy.permissions.filesystem.write[0]: '/x[' is not a valid pattern: unclosed character class; missing \
         ']'; \
         sandbox_policy.permissions.tools.deny[0]: 'stub' is not a tool name; write 'stub.*' for all tools of a server",
    );
}

#[test]
fn every_mistake_of_a_body_is_told_at_once() {
    let body = json!({
        "id": "a/b", "name": "", "description": 7, "type": "code", "icon": "javascript:alert(1)", "tags": ["x", 7, {}],
        "visibility": null, "team_id": "", "owner_email": "eve@example.com", "stub_language": "shell",
        "surface": "servr", "skills_scope": "all", "skills_require_approval": "yes",
        "sandbox_policy": {"max_memory_mb": 0}, "nonsense": {},
    });
    let problem = create(&body).expect_err("mistakes");
    insta::assert_snapshot!(problem.to_string().replace("; ", "\n"));
    assert_eq!(problem.status(), 422);
}

#[test]
fn texts_are_bounded_and_visible() {
    check(
        json!({"name": "a\u{202e}b"}),
        "name: holds control characters or characters without width; remove them",
    );
    check(
        json!({"name": "x".repeat(256)}),
        "name: has 256 characters; 255 are the most",
    );
    check(json!({"name": "\u{e4}".repeat(255)}), "ok");
    check(
        json!({"name": null}),
        "name: cannot be null; write a value, or leave it out",
    );
    check(json!({"description": "two\nlines"}), "ok");
    check(
        json!({"description": "\0"}),
        "description: holds the character U+0000; remove it",
    );
    check(
        json!({"tags": vec!["x"; 101]}),
        "tags: has 101 items; 100 are the most",
    );
    check(
        json!({"id": "x".repeat(65)}),
        "id: has 65 characters; 64 are the most",
    );
    check(
        json!({"visibility": "team"}),
        "team_id: is required for visibility \"team\"; name the team, or set `visibility` to \"private\"",
    );
    check(json!({"visibility": "team", "team_id": "t"}), "ok");
    check(json!({"visibility": "private"}), "ok");
}

#[test]
fn bodies_that_are_no_object() {
    let read = |body: &str| create_server(body.as_bytes(), &CodeDefaults::default());
    for (body, status, text) in [
        (
            "[]",
            422,
            "body: expected an object, found an array; name: is required",
        ),
        ("{}", 422, "name: is required"),
        (
            "{",
            400,
            "the body is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "",
            400,
            "the body is not JSON: EOF while parsing a value at line 1 column 0",
        ),
    ] {
        let problem = read(body).expect_err(body);
        assert_eq!((problem.status(), problem.to_string().as_str()), (status, text));
    }
}
