//! Merging is commutative and associative, every value is valid by what was learned from it, and no value is
//! kept.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn learned(values: &[Value]) -> Learned {
    let calls = values.iter().map(Learned::of);
    calls.reduce(|known, call| known.merge(&call)).expect("a value")
}

fn check(values: &[Value], schema: Value) {
    assert_eq!(learned(values).schema, schema, "{values:?}");
}

#[test]
fn types_and_keys_are_merged() {
    check(&[json!("a")], json!({"type": "string"}));
    check(&[json!("a"), json!(null)], json!({"type": ["null", "string"]}));
    check(&[json!(1), json!(1.5), json!(2)], json!({"type": "number"}));
    check(&[json!([]), json!([])], json!({"type": "array"}));
    check(
        &[json!([{"id": 1}, {"id": 2, "tag": null}])],
        json!({"type": "array", "items": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "tag": {"type": "null"}},
            "required": ["id"],
        }}),
    );
    check(
        &[
            json!({"id": 1, "owner": {"name": "Ann"}}),
            json!({"id": "x"}),
            json!(["a"]),
        ],
        json!({
            "type": ["array", "object"],
            "properties": {
                "id": {"type": ["integer", "string"]},
                "owner": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            },
            "required": ["id"],
            "items": {"type": "string"},
        }),
    );
}

#[test]
fn keys_that_are_data_are_not_kept() {
    let counts = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    check(&[json!({"2024-01-01": 3})], counts.clone());
    check(&[json!({"ann@example.com": 3, "src/main.rs": 4})], counts.clone());
    // A name that is always there stays beside them.
    check(
        &[json!({"total": 1, "2024": 1}), json!({"total": 2, "2025": 1})],
        json!({
            "type": "object",
            "properties": {"total": {"type": "integer"}},
            "required": ["total"],
            "additionalProperties": {"type": "integer"},
        }),
    );
    let many = |prefix: &str, count: u8, value: Value| -> Value {
        let key = |index| {
            format!(
                "{prefix}{}{}",
                char::from(b'a' + index / 26),
                char::from(b'a' + index % 26)
            )
        };
        Value::Object(
            (0..count)
                .map(|index| (key(index), value.clone()))
                .collect::<Map<_, _>>(),
        )
    };
    check(&[many("k", 25, json!(1))], counts.clone());
    assert!(
        learned(&[many("k", 24, json!(1))])
            .schema
            .get("properties")
            .is_some()
    );
    let people = learned(&[many("p", 5, json!({"age": 3}))]).schema;
    assert!(people.get("properties").is_none(), "{people}");
    // Also with missing values, and in lists.
    let users = |list: bool| {
        let user = |n: usize| match n % 2 {
            0 => json!({"age": 3, "mail": null}),
            _ => json!({"age": 3, "mail": "x", "city": null}),
        };
        let users = (0..28).map(|n| {
            let value = if list { json!([user(n)]) } else { user(n) };
            (format!("user{}", words(n)), value)
        });
        Value::Object(users.collect::<Map<_, _>>())
    };
    for known in [
        learned(&[users(false)]),
        learned(&[users(true)]),
        learned(&[users(false), users(false)]),
    ] {
        assert!(known.schema.get("properties").is_none(), "{}", known.schema);
    }
    // Parts of a whole that differ stay names.
    let parts = json!({"owner": {"name": 1, "id": 2}, "head": {"sha": 1, "label": 2}, "base": {"ref": 1, "repo": 2},
        "links": {"self": 1, "html": 2}, "rights": {"admin": 1, "push": 2}});
    assert_eq!(
        learned(&[parts]).schema["required"].as_array().map(Vec::len),
        Some(5)
    );
    // Keys that change from call to call.
    let changing: Vec<Value> = "abcdefghi"
        .chars()
        .map(|name| json!({name.to_string(): 1}))
        .collect();
    check(&changing, counts);
}

#[test]
fn steady_counts_the_calls_since_the_last_change() {
    let check = |values: &[Value], calls: u64, steady: u64| {
        let learned = learned(values);
        assert_eq!((learned.calls, learned.steady), (calls, steady), "{values:?}");
    };
    check(&[json!(1)], 1, 0);
    check(&[json!(1), json!(2), json!(3)], 3, 2);
    check(&[json!(1), json!(2), json!("3")], 3, 0);
    // Another process observed this in the meantime.
    let (here, there) = (
        learned(&[json!(1), json!(2)]),
        learned(&[json!(3), json!(4), json!(5)]),
    );
    let both = here.merge(&there);
    assert_eq!((both.calls, both.steady), (5, 4));
}

#[test]
fn drift_names_place_and_kind() {
    let check = |value: Value, expected: &[(&str, DriftKind)]| {
        let known = learned(&[json!({"items": [{"id": 1, "ok": true}], "by": {"2024": 1}})]);
        let found = known.drift(&value);
        let found: Vec<_> = found
            .iter()
            .map(|drift| (drift.path.as_str(), drift.kind))
            .collect();
        assert_eq!(found, expected, "{value}");
    };
    check(json!({"items": [], "by": {"2025": 2}}), &[]);
    check(json!("text"), &[("result", DriftKind::OtherType)]);
    check(
        json!({"items": [{"id": "1", "ok": true}, {"id": "2", "ok": true}], "by": {}}),
        &[("result.items[].id", DriftKind::OtherType)],
    );
    check(
        json!({"items": [{"id": 1}], "by": {"x": "y"}, "Ann Lee": 1}),
        &[
            ("result.items[].ok", DriftKind::MissingKey),
            ("result.by.*", DriftKind::OtherType),
            ("result.*", DriftKind::NewKey),
        ],
    );
}

