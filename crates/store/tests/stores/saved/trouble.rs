//! Databases that are damaged, foreign, newer, older, locked or read-only.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::json;
use store::SavedError;

use crate::saved::{World, get, heads, principal, put, tool};

/// Checks that every call reports the error within about two seconds, and that the file stays unchanged.
async fn check_trouble(world: &World, what: &str, can_be_read: bool) {
    let saved = world.saved();
    let before = std::fs::read(world.file()).expect("a file");
    let told = |done: Result<(), SavedError>| {
        let Err(SavedError::Store(trouble)) = done else {
            panic!("{done:?} instead of {what:?}")
        };
        assert!(trouble.to_string().contains(what), "{trouble}");
    };
    for _ in 0..2 {
        let start = Instant::now();
        told(put(&saved, "ann", "x", &json!(1)).await.map(drop));
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }
    told(tool(&saved, "ann", "f", "def f(): 0").await);
    let listed = saved.memories(&principal("ann")).await.map(drop);
    if can_be_read {
        assert_eq!(listed, Ok(()));
    } else {
        told(listed);
    }
    assert!(
        std::fs::read(world.file()).expect("a file") == before,
        "the file was changed"
    );
}

#[tokio::test]
async fn an_unusable_database_fails_the_call_and_stays_unchanged() {
    let damaged = World::new();
    std::fs::create_dir_all(damaged.home.path().join("data")).expect("a directory");
    std::fs::write(damaged.file(), "somebody's notes".repeat(500)).expect("written");
    check_trouble(&damaged, "is damaged", false).await;

    let foreign = World::new();
    foreign.change("CREATE TABLE recipes (name TEXT)").await;
    check_trouble(&foreign, "is not a database of codeyard", false).await;

    let newer = World::new();
    newer.with_one_memory().await;
    newer
        .change(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (9999, 'later', true, x'00', 0)",
        )
        .await;
    check_trouble(&newer, "was written by a newer codeyard", false).await;
}

#[tokio::test]
async fn a_locked_database_is_reported_and_used_again_once_unlocked() {
    let world = World::new();
    let saved = world.saved();
    put(&saved, "ann", "x", &json!(1)).await.expect("saved");
    let mut holder = world.database().await;
    sqlx::query("BEGIN EXCLUSIVE")
        .execute(&mut holder)
        .await
        .expect("locked");
    check_trouble(&world, "is locked by another program", true).await;
    let start = Instant::now();
    assert!(matches!(
        put(&saved, "ann", "x", &json!(2)).await,
        Err(SavedError::Store(_))
    ));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(get(&saved, "ann", "x").await, Some(json!(1)));
    sqlx::query("ROLLBACK").execute(&mut holder).await.expect("free");
    put(&saved, "ann", "x", &json!(3)).await.expect("saved");
    assert_eq!(get(&world.saved(), "ann", "x").await, Some(json!(3)));
}

#[tokio::test]
async fn a_database_that_cannot_be_written_can_be_read() {
    let world = World::new();
    world.with_one_memory().await;
    let read_only = |mode| {
        std::fs::set_permissions(world.file(), std::fs::Permissions::from_mode(mode)).expect("changed");
    };
    read_only(0o400);
    if std::fs::OpenOptions::new().write(true).open(world.file()).is_ok() {
        return; // Root ignores permissions.
    }
    check_trouble(&world, "cannot be written", true).await;
    assert_eq!(get(&world.saved(), "ann", "x").await, Some(json!(1)));
}

#[tokio::test]
async fn an_older_database_has_no_saved_values_until_the_first_save() {
    let world = World::new();
    world.with_one_memory().await;
    for statement in [
        "DROP TABLE issuer_accounts",
        "DROP TABLE logins",
        "DROP TABLE login_links",
        "DROP TABLE pending_logins",
        "DROP TABLE sign_ons",
        "DROP TABLE sign_outs",
        "DROP TABLE sign_out_reports",
        "DROP TABLE sink_positions",
        "DROP TABLE sinks",
        "DROP INDEX runs_by_number",
        "DROP INDEX calls_by_number",
        "DROP INDEX events_by_number",
        "ALTER TABLE runs DROP COLUMN writer",
        "ALTER TABLE runs DROP COLUMN number",
        "ALTER TABLE calls DROP COLUMN writer",
        "ALTER TABLE calls DROP COLUMN number",
        "ALTER TABLE events DROP COLUMN writer",
        "ALTER TABLE events DROP COLUMN number",
        "ALTER TABLE processes DROP COLUMN records",
        "ALTER TABLE runs DROP COLUMN execution",
        "DROP TABLE recordings",
        "DROP TABLE leased_sessions",
        "DROP TABLE session_leases",
        "DROP TABLE gateway_processes",
        "DROP TABLE audit",
        "DROP TABLE audit_head",
        "DROP TABLE upstream_changes",
        "DROP TABLE upstream_servers",
        "DROP TABLE rate_grants",
        "DROP TABLE cpu_debts",
        "DROP INDEX runs_of_server",
        "DROP INDEX calls_of_tool",
        "DROP INDEX failed_calls_of_server",
        "DROP INDEX denials_of_server",
        "ALTER TABLE runs DROP COLUMN virtual_server",
        "ALTER TABLE calls DROP COLUMN virtual_server",
        "ALTER TABLE events DROP COLUMN virtual_server",
        "DROP TABLE virtual_servers",
        "DROP TABLE tokens",
        "DROP TABLE memberships",
        "DROP TABLE teams",
        "DROP TABLE users",
        "DROP TABLE memories",
        "DROP TABLE saved_tools",
        "DROP TABLE memory_versions",
        "DROP TABLE learned",
        "DROP TABLE forgotten",
        "DROP INDEX runs_by_time",
        "DROP TABLE receipt_calls",
        "DROP TABLE receipts",
        "ALTER TABLE runs DROP COLUMN client",
        "ALTER TABLE runs DROP COLUMN searches",
        "ALTER TABLE runs DROP COLUMN search_bytes",
        "ALTER TABLE runs DROP COLUMN earlier_threads",
        "ALTER TABLE processes DROP COLUMN host",
        "ALTER TABLE processes DROP COLUMN lease_ms",
        "ALTER TABLE processes DROP COLUMN batch",
        "ALTER TABLE processes ADD COLUMN pid_namespace TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE processes ADD COLUMN started_ticks BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE processes ADD COLUMN boot TEXT NOT NULL DEFAULT ''",
        "DELETE FROM _sqlx_migrations WHERE version >= 2",
    ] {
        world.change(statement).await;
    }
    let saved = world.saved();
    assert!(heads(&saved, "ann").await.is_empty());
    put(&saved, "ann", "y", &json!(1)).await.expect("saved");
    assert_eq!(heads(&saved, "ann").await.len(), 1);
}
