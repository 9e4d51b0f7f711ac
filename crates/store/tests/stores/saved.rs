//! Saved tools and memories through `Saved`: a map for each principal, bounds, other processes,
//! broken databases.

mod trouble;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection};
use store::saved::{
    MAX_BYTES, MAX_MEMORIES, MAX_MEMORY, MAX_SOURCE, MAX_TOOLS, MemoryHead, NewMemory, SavedBy,
};
use store::{Database, FILE, Saved, SavedError};
use tempfile::TempDir;
use types::{Principal, RunId};

use crate::places::{Place, in_each};

/// A data directory that does not exist yet.
struct World {
    home: TempDir,
}

impl World {
    fn new() -> World {
        World {
            home: tempfile::tempdir().expect("a directory"),
        }
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("data").join(FILE)
    }

    fn saved(&self) -> Saved {
        Saved::new(self.file().into())
    }

    async fn database(&self) -> SqliteConnection {
        std::fs::create_dir_all(self.home.path().join("data")).expect("a directory");
        let options = SqliteConnectOptions::new().filename(self.file());
        options
            .create_if_missing(true)
            .connect()
            .await
            .expect("a database")
    }

    /// Saves a memory and closes the file. Closing the last connection removes the journal.
    async fn with_one_memory(&self) {
        let saved = self.saved();
        put(&saved, "ann", "x", &json!(1)).await.expect("saved");
        saved.close().await;
        assert!(!self.file().with_extension("db-wal").exists());
    }

    async fn change(&self, statement: &str) {
        let mut database = self.database().await;
        sqlx::query(AssertSqlSafe(statement.to_owned()))
            .execute(&mut database)
            .await
            .expect("changed");
        database.close().await.expect("closed");
    }
}

fn saved_in(place: &Place) -> Saved {
    Saved::new(place.database.clone())
}

fn principal(name: &str) -> Principal {
    name.parse().expect("a principal")
}

async fn put(saved: &Saved, who: &str, key: &str, value: &Value) -> Result<u64, SavedError> {
    let by = SavedBy {
        principal: &principal(who),
        run: None,
    };
    let memory = NewMemory {
        key,
        value,
        metadata: &Value::Null,
        expected: None,
        times: None,
    };
    saved.save_memory(by, memory).await
}

async fn put_if(saved: &Saved, key: &str, expected: u64) -> Result<u64, SavedError> {
    let by = SavedBy {
        principal: &principal("ann"),
        run: None,
    };
    let memory = NewMemory {
        key,
        value: &json!(expected),
        metadata: &Value::Null,
        expected: Some(expected),
        times: None,
    };
    saved.save_memory(by, memory).await
}

async fn get(saved: &Saved, who: &str, key: &str) -> Option<Value> {
    let memory = saved.load_memory(&principal(who), key).await.expect("loaded");
    memory.map(|memory| serde_json::from_str(memory.value.get()).expect("JSON"))
}

async fn heads(saved: &Saved, who: &str) -> Vec<MemoryHead> {
    saved.memories(&principal(who)).await.expect("listed")
}

async fn tool(saved: &Saved, who: &str, name: &str, source: &str) -> Result<(), SavedError> {
    let by = SavedBy {
        principal: &principal(who),
        run: Some(&RunId::new("r-1".to_owned())),
    };
    saved.save_tool(by, name, source).await
}

async fn tools(saved: &Saved, who: &str) -> Vec<(String, String)> {
    let tools = saved.tools(&principal(who)).await.expect("listed");
    tools.into_iter().map(|tool| (tool.name, tool.source)).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Save(String, u16),
    Load(String),
    Delete(String),
    /// Another process takes over.
    Reopen,
}

/// Few keys, so that keys collide, and keys that naive stores confuse.
fn key() -> impl Strategy<Value = String> {
    let confusable = [
        "a/b",
        "a_b",
        "a\\b",
        "a b",
        "a%2Fb",
        "A/B",
        "../../x",
        "x",
        "x ",
        "X",
        "\u{e9}",
        "e\u{301}",
        "\u{430}",
        "a",
        "\u{ff41}",
        "'; DROP TABLE memories; --",
        "%",
        "_",
        "con",
        ".json",
    ];
    prop_oneof![
        4 => prop::sample::select(confusable.to_vec()).prop_map(str::to_owned),
        1 => "[^\\p{Cc}]{1,20}",
    ]
}