#[test]
fn drift_names_no_key_that_may_be_data() {
    let known = learned(&[json!({"users": {}})]);
    let users = (0..28).map(|n| (format!("ann{}", words(n)), json!({"age": n})));
    let users = Value::Object(users.collect::<Map<_, _>>());
    let found = known.drift(&json!({ "users": users }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "result.users.*");
    let found = known.drift(&json!({"users": {}, "next": 1, "page": 2}));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "result.next");
}

#[test]
fn a_declared_schema_binds_no_positions_and_patterns() {
    let schema = json!({
        "prefixItems": [{"type": "string"}], "items": {"type": "integer"},
        "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": {"type": "integer"},
    });
    assert_eq!(declared_drift(&schema, &json!(["a", 1])), []);
    assert_eq!(declared_drift(&schema, &json!({"xa": "a", "b": 1})), []);
}

#[test]
fn a_declared_schema_binds_only_as_it_says() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"anyOf": [{"type": "string"}]}, "n": {"type": "integer"}},
        "required": ["a"],
        "$defs": {"a": {"type": "object", "properties": {}, "additionalProperties": false}},
    });
    let check = |value: Value, expected: &[(&str, DriftKind)]| {
        let found = declared_drift(&schema, &value);
        let found: Vec<_> = found
            .iter()
            .map(|drift| (drift.path.as_str(), drift.kind))
            .collect();
        assert_eq!(found, expected, "{value}");
    };
    check(json!({"a": {}, "b": 3, "extra": 1, "n": 2.0}), &[]);
    check(json!({"b": 3}), &[("result.a", DriftKind::MissingKey)]);
    check(
        json!({"a": {"x": 1}, "n": 2.5}),
        &[
            ("result.a.x", DriftKind::NewKey),
            ("result.n", DriftKind::OtherType),
        ],
    );
}

#[test]
fn hostile_results_are_bounded_in_size_and_time() {
    let started = Instant::now();
    let wide = Value::Object(
        (0..10_000)
            .map(|n| (format!("key_{}", words(n)), json!({"a": n})))
            .collect(),
    );
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!({"down": [deep]});
    }
    let bushy = (0..4).fold(json!(1), |below, level| {
        let keys = (0..20).map(|n| (format!("k{level}_{}", words(n)), json!([below.clone(), n])));
        Value::Object(keys.collect())
    });
    for value in [wide, deep, bushy, json!(vec!["x"; 100_000])] {
        let known = learned(&[value.clone(), value.clone()]);
        assert!(known.schema.to_string().len() < 200_000);
        assert!(jsonschema::is_valid(&known.schema, &value));
    }
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}

/// A number in letters.
fn words(mut number: usize) -> String {
    let mut word = String::new();
    while number > 0 || word.is_empty() {
        word.push(char::from(b'a' + u8::try_from(number % 26).expect("a letter")));
        number /= 26;
    }
    word
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-f]{1,2}",
        1 => "[0-9]{4}-[0-9]{2}",
        1 => "[a-z]{3}@example\\.com",
    ]
}

/// Any JSON; every text in it begins with `canary`.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        "canary[ -~]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..12)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn the_order_of_merging_does_not_matter(a in value(), b in value(), c in value()) {
        let [a, b, c] = [a, b, c].map(|value| Learned::of(&value));
        prop_assert_eq!(&a.merge(&b).schema, &b.merge(&a).schema);
        prop_assert_eq!(&a.merge(&b).merge(&c).schema, &a.merge(&b.merge(&c)).schema);
        prop_assert_eq!(&a.merge(&a).schema, &a.schema);
    }

    #[test]
    fn every_value_is_valid_and_drifts_nowhere(values in prop::collection::vec(value(), 1..6)) {
        let known = learned(&values);
        for value in &values {
            prop_assert!(jsonschema::is_valid(&known.schema, value), "{} {}", known.schema, value);
            prop_assert_eq!(known.drift(value), []);
        }
    }

    #[test]
    fn no_value_is_kept(values in prop::collection::vec(value(), 1..6)) {
        let schema = learned(&values).schema.to_string();
        prop_assert!(!schema.contains("canary") && !schema.contains('@') && !schema.contains(|c: char| c.is_ascii_digit()));
    }
}

#[test]
fn blocks_beside_the_value_are_kept_by_kind() {
    let blocks = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    let with = |value: Value, kinds: &[&str]| Learned::of(&value).with_blocks(blocks(kinds));
    let text = with(json!("done"), &[]);
    let image = with(json!("done"), &["image"]);
    assert_eq!(text.schema, Learned::of(&json!("done")).schema);
    for merged in [text.merge(&image), image.merge(&text), image.merge(&image)] {
        assert_eq!(merged.blocks(), ["image"]);
        assert!(merged.drift(&json!("other")).is_empty(), "{merged:?}");
    }
    let both = with(json!({"a": 1}), &["audio"]).merge(&image);
    assert_eq!(both.blocks(), ["audio", "image"]);
}
