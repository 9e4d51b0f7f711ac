//! A damaged, foreign, newer, locked or read-only database, or a full disk: programs run, and the file stays
//! unchanged.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection};
use test_support::{CodeClient, Codeyard, Mode};

use crate::records::{file, holds, run, runs};

async fn open(codeyard: &Codeyard) -> SqliteConnection {
    std::fs::create_dir_all(codeyard.data_directory()).unwrap();
    let options = SqliteConnectOptions::new()
        .filename(file(codeyard))
        .create_if_missing(true);
    options.connect().await.unwrap()
}

async fn change(codeyard: &Codeyard, statement: &str) {
    let mut connection = open(codeyard).await;
    sqlx::query(AssertSqlSafe(statement.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// A run completes, reports the problem and its remedy once, and leaves the file unchanged; so do `runs` and
/// `doctor`.
async fn check(codeyard: &Codeyard, what: &str, remedy: &str) {
    let before = std::fs::read(file(codeyard)).unwrap();
    let ended = run(codeyard, &["run", "-"], "print(1)").await;
    assert_eq!((ended.code, ended.out.as_str()), (0, "1\n"), "{ended:?}");
    for part in ["programs run without being recorded", what, remedy] {
        assert_eq!(ended.err.matches(part).count(), 1, "{part}: {}", ended.err);
    }
    assert!(
        std::fs::read(file(codeyard)).unwrap() == before,
        "the file was changed"
    );
    let ended = run(codeyard, &["doctor"], "").await;
    assert!(
        ended.out.contains("weaker   records") && ended.out.contains(remedy),
        "{ended:?}"
    );
    assert!(
        std::fs::read(file(codeyard)).unwrap() == before,
        "the file was changed"
    );
}

/// Checks that `codeyard runs` reports the same.
async fn check_runs(codeyard: &Codeyard, what: &str, remedy: &str) {
    let ended = run(codeyard, &["runs"], "").await;
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(
        ended.err.contains(what) && ended.err.contains(remedy),
        "{ended:?}"
    );
}

#[tokio::test]
async fn the_doctor_counts_the_runs_of_a_sound_file() {
    let codeyard = Codeyard::new().unwrap();
    run(&codeyard, &["run", "-"], "1").await;
    let ended = run(&codeyard, &["doctor"], "").await;
    assert!(ended.out.contains("ok       records"), "{ended:?}");
    assert!(ended.out.contains("1 run in "), "{ended:?}");
}

#[tokio::test]
async fn a_damaged_file_stays_unchanged() {
    let codeyard = Codeyard::new().unwrap();
    std::fs::create_dir_all(codeyard.data_directory()).unwrap();
    std::fs::write(
        file(&codeyard),
        "no database at all, but somebody's notes".repeat(200),
    )
    .unwrap();
    check(
        &codeyard,
        "is damaged",
        "move it and its -wal and -shm files away",
    )
    .await;
    check_runs(&codeyard, "is damaged", "move it").await;
}

#[tokio::test]
async fn a_file_damaged_in_the_middle_is_reported() {
    let codeyard = Codeyard::new().unwrap();
    run(&codeyard, &["run", "-"], "1").await;
    let mut bytes = std::fs::read(file(&codeyard)).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0x5a);
    std::fs::write(file(&codeyard), bytes).unwrap();
    for name in ["codeyard.db-wal", "codeyard.db-shm"] {
        let _ = std::fs::remove_file(codeyard.data_directory().join(name));
    }
    check(&codeyard, "is damaged", "move it").await;
}

#[tokio::test]
async fn a_database_of_another_program_stays_unchanged() {
    let codeyard = Codeyard::new().unwrap();
    change(&codeyard, "CREATE TABLE recipes (name TEXT)").await;
    check(
        &codeyard,
        "is not a database of codeyard",
        "name another data directory",
    )
    .await;
    check_runs(&codeyard, "is not a database of codeyard", "--data").await;
}

#[tokio::test]
async fn a_newer_database_stays_unchanged() {
    let codeyard = Codeyard::new().unwrap();
    run(&codeyard, &["run", "-"], "1").await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9999, 'later', true, x'00', 0)";
    change(&codeyard, newer).await;
    check(&codeyard, "was written by a newer codeyard", "use that version").await;
    check_runs(&codeyard, "was written by a newer codeyard", "use that version").await;
}

#[tokio::test]
async fn a_locked_database_holds_up_no_run_for_long_and_is_used_again_when_it_is_free() {
    let codeyard = Codeyard::new().unwrap();
    run(&codeyard, &["run", "-"], "1").await;
    let mut holder = open(&codeyard).await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut holder).await.unwrap();
    let mut client = CodeClient::of(codeyard).await;
    client.check("print('locked')", "locked\n").await;
    test_support::wait_until("codeyard says that the database is locked", || {
        client
            .mcp
            .stderr()
            .contains("is locked by another program")
            .then_some(())
    })
    .await;
    sqlx::query("ROLLBACK").execute(&mut holder).await.unwrap();
    holder.close().await.unwrap();
    test_support::wait_until("codeyard says that it writes again", || {
        client
            .mcp
            .stderr()
            .contains("records are written again")
            .then_some(())
    })
    .await;
    // The later run waited in the queue, so it is the newer row.
    let kept = runs(&client.codeyard, &[]).await;
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(!holds(&client.codeyard, "records_lost"));
}

