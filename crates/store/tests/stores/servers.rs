//! A Postgres server that comes and goes, holds another program's tables, or was changed by a newer codeyard.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::saved::{NewMemory, SavedBy};
use store::{
    ArgumentDetail, Database, Filter, Opened, Reader, Recording, Records, RecordsConfig, RunRecord, Saved,
    SavedError,
};
use test_support::PostgresServer;
use types::{Outcome, Principal, SessionFate, Status};

use crate::attempts;

fn config(url: &str, required: bool) -> RecordsConfig {
    RecordsConfig {
        database: url.parse().expect("a URL"),
        recording: Recording::On {
            arguments: ArgumentDetail::Shape,
            required,
            replay: false,
        },
        ..RecordsConfig::below(Path::new("/"))
    }
}

fn accepted(records: &Records, id: impl Into<String>) -> RunRecord {
    attempts::accept(records, attempts::attempt(id))
}

async fn statuses(config: &RecordsConfig) -> BTreeMap<String, String> {
    let opened = Reader::open(config, &Principal::local())
        .await
        .expect("a sound database");
    let Opened::Open(mut reader) = opened else {
        return BTreeMap::new();
    };
    let runs = reader.runs(&Filter::default()).await.expect("runs");
    runs.into_iter().map(|run| (run.id, run.status)).collect()
}

async fn save(database: &Database, value: &Value) -> Result<u64, SavedError> {
    let principal = Principal::local();
    let by = SavedBy {
        principal: &principal,
        run: None,
    };
    let memory = NewMemory {
        key: "k",
        value,
        metadata: &Value::Null,
        expected: None,
        times: None,
    };
    Saved::new(database.clone()).save_memory(by, memory).await
}

/// Records runs in sequence until told to stop; returns the acknowledged runs and the errors of the others.
async fn run_on(
    records: Records,
    name: String,
    stop: Arc<AtomicBool>,
    ended: Arc<AtomicUsize>,
) -> (BTreeMap<String, &'static str>, Vec<String>) {
    let (mut acknowledged, mut refusals) = (BTreeMap::new(), Vec::new());
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let id = format!("r-{name}-{number:05}");
        let mut record = accepted(&records, id.clone());
        let start = Instant::now();
        let begun = record.begin().await;
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        if let Err(refused) = begun {
            record.give_up(store::Refused::NotRecorded);
            refusals.push(refused.to_string());
            continue;
        }
        acknowledged.insert(id.clone(), "running");
        record.begun();
        let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
        if record.ended(&outcome, None).await.is_ok() {
            acknowledged.insert(id, "completed");
            ended.fetch_add(1, Ordering::Relaxed);
        }
        tokio::task::yield_now().await;
    }
    (acknowledged, refusals)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_again_and_again_loses_no_acknowledged_record() {
    let mut server = PostgresServer::start().expect("a server");
    let url = server.make("yard").expect("a database");
    let required = config(&url, true);
    let (first, second, free) = (
        Records::new(required.clone()),
        Records::new(required.clone()),
        Records::new(config(&url, false)),
    );
    let stop = Arc::new(AtomicBool::new(false));
    let ended = Arc::new(AtomicUsize::new(0));
    let work: Vec<_> = (0..6)
        .map(|number| {
            let records = if number % 2 == 0 { &first } else { &second };
            tokio::spawn(run_on(
                records.clone(),
                number.to_string(),
                stop.clone(),
                ended.clone(),
            ))
        })
        .collect();
    let others = tokio::spawn({
        let stop = stop.clone();
        async move {
            let mut slowest = Duration::ZERO;
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let start = Instant::now();
                let mut record = accepted(&free, format!("f-{number:05}"));
                record.begin().await.expect("not required");
                let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
                record.ended(&outcome, None).await.expect("not required");
                slowest = slowest.max(start.elapsed());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            free.close().await;
            slowest
        }
    });
    let mut server = tokio::task::spawn_blocking(move || {
        for round in 0..20 {
            // Some runs finish each time; the state of the others is random.
            let before = ended.load(Ordering::Relaxed);
            let start = Instant::now();
            while ended.load(Ordering::Relaxed) < before + 5 + round {
                assert!(
                    start.elapsed() < Duration::from_secs(30),
                    "nothing is recorded any more"
                );
                std::thread::sleep(Duration::from_millis(1));
            }
            server.kill().expect("killed");
            server.run().expect("started again");
        }
        server
    })
    .await
    .expect("restarts");
    // A long outage, so that runs are refused.
    server.kill().expect("killed");
    let away = Instant::now();
    let refused = loop {
        let mut record = accepted(&first, format!("late-{}", away.elapsed().as_micros()));
        if let Err(refused) = record.begin().await {
            record.give_up(store::Refused::NotRecorded);
            break refused.to_string();
        }
    };
    assert!(away.elapsed() < Duration::from_secs(15), "{:?}", away.elapsed());
    assert!(refused.contains("does not answer"), "{refused}");
    assert!(!refused.contains("a-password-of-tests"), "{refused}");
    server.run().expect("started again");
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged = BTreeMap::new();
    for work in work {
        acknowledged.extend(work.await.expect("work").0);
    }
    let slowest = others.await.expect("other work");
    assert!(
        slowest < Duration::from_secs(1),
        "a run that need not be recorded waited {slowest:?}"
    );
    first.close().await;
    second.close().await;
    let recorded = statuses(&required).await;
    assert!(
        acknowledged.len() > 100,
        "only {} runs were acknowledged",
        acknowledged.len()
    );
    for (id, status) in &acknowledged {
        let found = recorded.get(id).map(String::as_str);
        match *status {
            // The end may be recorded without an acknowledgement.
            "running" => assert!(found.is_some(), "{id} is not there"),
            status => assert_eq!(found, Some(status), "{id}"),
        }
    }
}