fn step() -> impl Strategy<Value = (bool, Step)> {
    let step = prop_oneof![
        4 => (key(), any::<u16>()).prop_map(|(key, value)| Step::Save(key, value)),
        2 => key().prop_map(Step::Load),
        2 => key().prop_map(Step::Delete),
        1 => Just(Step::Reopen),
    ];
    // The flag selects one of two principals.
    (any::<bool>(), step)
}

async fn play(database: &Database, steps: &[(bool, Step)]) {
    let mut saved = Saved::new(database.clone());
    let mut model: BTreeMap<(&str, String), Value> = BTreeMap::new();
    for (first, step) in steps {
        let who = if *first { "ann" } else { "ben" };
        match step {
            Step::Save(key, value) => {
                put(&saved, who, key, &json!(value)).await.expect("saved");
                model.insert((who, key.clone()), json!(value));
            }
            Step::Load(key) => {
                let expected = model.get(&(who, key.clone())).cloned();
                assert_eq!(get(&saved, who, key).await, expected, "{who} {key:?}");
            }
            Step::Delete(key) => {
                let deleted = saved.delete_memory(&principal(who), key).await;
                assert_eq!(
                    deleted,
                    Ok(model.remove(&(who, key.clone())).is_some()),
                    "{who} {key:?}"
                );
            }
            Step::Reopen => saved = Saved::new(database.clone()),
        }
    }
    for who in ["ann", "ben"] {
        let keys: Vec<String> = heads(&saved, who)
            .await
            .into_iter()
            .map(|head| head.key)
            .collect();
        let expected: Vec<&String> = model
            .keys()
            .filter(|key| key.0 == who)
            .map(|key| &key.1)
            .collect();
        assert_eq!(keys.iter().collect::<Vec<_>>(), expected, "{who}");
    }
}

/// Checks a property with an empty SQLite file and an empty Postgres database for each case.
fn holds<S: Strategy>(strategy: &S, check: impl AsyncFn(&Database, S::Value)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    for (place, cases) in [(Place::file(), 24), (Place::postgres(), 8)] {
        let number = AtomicU32::new(0);
        let mut runner = TestRunner::new(ProptestConfig {
            cases,
            ..ProptestConfig::default()
        });
        let held = runner.run(strategy, |value| {
            let database = place.anew(&format!("case{}", number.fetch_add(1, Ordering::Relaxed)));
            runtime.block_on(check(&database, value));
            Ok(())
        });
        held.expect("the property");
    }
}

// C322
#[test]
fn memories_are_a_map_for_each_principal() {
    holds(&prop::collection::vec(step(), 1..40), async |database, steps| {
        play(database, &steps).await;
    });
}

// C322, S4-D12
#[test]
fn two_different_keys_are_two_memories() {
    let different = (key(), key()).prop_filter("different keys", |(one, other)| one != other);
    holds(&different, async |database, (one, other)| {
        let saved = Saved::new(database.clone());
        put(&saved, "ann", &one, &json!(1)).await.expect("saved");
        put(&saved, "ann", &other, &json!(2)).await.expect("saved");
        assert_eq!(get(&saved, "ann", &one).await, Some(json!(1)));
        assert_eq!(get(&saved, "ann", &other).await, Some(json!(2)));
    });
}

#[tokio::test]
async fn reading_creates_no_database() {
    let world = World::new();
    let saved = world.saved();
    assert_eq!(get(&saved, "ann", "x").await, None);
    assert_eq!(saved.delete_memory(&principal("ann"), "x").await, Ok(false));
    assert_eq!(saved.remove_tool(&principal("ann"), "f").await, Ok(false));
    assert!(tools(&saved, "ann").await.is_empty() && heads(&saved, "ann").await.is_empty());
    assert!(!world.home.path().join("data").exists());
}

#[tokio::test]
async fn only_the_owner_may_read_what_is_saved() {
    let world = World::new();
    put(&world.saved(), "ann", "x", &json!(1)).await.expect("saved");
    let mode = |path: &Path| path.metadata().expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&world.file()), 0o600);
    assert_eq!(mode(&world.home.path().join("data")), 0o700);
}

