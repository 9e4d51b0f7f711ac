//! What bridge programs save, through the host calls that only they have.

use serde_json::json;

use super::*;

impl World {
    async fn keep(&self, who: &str, name: &str, args: Value) -> Result<Value, HostCallError> {
        let scope = RunScope {
            profile: RunProfile {
                validate: Validation::ByServer,
                reach: Reach::Only(Arc::default()),
                appearance: Appearance::Bridge(Arc::default()),
                ..RunProfile::default()
            },
            ..scope()
        };
        let principal = who.parse::<Principal>().expect("a principal");
        let call = HostCall {
            name: name.to_owned(),
            args,
        };
        let answer = self
            .broker
            .calls(principal, scope)
            .call(call, context(LONG))
            .await?;
        Ok(serde_json::from_str(answer.get()).expect("an answer is JSON"))
    }

    /// Checks the answer to one of `ann`'s calls.
    async fn check(&self, name: &str, args: Value, expected: Value) {
        let answer = self.keep("ann", name, args.clone()).await;
        assert_eq!(answer.expect(name), expected, "{name} {args}");
    }

    /// Checks the refusal of one of `ann`'s calls.
    async fn check_refused(&self, name: &str, args: Value, kind: &str, part: &str) {
        let answer = self.keep("ann", name, args.clone()).await;
        let error = answer.expect_err("a refusal");
        assert!(
            error.kind.name() == kind && error.message.contains(part),
            "{name} {args}: {error:?}"
        );
    }
}

// C322, S4-46
#[tokio::test]
async fn memories_are_saved_loaded_listed_and_deleted() {
    let world = World::new(&[]);
    world.check("memory_list", json!({}), json!([])).await;
    world
        .check("memory_load", json!({"key": "a/b"}), json!(null))
        .await;
    world
        .check(
            "memory_save",
            json!({"key": "a/b", "value": {"n": 1}}),
            json!({"version": 1}),
        )
        .await;
    let with_metadata = json!({"key": "a_b", "value": null, "metadata": {"tag": "t"}});
    world
        .check("memory_save", with_metadata, json!({"version": 2}))
        .await;
    let loaded = world
        .keep("ann", "memory_load", json!({"key": "a/b"}))
        .await
        .unwrap();
    assert_eq!(
        (&loaded["key"], &loaded["value"], &loaded["metadata"]),
        (&json!("a/b"), &json!({"n": 1}), &json!({}))
    );
    assert_eq!((&loaded["version"], &loaded["bytes"]), (&json!(1), &json!(9)));
    let time = loaded["created_at"].as_str().unwrap();
    assert!(
        time.ends_with('Z') && time.len() == "2026-01-31T12:00:00.000Z".len(),
        "{time}"
    );
    assert_eq!(loaded["created_at"], loaded["updated_at"]);
    let head = world
        .keep("ann", "memory_load", json!({"key": "a/b", "head": true}))
        .await
        .unwrap();
    assert_eq!((&head["key"], head.get("value")), (&json!("a/b"), None));
    world
        .check("memory_load", json!({"key": "none", "head": true}), json!(null))
        .await;
    let null = world
        .keep("ann", "memory_load", json!({"key": "a_b"}))
        .await
        .unwrap();
    assert_eq!(
        (&null["value"], &null["metadata"]),
        (&json!(null), &json!({"tag": "t"}))
    );
    let listed = world.keep("ann", "memory_list", json!({})).await.unwrap();
    let keys: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["a/b", "a_b"]);
    assert_eq!((&listed[1]["bytes"], listed[1].get("value")), (&json!(15), None));
    world
        .check("memory_delete", json!({"key": "a/b"}), json!({"deleted": true}))
        .await;
    world
        .check("memory_delete", json!({"key": "a/b"}), json!({"deleted": false}))
        .await;
    world
        .check("memory_load", json!({"key": "a/b"}), json!(null))
        .await;
}

#[tokio::test]
async fn a_memory_that_was_changed_meanwhile_is_a_conflict() {
    let world = World::new(&[]);
    let save = |version: u64| json!({"key": "k", "value": version, "version": version});
    world
        .check_refused(
            "memory_save",
            save(3),
            "conflict",
            "memory 'k' has version 0, not 3",
        )
        .await;
    world.check("memory_save", save(0), json!({"version": 1})).await;
    world
        .check_refused("memory_save", save(0), "conflict", "has version 1, not 0")
        .await;
    world.check("memory_save", save(1), json!({"version": 2})).await;
}