#[tokio::test]
async fn a_read_only_file_is_reported() {
    let codeyard = Codeyard::new().unwrap();
    if Mode::of(&codeyard).await.unwrap().is_root {
        return; // Root writes wherever it likes.
    }
    use std::os::unix::fs::PermissionsExt as _;
    run(&codeyard, &["run", "-"], "1").await;
    std::fs::set_permissions(file(&codeyard), std::fs::Permissions::from_mode(0o400)).unwrap();
    check(
        &codeyard,
        "cannot be written",
        "make the file and its directory writable",
    )
    .await;
    assert_eq!(
        runs(&codeyard, &[]).await.len(),
        1,
        "what is there can still be read"
    );
}

#[tokio::test]
async fn on_a_full_disk_programs_run_and_say_that_they_are_not_recorded() {
    let codeyard = Codeyard::new().unwrap();
    if !Mode::of(&codeyard).await.unwrap().is_root {
        return; // Only root can mount a small disk to fill.
    }
    let codeyard = codeyard.on_full_disk().unwrap();
    let ended = run(&codeyard, &["run", "-"], "print('ran')").await;
    assert_eq!(ended.out, "ran\n", "{ended:?}");
    assert!(
        ended.err.contains("cannot grow") && ended.err.contains("free space"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_clock_set_back_is_reported_and_stops_required_records_only() {
    let codeyard = Codeyard::new().unwrap();
    run(&codeyard, &["run", "-"], "1").await;
    change(&codeyard, "UPDATE runs SET asked_ms = asked_ms + 3600000").await;
    let ended = run(&codeyard, &["run", "-"], "print(1)").await;
    assert_eq!((ended.code, ended.out.as_str()), (0, "1\n"), "{ended:?}");
    assert!(
        ended.err.contains("behind the newest record") && ended.err.contains("correct the clock"),
        "{ended:?}"
    );
    let newest = runs(&codeyard, &["--limit", "1"]).await;
    assert_eq!(
        newest[0]["status"], "completed",
        "the newest must come first: {newest:?}"
    );

    let codeyard = codeyard.settings("[records]\nrecord = \"required\"");
    change(&codeyard, "UPDATE runs SET asked_ms = asked_ms + 7200000").await;
    let ended = run(&codeyard, &["run", "-"], "print(1)").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(
        ended.err.contains("clock is") && ended.err.contains("correct the clock"),
        "{ended:?}"
    );
}
