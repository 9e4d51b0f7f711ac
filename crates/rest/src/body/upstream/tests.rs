//! Bodies of upstream servers: merging, hidden values and refusals.

use serde_json::{Value, json};
use types::{Ownership, TenantId, UserId};

use super::*;

fn stored(definition: &Value) -> UpstreamServer {
    UpstreamServer {
        name: "crm".to_owned(),
        alias: "crm".to_owned(),
        ownership: Ownership {
            tenant: TenantId::new("acme"),
            owner: UserId::new("ann@example.com"),
            visibility: Visibility::Team,
            team: Some(TeamId::new("a")),
            created_ms: 0,
        },
        updated_ms: 5,
        definition: definition.to_string(),
    }
}

fn create(body: &Value) -> Result<(String, UpstreamSettings), RestError> {
    create_upstream(body.to_string().as_bytes(), |_| Vec::new())
}

fn update(current: &Value, body: &Value) -> Result<UpstreamSettings, RestError> {
    update_upstream(body.to_string().as_bytes(), &stored(current), |_| Vec::new())
}

#[track_caller]
fn check_refused<T>(read: Result<T, RestError>, expected: &[&str]) {
    let Err(error) = read else {
        panic!("expected a refusal");
    };
    let text = error.to_string();
    for part in expected {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_stored_definition_has_the_field_names_of_files() {
    let body = json!({
        "name": "crm", "url": "https://example.com/mcp", "maxCalls": 3, "idle_stop": 0, "team_id": "a",
        "tags": ["x", {"name": "y"}, "x"], "timeout": null,
    });
    let (name, settings) = create(&body).expect("good");
    assert_eq!(name, "crm");
    assert_eq!(
        (settings.visibility, settings.team),
        (Visibility::Team, Some(TeamId::new("a")))
    );
    let expected =
        json!({"url": "https://example.com/mcp", "maxCalls": 3, "idleStop": 0, "tags": ["x", "y"]});
    assert_eq!(Value::Object(settings.definition), expected);
    let (_, settings) = create(&json!({"name": "a", "command": "b"})).expect("good");
    assert_eq!((settings.visibility, settings.team), (Visibility::Public, None));
}

#[test]
fn all_mistakes_are_reported_together_with_the_nearest_names() {
    let body = json!({
        "name": "1st", "urll": "https://example.com", "serverUrl": "x", "tags": "x", "visibility": "all",
        "health": {}, "bearerTokenFile": "/etc/passwd",
    });
    check_refused(
        create(&body),
        &[
            "name: expected a letter",
            "urll: unknown key; did you mean `url`?",
            "serverUrl: unknown key; did you mean `url`?",
            "tags: expected an array",
            "visibility: expected",
            "health: is set by the gateway",
            "bearerTokenFile: unknown key",
            "url: is required",
        ],
    );
    let team = json!({"name": "crm", "url": "https://example.com", "visibility": "team"});
    check_refused(create(&team), &["team_id: is required"]);
    let large = json!({"name": "crm", "url": "https://example.com", "args": vec!["x".repeat(1000); 70]});
    check_refused(create(&large), &["body: the definition has"]);
}

#[test]
fn mistakes_of_the_definition_are_placed_as_the_client_spells_them() {
    let body = json!({"name": "crm", "url": "https://example.com", "max_calls": 0});
    let read = create_upstream(body.to_string().as_bytes(), |draft| {
        assert_eq!(draft.definition["maxCalls"], 0);
        let mistake = |field: &str| Mistake {
            field: field.to_owned(),
            message: "is wrong".to_owned(),
        };
        vec![mistake("maxCalls"), mistake("headers.A"), mistake("")]
    });
    check_refused(
        read,
        &["max_calls: is wrong", "headers.A: is wrong", "body: is wrong"],
    );
}

#[test]
fn absent_members_and_hidden_values_stay() {
    let current = json!({"url": "https://example.com/mcp?key=1", "headers": {"A": "secret", "B": "old"}});
    let view = UpstreamView::with_definition_of(&stored(&current));
    let shown = serde_json::to_value(&view).expect("JSON");
    assert!(
        !shown.to_string().contains("secret") && !shown.to_string().contains("key=1"),
        "{shown}"
    );
    assert_eq!(shown["url"], "https://example.com/mcp?[hidden]");
    // Clients may send back the object that they read.
    let read = update(&current, &shown).expect("good");
    assert_eq!(read.definition["url"], current["url"]);
    assert_eq!(read.definition["headers"], current["headers"]);
    let read = update(&current, &json!({"headers": {"A": "[hidden]", "B": "new"}})).expect("good");
    assert_eq!(read.definition["headers"], json!({"A": "secret", "B": "new"}));
    assert_eq!(
        (read.visibility, read.team),
        (Visibility::Team, Some(TeamId::new("a")))
    );
    let read = update(&current, &json!({"headers": null, "tags": ["x"]})).expect("good");
    assert_eq!(
        Value::Object(read.definition),
        json!({"url": current["url"], "tags": ["x"]})
    );
    check_refused(
        update(&current, &json!({"headers": {"C": "[hidden]"}})),
        &["headers.C: `[hidden]` stands for a stored value"],
    );
    check_refused(
        update(&current, &json!({"name": "x"})),
        &["name: cannot be changed"],
    );
    let stale = update(&current, &json!({"updatedAt": "1970-01-01T00:00:00.004Z"}));
    assert_eq!(stale.map_err(|error| error.status()), Err(409));
}

#[test]
fn stored_headers_go_to_no_other_address() {
    let current = json!({"url": "https://example.com/mcp", "headers": {"A": "secret"}});
    let moved = "headers.A: was written for another address";
    let elsewhere = "https://evil.example/";
    check_refused(update(&current, &json!({"url": elsewhere})), &[moved]);
    let kept = json!({"url": elsewhere, "headers": {"A": "[hidden]"}});
    check_refused(update(&current, &kept), &[moved]);
    check_refused(
        update(&current, &json!({"url": "https://example.com/other"})),
        &[moved],
    );
    for headers in [json!(null), json!({}), json!({"A": "new"})] {
        let body = json!({"url": elsewhere, "headers": headers});
        let read = update(&current, &body).expect("good");
        assert!(!format!("{read:?}").contains("secret"));
    }
}

#[test]
fn the_check_receives_the_fields_of_the_request() {
    let current = json!({"url": "https://example.com/mcp", "headers": {"A": "${SECRET}"}});
    let body =
        json!({"url": "https://example.com/mcp", "headers": {"A": "[hidden]", "B": "b"}, "tags": ["t"]});
    let read = update_upstream(body.to_string().as_bytes(), &stored(&current), |draft| {
        assert_eq!(draft.definition["headers"]["A"], "${SECRET}");
        assert_eq!(
            Value::Object(draft.written.clone()),
            json!({"headers": {"B": "b"}, "tags": ["t"]})
        );
        Vec::new()
    });
    assert!(read.is_ok());
}