// S4-45, S4-D09
#[tokio::test]
async fn tools_are_saved_for_their_principal_alone() {
    let world = World::new(&[]);
    for (name, source) in [("b", "def b(): 1"), ("a", "def a(): 1"), ("b", "def b(): 2")] {
        world
            .check("save_tool", json!({"name": name, "source": source}), json!({}))
            .await;
    }
    let kept = json!([{"name": "b", "source": "def b(): 2"}, {"name": "a", "source": "def a(): 1"}]);
    world.check("saved_tools", json!({}), kept).await;
    assert_eq!(world.keep("ben", "saved_tools", json!({})).await, Ok(json!([])));
    world
        .check(
            "memory_save",
            json!({"key": "k", "value": 1}),
            json!({"version": 1}),
        )
        .await;
    assert_eq!(
        world.keep("ben", "memory_load", json!({"key": "k"})).await,
        Ok(json!(null))
    );
    assert_eq!(
        world.keep("ben", "memory_delete", json!({"key": "k"})).await,
        Ok(json!({"deleted": false}))
    );
}

// C322
#[tokio::test]
async fn what_may_not_be_saved_is_refused_with_what_may() {
    let world = World::new(&[]);
    let long = "k".repeat(300);
    for (key, part) in [
        ("", "1 to 256 characters"),
        (&long, "256 are allowed"),
        ("a\0", "U+0000"),
    ] {
        world
            .check_refused("memory_save", json!({"key": key, "value": 1}), "refused", part)
            .await;
        for name in ["memory_load", "memory_delete"] {
            world
                .check_refused(name, json!({"key": key}), "refused", part)
                .await;
        }
    }
    let large = json!({"key": "k", "value": "x".repeat(1024 * 1024)});
    world
        .check_refused("memory_save", large, "refused", "1048576 are allowed")
        .await;
    let metadata = json!({"key": "k", "value": 1, "metadata": [1]});
    world
        .check_refused("memory_save", metadata, "refused", "must be a dict")
        .await;
    for name in ["../x", "class", "\u{ff46}", ""] {
        world
            .check_refused("save_tool", json!({"name": name, "source": "x"}), "refused", name)
            .await;
    }
    let source = json!({"name": "f", "source": "#".repeat(65 * 1024)});
    world
        .check_refused("save_tool", source, "refused", "65536 are allowed")
        .await;
    for (args, part) in [
        (json!({"value": 1}), "'key' is missing"),
        (json!({"key": "k"}), "'value' is missing"),
        (json!({"key": 1, "value": 1}), "'key' must be a string"),
        (
            json!({"key": "k", "value": 1, "version": -1}),
            "'version' must be a whole number",
        ),
    ] {
        world
            .check_refused("memory_save", args, "invalid_arguments", part)
            .await;
    }
    // C322: a key never becomes a path, whatever it looks like.
    world
        .check(
            "memory_save",
            json!({"key": "../../x", "value": 1}),
            json!({"version": 1}),
        )
        .await;
    let mut files: Vec<_> = std::fs::read_dir(world.data.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["codeyard.db", "codeyard.db-shm", "codeyard.db-wal"]);
}

#[tokio::test]
async fn a_database_in_trouble_fails_the_call_without_naming_its_place() {
    let world = World::new(&[]);
    std::fs::write(world.data.path().join(FILE), "notes".repeat(2000)).unwrap();
    let place = world.data.path().to_string_lossy().into_owned();
    for (name, args) in [
        ("saved_tools", json!({})),
        ("memory_list", json!({})),
        ("memory_save", json!({"key": "k", "value": 1})),
    ] {
        let error = world.keep("ann", name, args).await.expect_err("a failure");
        assert_eq!(error.kind.name(), "store", "{error:?}");
        assert!(
            error.message.contains("is damaged") && !format!("{error:?}").contains(&place),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn only_the_bridge_has_these_calls() {
    let world = World::new(&[]);
    let calls = [
        "save_tool",
        "saved_tools",
        "memory_save",
        "memory_load",
        "memory_delete",
        "memory_list",
    ];
    for name in calls {
        let error = world.ask(name, json!({"key": "k"})).await.expect_err("a refusal");
        assert_eq!(error.kind.name(), "unknown_call", "{name}");
    }
    world
        .check_refused("memory_forget", json!({}), "unknown_call", "unknown host call")
        .await;
}
