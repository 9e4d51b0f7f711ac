//! Changes: absent members stay unchanged, null clears, a value replaces.

use super::*;

fn update(current: &VirtualServer, body: &Value) -> Result<ServerSettings, RestError> {
    update_server(body.to_string().as_bytes(), current, &CodeDefaults::default())
}

fn updated(current: &VirtualServer, body: &Value) -> ServerSettings {
    update(current, body).unwrap_or_else(|problem| panic!("{body}: {problem}"))
}

fn full() -> VirtualServer {
    let mut body = documented();
    body["tags"] = json!(["x"]);
    body["team_id"] = json!("t1");
    body["surface"] = json!("code");
    body["icon"] = json!("data:image/png;base64,AA==");
    server(created(&body))
}

#[test]
fn c012_a_switch_to_standard_clears_the_members_of_code_execution() {
    let current = full();
    let settings = updated(&current, &json!({"type": "standard"}));
    assert_eq!(settings.kind, ServerKind::Standard);
    let answer = serde_json::to_value(ServerView::of(&server(settings.clone()))).expect("JSON");
    for name in [
        "surface",
        "stubLanguage",
        "mountRules",
        "sandboxPolicy",
        "tokenization",
        "skillsScope",
    ] {
        assert_eq!(answer[name], Value::Null, "{name}");
    }
    assert_eq!(answer["skillsRequireApproval"], false);
    // Switching back restores defaults.
    let back = updated(&server(settings), &json!({"type": "code_execution"}));
    assert_eq!(*code(&back), CodeSettings::new(&CodeDefaults::default()));
}

#[test]
fn c008_a_change_of_the_description_alone_keeps_the_rest() {
    let current = full();
    let settings = updated(&current, &json!({"description": "new"}));
    let expected = ServerSettings {
        description: Some("new".to_owned()),
        ..current.settings.clone()
    };
    assert_eq!(settings, expected);
    assert_eq!(updated(&current, &json!({})), current.settings);
}

#[test]
fn s0_16_null_clears_each_member() {
    let current = full();
    let body = json!({
        "description": null, "icon": null, "tags": null, "team_id": null, "visibility": "private", "surface": null,
        "stub_language": null, "mount_rules": null, "sandbox_policy": null, "tokenization": null,
        "skills_scope": null, "skills_require_approval": null,
    });
    let expected = ServerSettings {
        name: "secure-code-lab".to_owned(),
        description: None,
        kind: ServerKind::CodeExecution(Box::new(CodeSettings::new(&CodeDefaults::default()))),
        tags: Vec::new(),
        visibility: Visibility::Private,
        team: None,
        icon: None,
    };
    assert_eq!(updated(&current, &body), expected);
}

#[test]
fn s0_16_a_value_replaces_a_policy_as_a_whole() {
    let current = server(created(&with_policy(
        &json!({"max_memory_mb": 64, "max_cpu_percent": 9}),
    )));
    let settings = updated(&current, &json!({"sandbox_policy": {"max_memory_mb": 65}}));
    let policy = code(&settings).sandbox_policy.as_ref().expect("a policy");
    assert_eq!(policy.number(PolicyNumber::MaxMemoryMb), 65);
    assert_eq!(policy.number(PolicyNumber::MaxCpuPercent), 50);
}

#[test]
fn s0_09_the_stubs_language_stays_unless_it_is_cleared() {
    let current = server(created(&with_policy(&json!({"runtime": "deno"}))));
    let to_python = json!({"sandbox_policy": {"runtime": "python"}});
    assert_eq!(
        code(&updated(&current, &to_python)).stub_language,
        Language::TypeScript
    );
    let cleared = json!({"sandbox_policy": {"runtime": "python"}, "stub_language": null});
    assert_eq!(code(&updated(&current, &cleared)).stub_language, Language::Python);
}

#[test]
fn s0_14_the_new_kind_decides() {
    let standard = server(created(&json!({"name": "a"})));
    let said = |body: &Value| {
        update(&standard, body).map_or_else(|problem| problem.to_string(), |_| "ok".to_owned())
    };
    let exact = "mount_rules/sandbox_policy/tokenization are only valid for type='code_execution'";
    assert_eq!(said(&json!({"mount_rules": {}})), format!("mount_rules: {exact}"));
    assert_eq!(said(&json!({"type": "code_execution", "mount_rules": {}})), "ok");
    let problem = update(&full(), &json!({"type": "standard", "tokenization": {}})).expect_err("a mistake");
    assert_eq!(problem.to_string(), format!("tokenization: {exact}"));
}

#[test]
fn s0_15_a_body_that_was_read_changes_nothing() {
    for current in [
        full(),
        server(created(&json!({"name": "a"}))),
        server(created(&with_policy(&json!({})))),
    ] {
        let read = serde_json::to_value(ServerView::of(&current)).expect("JSON");
        assert_eq!(updated(&current, &read), current.settings, "{read}");
    }
}

#[test]
fn members_that_only_the_gateway_sets_cannot_be_changed() {
    let current = full();
    let said = |body: &Value| update(&current, body).expect_err("a problem");
    let problem = said(&json!({"id": "s2", "owner_email": null, "created_at": 7, "name": null}));
    assert_eq!(
        problem.to_string(),
        "id: cannot be changed; leave it out; owner_email: cannot be changed; leave it out; \
         created_at: cannot be changed; leave it out; name: cannot be null; write a value, or leave it out"
    );
    let problem = said(&json!({"updatedAt": "1970-01-01T00:00:01.000Z"}));
    assert_eq!(problem.status(), 409);
    assert!(problem.to_string().contains("read it again"));
}

#[test]
fn a_team_s_server_without_a_team_is_a_mistake() {
    let problem = update(&full(), &json!({"team_id": null})).expect_err("a mistake");
    assert!(
        problem
            .to_string()
            .starts_with("team_id: is required for visibility \"team\"")
    );
}