#[tokio::test]
async fn tools_keep_the_place_of_their_first_save() {
    in_each(async |place| {
        let saved = saved_in(place);
        for (name, source) in [("b", "def b(): 1"), ("a", "def a(): 1"), ("b", "def b(): 2")] {
            tool(&saved, "ann", name, source).await.expect("saved");
        }
        tool(&saved, "ben", "a", "def a(): 3").await.expect("saved");
        let pair = |name: &str, source: &str| (name.to_owned(), source.to_owned());
        assert_eq!(
            tools(&saved, "ann").await,
            [pair("b", "def b(): 2"), pair("a", "def a(): 1")]
        );
        assert_eq!(saved.remove_tool(&principal("ann"), "a").await, Ok(true));
        assert_eq!(saved.remove_tool(&principal("ann"), "a").await, Ok(false));
        assert_eq!(tools(&saved, "ann").await, [pair("b", "def b(): 2")]);
        assert_eq!(tools(&saved, "ben").await, [pair("a", "def a(): 3")]);
        let kept = saved.tools(&principal("ann")).await.expect("listed").remove(0);
        assert_eq!(kept.run.as_deref(), Some("r-1"));
        assert_eq!(
            kept.sha256,
            "43240a1560927057e31d89aedb80308d554c3d56fdaf50a51bb82e11d06a3b6c"
        );
    })
    .await;
}

#[tokio::test]
async fn an_expected_version_is_checked_and_versions_never_repeat() {
    in_each(async |place| {
        let saved = saved_in(place);
        assert!(matches!(
            put_if(&saved, "x", 1).await,
            Err(SavedError::Conflict { stored: 0, .. })
        ));
        let first = put_if(&saved, "x", 0).await.expect("saved");
        assert!(matches!(
            put_if(&saved, "x", 0).await,
            Err(SavedError::Conflict { .. })
        ));
        let second = put_if(&saved, "x", first).await.expect("saved");
        assert!(matches!(
            put_if(&saved, "x", first).await,
            Err(SavedError::Conflict { .. })
        ));
        saved
            .delete_memory(&principal("ann"), "x")
            .await
            .expect("deleted");
        let third = put_if(&saved, "x", 0).await.expect("saved");
        assert!(first < second && second < third, "{first} {second} {third}");
        assert_eq!(heads(&saved, "ann").await[0].version, third);
    })
    .await;
}