#[tokio::test]
async fn two_processes_add_up_and_every_table_has_a_key() {
    let server = PostgresServer::start().expect("a server");
    let config = config(&server.make("yard").expect("a database"), false);
    let both = [Records::new(config.clone()), Records::new(config.clone())];
    for (number, records) in both.iter().enumerate() {
        for run in 0..50 {
            let record = accepted(records, format!("r-{number}-{run}"));
            let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
            record.ended(&outcome, None).await.expect("recorded");
        }
    }
    for records in both {
        records.close().await;
    }
    let Opened::Open(mut reader) = Reader::open(&config, &Principal::local())
        .await
        .expect("a database")
    else {
        panic!("nothing was recorded")
    };
    assert_eq!(reader.traffic(0).await.expect("traffic").runs, 100);
    assert_eq!(reader.costs(None).await.expect("costs").len(), 100);
    let without = "SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = \
        'public'::regnamespace AND oid NOT IN (SELECT conrelid FROM pg_constraint WHERE contype = 'p')";
    assert_eq!(server.psql("yard", without).expect("an answer"), "");
    let left = "SELECT count(*) FROM processes WHERE ending = 'closed'";
    assert_eq!(server.psql("yard", left).expect("an answer"), "2");
}

#[tokio::test]
async fn an_unusable_database_is_reported_with_a_remedy_and_unchanged() {
    let server = PostgresServer::start().expect("a server");
    let check = async |url: &str, what: &str, remedy: &str| {
        let database: Database = url.parse().expect("a URL");
        let start = Instant::now();
        let told = save(&database, &json!(1)).await.expect_err(what).to_string();
        assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
        assert!(told.contains(what) && told.contains(remedy), "{told}");
        assert!(!told.contains("a-password-of-tests"), "{told}");
        let required = RecordsConfig {
            database,
            ..config(url, true)
        };
        let records = Records::new(required);
        let mut record = accepted(&records, "r-1".to_owned());
        let refused = record.begin().await.expect_err(what).to_string();
        record.give_up(store::Refused::NotRecorded);
        assert!(refused.contains(what), "{refused}");
        records.close().await;
    };
    let url = server.make("recipes").expect("a database");
    server
        .psql("recipes", "CREATE TABLE recipes (name TEXT)")
        .expect("made");
    check(&url, "is not a database of codeyard", "name an empty database").await;
    let tables =
        "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
    assert_eq!(server.psql("recipes", tables).expect("an answer"), "1");

    let sound = async |name: &str| {
        let url = server.make(name).expect("a database");
        save(&url.parse().expect("a URL"), &json!(1))
            .await
            .expect("saved");
        url
    };
    let url = sound("newer").await;
    server
        .psql("newer", "UPDATE codeyard SET migrations = 9999")
        .expect("changed");
    save(&url.parse().expect("a URL"), &json!(2))
        .await
        .expect("a newer version that only added is no trouble");
    server
        .psql("newer", "UPDATE codeyard SET oldest = 9999")
        .expect("changed");
    check(&url, "was written by a newer codeyard", "use that version").await;

    let url = sound("halved").await;
    server
        .psql("halved", "DROP TABLE memories, runs, processes")
        .expect("changed");
    check(&url, "is damaged", "restore its tables from a backup").await;

    let url = sound("read_only").await;
    server
        .psql(
            "postgres",
            "ALTER DATABASE read_only SET default_transaction_read_only = on",
        )
        .expect("changed");
    check(&url, "cannot be written", "not a standby").await;

    check(&server.url("absent"), "does not exist", "createdb").await;
    let wrong = server.url("newer").replace("a-password-of-tests", "another");
    check(&wrong, "refuses this user", "pg_hba.conf").await;
    let nobody = format!("postgres://yard@127.0.0.1:1/{}", "yard");
    check(&nobody, "does not answer", "check that the server runs").await;
}

