//! Accepted arguments, and the errors of the others.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::code::config::ToolListing;

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

fn config() -> CodeConfig {
    CodeConfig {
        policy: Arc::new(Policy::new(policy::PolicyConfig::default()).unwrap()),
        answers: Answers::default(),
        receipt: false,
        check: CheckMode::default(),
        listing: ToolListing::Constant,
    }
}

#[track_caller]
fn refused(arguments: Value, expected: &str) {
    let told = execute(&object(arguments), &config()).unwrap_err().to_string();
    assert_eq!(told, format!("execute_code was not run: {expected}"));
}

#[track_caller]
fn taken(mut arguments: Value) -> ExecuteArguments {
    arguments["code"] = json!("1");
    execute(&object(arguments), &config()).unwrap()
}

#[test]
fn code_is_a_required_string() {
    refused(json!({}), "`code` is missing; it must be a string");
    refused(json!({"code": null}), "`code` is missing; it must be a string");
    refused(
        json!({"code": " \n\t"}),
        "`code` is blank; it must be a string with some text",
    );
    refused(json!({"code": ["1"]}), "`code` must be a string, not an array");
    refused(
        json!({"code": "x".repeat(MAX_CODE + 1)}),
        "`code` has 8388609 bytes; it may have 8388608",
    );
}

#[test]
fn the_policy_grants_timeout_ms() {
    let wall_time = |arguments| taken(arguments).request.spec.granted.limits.wall_time.as_millis();
    assert_eq!(wall_time(json!({})), 60_000);
    assert_eq!(wall_time(json!({"timeout_ms": 1500})), 1500);
    assert_eq!(wall_time(json!({"timeout_ms": ""})), 60_000);
    assert_eq!(wall_time(json!({"timeout_ms": 0})), 60_000);
    for (given, used) in [(-5, 100), (1, 100), (300_001, 300_000)] {
        let taken = taken(json!({"timeout_ms": given}));
        assert_eq!(taken.request.spec.granted.limits.wall_time.as_millis(), used);
        assert_eq!(
            taken.note.unwrap(),
            format!("timeout_ms may be 100 to 300000; {used} was used instead of {given}")
        );
    }
    refused(
        json!({"code": "1", "timeout_ms": "500"}),
        "timeout_ms must be a whole number of milliseconds from 1 to 300000, not the text \"500\"; use 500",
    );
}

#[test]
fn the_policy_grants_limits() {
    let granted = taken(json!({"limits": {"memory": "128 MiB"}}))
        .request
        .spec
        .granted;
    assert_eq!((granted.limits.memory, granted.named.len()), (128 << 20, 1));
    refused(
        json!({"code": "1", "limits": {"memory": "2 GiB", "cpu": 1}}),
        "limits.memory: \"2 GiB\" is out of range; write \"64 MiB\" to \"1 GiB\"; \
         limits.cpu: there is no such limit; did you mean `cpu_time`?",
    );
}

#[test]
fn languages() {
    assert_eq!(
        taken(json!({"language": "python"})).request.spec.language,
        Language::Python
    );
    for name in ["typescript", "TypeScript", "ts", "javascript", "js"] {
        let language = taken(json!({"language": name})).request.spec.language;
        assert_eq!(language, Language::TypeScript, "{name}");
    }
    for name in ["shell", "Bash", "sh"] {
        let language = taken(json!({"language": name})).request.spec.language;
        assert_eq!(language, Language::Shell, "{name}");
    }
    assert_eq!(
        taken(json!({"language": "Python", "session": "", "format": "JSON"})).format,
        Format::Json
    );
    refused(
        json!({"code": "1", "language": "ruby"}),
        "`language` must be \"python\", \"typescript\" or \"shell\", not \"ruby\"",
    );
    refused(
        json!({"code": "1", "language": 3}),
        "`language` must be \"python\", \"typescript\" or \"shell\", not 3",
    );
}

#[test]
fn sessions() {
    assert_eq!(taken(json!({})).request.spec.session, Selector::Default);
    assert_eq!(
        taken(json!({"session": "new"})).request.spec.session,
        Selector::New
    );
    assert_eq!(
        taken(json!({"session": "a.b_C-1"})).request.spec.session,
        Selector::Named(SessionName::new("a.b_C-1"))
    );
    let rule = "session must be 1 to 64 of the characters A-Z a-z 0-9 _ . -, not";
    refused(
        json!({"code": "1", "session": "my session/1"}),
        &format!("{rule} 'my session/1'; the nearest is 'my-session-1'"),
    );
    refused(
        json!({"code": "1", "session": 5}),
        "`session` must be a string, not 5",
    );
    refused(
        json!({"code": "1", "session": "fork:x"}),
        "`session` cannot be a fork in this version; write a name or \"new\"",
    );
}

#[test]
fn undeclared_arguments() {
    let all = taken(json!({"receipt": true, "check": "warn", "format": "json"}));
    assert_eq!((all.request.receipt, all.format), (true, Format::Json));
    refused(
        json!({"code": "1", "receipt": "yes", "check": "on", "format": "jsno"}),
        "`receipt` must be true or false, not \"yes\"; \
         `check` must be \"off\" or \"warn\" or \"enforce\", not \"on\"; the nearest is \"off\"; \
         `format` must be \"text\" or \"toon\" or \"json\", not \"jsno\"; the nearest is \"json\"",
    );
}

#[test]
fn unknown_arguments_name_the_nearest() {
    refused(
        json!({"code": "1", "timeout": 5, "lang": "python", "sesion": "x"}),
        "no argument is named `timeout`; did you mean `timeout_ms`?; \
         no argument is named `lang`; did you mean `language`?; \
         no argument is named `sesion`; did you mean `session`?",
    );
}

#[test]
fn searches() {
    let checked = search(&object(json!({"query": "mail"}))).unwrap();
    assert_eq!((checked.limit, checked.detail), (5, Detail::Summary));
    let checked = search(&object(json!({"query": "mail", "limit": 50, "detail": "full"}))).unwrap();
    assert_eq!((checked.limit, checked.detail), (50, Detail::Full));
    for asked in [
        json!({}),
        json!({"query": null}),
        json!({"query": "*"}),
        json!({"query": "What tools are there?"}),
    ] {
        assert_eq!(search(&object(asked)).unwrap().query, "");
    }
    assert_eq!(
        search(&object(json!({"query": "list files"}))).unwrap().query,
        "list files"
    );
    let told = search(&object(json!({"limit": 51, "detail": "all", "q": "mail"}))).unwrap_err();
    assert_eq!(
        told.to_string(),
        "search_tools was not run: no argument is named `q`; did you mean `query`?; \
         `limit` must be an integer from 1 to 50, not 51; the nearest is 50; \
         `detail` must be \"name\" or \"summary\" or \"full\", not \"all\"; the nearest is \"full\""
    );
}