#[tokio::test]
async fn a_memory_has_its_metadata_times_and_size() {
    in_each(async |place| {
        let saved = saved_in(place);
        let by = SavedBy {
            principal: &principal("ann"),
            run: None,
        };
        let memory = NewMemory {
            key: "k",
            value: &json!({"n": [1, 2.5, null]}),
            metadata: &json!({"tags": ["t"]}),
            expected: None,
            times: Some((1000, 2000)),
        };
        saved.save_memory(by, memory).await.expect("saved");
        let loaded = saved.load_memory(by.principal, "k").await.expect("loaded");
        let loaded = loaded.expect("a memory");
        assert_eq!(loaded.value.get(), r#"{"n":[1,2.5,null]}"#);
        assert_eq!(loaded.head.metadata.get(), r#"{"tags":["t"]}"#);
        assert_eq!((loaded.head.created_ms, loaded.head.updated_ms), (1000, 2000));
        assert_eq!(loaded.head.bytes, 18 + 14);
        put(&saved, "ann", "k", &json!(1)).await.expect("saved");
        let head = heads(&saved, "ann").await.remove(0);
        assert_eq!((head.created_ms, head.metadata.get()), (1000, "{}"));
        assert!(head.updated_ms > 2000);
    })
    .await;
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(done: Result<T, SavedError>, part: &str) {
    match done {
        Err(SavedError::Refused(why)) if why.contains(part) => {}
        other => panic!("{other:?} instead of {part:?}"),
    }
}

#[tokio::test]
async fn full_stores_refuse_new_values_and_accept_replacements() {
    in_each(async |place| {
        let saved = saved_in(place);
        put(&saved, "ann", "0", &json!(0)).await.expect("saved");
        tool(&saved, "ann", "f0", "def f0(): 0").await.expect("saved");
        let count = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         INSERT INTO memories (principal, key, version, bytes, created_ms, updated_ms, metadata, value) \
         SELECT 'ann', CAST(i AS TEXT), 1, 3, 1, 1, '{{}}', '1' FROM n",
            MAX_MEMORIES - 1
        );
        place.change(&count).await;
        assert_refused(
            put(&saved, "ann", "one more", &json!(1)).await,
            "1000 are allowed",
        );
        put(&saved, "ann", "0", &json!(1)).await.expect("replaced");
        put(&saved, "ben", "0", &json!(1))
            .await
            .expect("another's room is their own");
        let count = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         INSERT INTO saved_tools (principal, name, bytes, sha256, saved_ms, source) \
         SELECT 'ann', 'f' || i, 3, '', 1, 'def' FROM n",
            MAX_TOOLS - 1
        );
        place.change(&count).await;
        assert_refused(
            tool(&saved, "ann", "more", "def more(): 0").await,
            "200 are allowed",
        );
        tool(&saved, "ann", "f0", "def f0(): 1").await.expect("replaced");

        place.change("DELETE FROM memories").await;
        place.change("DELETE FROM saved_tools").await;
        let long = format!("def f(): 0{}", " ".repeat(MAX_SOURCE - 10));
        for number in 0..64 {
            tool(&saved, "ann", &format!("f{number}"), &long)
                .await
                .expect("room");
        }
        assert_refused(
            tool(&saved, "ann", "more", "def more(): 0").await,
            "4194304 are allowed",
        );
        tool(&saved, "ann", "f0", &long).await.expect("replaced");
        tool(&saved, "ben", "f0", &long).await.expect("another's room");
        place.change("DELETE FROM saved_tools WHERE name <> 'f0'").await;

        let large = json!("x".repeat(MAX_MEMORY - 4));
        let fit = usize::try_from(MAX_BYTES).expect("a size") / MAX_MEMORY;
        for number in 0..fit - 1 {
            put(&saved, "ann", &number.to_string(), &large)
                .await
                .expect("room");
        }
        assert_refused(put(&saved, "ann", "more", &large).await, "67108864 are allowed");
        put(&saved, "ann", "0", &large).await.expect("replaced");
    })
    .await;
}

#[tokio::test]
async fn invalid_keys_and_names_are_refused() {
    let world = World::new();
    let saved = world.saved();
    for (key, part) in [
        ("", "is empty"),
        ("a\0", "U+0000"),
        (&"k".repeat(300), "256 are allowed"),
    ] {
        assert_refused(put(&saved, "ann", key, &json!(1)).await, part);
        assert_refused(saved.load_memory(&principal("ann"), key).await, part);
        assert_refused(saved.delete_memory(&principal("ann"), key).await, part);
    }
    assert_refused(
        tool(&saved, "ann", "../x", "def x(): 0").await,
        "write a Python name",
    );
    assert_refused(
        tool(&saved, "ann", "class", "def x(): 0").await,
        "is a Python keyword",
    );
    assert!(!world.file().exists());
}

#[tokio::test]
async fn two_connections_to_one_database_lose_nothing() {
    in_each(async |place| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let saved = saved_in(place);
                tokio::spawn(async move {
                    for number in 0..25 {
                        put(&saved, "ann", &format!("{writer}-{number}"), &json!(number)).await?;
                    }
                    Ok::<_, SavedError>(())
                })
            })
            .collect();
        for writer in writers {
            writer.await.expect("a writer").expect("saved");
        }
        assert_eq!(heads(&saved_in(place), "ann").await.len(), 100);
    })
    .await;
}

#[tokio::test]
async fn concurrent_and_abandoned_calls_leave_the_connection_usable() {
    in_each(async |place| {
        let saved = saved_in(place);
        for number in 0..50_u64 {
            let value = json!(number);
            let given_up = put(&saved, "ann", "x", &value);
            // Abandon the work at an arbitrary point.
            let _ = tokio::time::timeout(Duration::from_micros(number * 20), given_up).await;
        }
        put(&saved, "ann", "x", &json!("last")).await.expect("saved");
        assert_eq!(get(&saved, "ann", "x").await, Some(json!("last")));
    })
    .await;
}

#[tokio::test]
async fn a_removed_file_is_created_again() {
    let world = World::new();
    let saved = world.saved();
    put(&saved, "ann", "x", &json!(1)).await.expect("saved");
    std::fs::remove_dir_all(world.home.path().join("data")).expect("removed");
    assert_eq!(get(&saved, "ann", "x").await, None);
    put(&saved, "ann", "y", &json!(2)).await.expect("saved");
    assert_eq!(heads(&world.saved(), "ann").await.len(), 1);
}