#[tokio::test]
async fn a_full_disk_of_the_server_stops_only_what_must_be_recorded_until_there_is_room() {
    let server = PostgresServer::start().expect("a server");
    let Some((url, _disk)) = server.make_on_small_disk("yard").expect("a small disk") else {
        return;
    };
    let database: Database = url.parse().expect("a URL");
    save(&database, &json!(1)).await.expect("there is room");
    server.fill("yard").expect("a full disk");
    // The server compresses repeated text.
    let digits: String = (0..20_000_u64)
        .map(|number| format!("{:05}", number.pow(3) % 99_991))
        .collect();
    let large = json!(digits);
    let told = save(&database, &large).await.expect_err("no room").to_string();
    assert!(
        told.contains("cannot grow") && told.contains("free space on the server"),
        "{told}"
    );
    let records = Records::new(config(&url, true));
    let mut refused = accepted(&records, "r-refused".to_owned());
    let error = refused.begin().await.expect_err("no room").to_string();
    refused.give_up(store::Refused::NotRecorded);
    assert!(error.contains("cannot grow"), "{error}");
    let free = Records::new(config(&url, false));
    let mut others = accepted(&free, "r-other".to_owned());
    others.begin().await.expect("need not be recorded");
    server.psql("yard", "DROP TABLE filler").expect("room again");
    others.begun();
    let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
    others.ended(&outcome, None).await.expect("need not be recorded");
    let start = Instant::now();
    for number in 0.. {
        let mut record = accepted(&records, format!("r-later-{number}"));
        let begun = record.begin().await;
        record.give_up(store::Refused::NotRecorded);
        if begun.is_ok() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{begun:?}");
    }
    records.close().await;
    free.close().await;
    save(&database, &large).await.expect("there is room");
}

#[tokio::test]
async fn the_url_decides_encryption() {
    let server = PostgresServer::start().expect("a server");
    let url = server.make("yard").expect("a database");
    let check = async |parameters: &str, told: Option<&str>| {
        let database: Database = format!("{url}?{parameters}").parse().expect("a URL");
        let saved = save(&database, &json!(1))
            .await
            .map_err(|error| error.to_string());
        match (saved, told) {
            (Ok(_), None) => {}
            (Err(error), Some(told)) if error.contains(told) && error.contains("sslrootcert") => {}
            (saved, _) => panic!("{parameters}: {saved:?}"),
        }
    };
    let untrusted = Some("offers no encryption that this machine trusts");
    check("sslmode=require", untrusted).await;
    let authority = server.encrypt().expect("a certificate");
    let authority = format!("sslrootcert={}", authority.display());
    check("sslmode=require", None).await;
    check("sslmode=verify-full", untrusted).await;
    check(&format!("sslmode=verify-full&{authority}"), None).await;
}
