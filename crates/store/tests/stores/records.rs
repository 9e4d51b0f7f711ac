//! Records written through `Records` and read back: order, completeness, retention, many processes at once.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use store::{
    Attempt, Filter, Opened, Reader, Recording, Records, RecordsConfig, Refused, RunRecord, RunView,
};
use types::{GuestError, Limit, Limits, Outcome, Principal, SessionFate, Status};

use crate::attempts;
use crate::places::{Place, in_each};

fn config(place: &Place) -> RecordsConfig {
    RecordsConfig {
        database: place.database.clone(),
        ..RecordsConfig::below(Path::new("/"))
    }
}

fn attempt(number: usize) -> Attempt {
    attempts::attempt(format!("r-{number:05}"))
}

fn accepted(records: &Records, number: usize) -> RunRecord {
    attempts::accept(records, attempt(number))
}

fn outcome(status: Status) -> Outcome {
    let error = (status != Status::Completed).then(GuestError::default);
    Outcome::bare(status, SessionFate::Kept, error)
}

async fn read(config: &RecordsConfig, filter: &Filter) -> Vec<RunView> {
    match Reader::open(config, &Principal::local())
        .await
        .expect("a sound database")
    {
        Opened::Empty => Vec::new(),
        Opened::Open(mut reader) => reader.runs(filter).await.expect("runs"),
    }
}

async fn until(config: &RecordsConfig, is_so: impl Fn(&[RunView]) -> bool) {
    for _ in 0..5000 {
        if is_so(&read(config, &Filter::default()).await) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it was not written within ten seconds");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Ends(Status),
    Dropped,
    Refused,
    StaysOpen,
}

fn fates() -> impl Strategy<Value = Vec<(Fate, bool)>> {
    let fate = prop_oneof![
        Just(Fate::Ends(Status::Completed)),
        Just(Fate::Ends(Status::Failed)),
        Just(Fate::Ends(Status::TimedOut)),
        Just(Fate::Ends(Status::LimitExceeded { limit: Limit::Memory })),
        Just(Fate::Dropped),
        Just(Fate::Refused),
        Just(Fate::StaysOpen),
    ];
    // The flag: whether this attempt is committed before the next attempt.
    prop::collection::vec((fate, prop::bool::weighted(0.1)), 1..60)
}

/// Records all attempts; returns the expected rows in order.
async fn play(
    records: &Records,
    config: &RecordsConfig,
    fates: &[(Fate, bool)],
) -> (Vec<String>, Vec<RunRecord>) {
    let mut expected = Vec::new();
    let mut open = Vec::new();
    for (number, (fate, pause)) in fates.iter().enumerate() {
        let told = match fate {
            Fate::Refused => {
                records
                    .refused(attempt(number), Refused::QueueFull)
                    .await
                    .expect("recorded");
                "refused"
            }
            Fate::Dropped => {
                drop(accepted(records, number));
                "cancelled"
            }
            Fate::StaysOpen => {
                open.push(accepted(records, number));
                "running"
            }
            Fate::Ends(status) => {
                let mut record = accepted(records, number);
                record.begin().await.expect("recorded");
                record.begun();
                record.ended(&outcome(*status), None).await.expect("recorded");
                status.name()
            }
        };
        expected.push(format!("r-{number:05} {told}"));
        if *pause {
            until(config, |runs| runs.len() == number + 1).await;
        }
    }
    (expected, open)
}

/// One principal's view: handles of all runs, and whether this handle exists.
async fn seen(config: &RecordsConfig, principal: &Principal, id: &str) -> (Vec<String>, bool, u64) {
    let Opened::Open(mut reader) = Reader::open(config, principal).await.expect("a sound database") else {
        panic!("nothing was recorded");
    };
    let runs = reader.runs(&Filter::default()).await.expect("runs");
    let known = reader.run(id).await.expect("a look").is_some();
    let traffic = reader.traffic(0).await.expect("traffic").runs;
    (runs.into_iter().map(|run| run.id).collect(), known, traffic)
}

#[tokio::test]
async fn a_principal_reads_its_own_records_and_no_others() {
    in_each(async |place| {
        let config = config(place);
        let records = Records::new(config.clone());
        let principals: Vec<Principal> = ["ann", "acme/ann", "acme/bob"]
            .map(|text| text.parse().expect("a principal"))
            .to_vec();
        for (number, principal) in principals.iter().enumerate() {
            let whose = Attempt {
                principal: principal.clone(),
                ..attempt(number)
            };
            records
                .refused(whose, Refused::QueueFull)
                .await
                .expect("recorded");
        }
        records.close().await;
        for (number, principal) in principals.iter().enumerate() {
            let own = format!("r-{number:05}");
            assert_eq!(seen(&config, principal, &own).await, (vec![own.clone()], true, 1));
            // An unknown handle and another principal's handle answer alike.
            for foreign in ["r-99999", &format!("r-{:05}", (number + 1) % principals.len())] {
                assert_eq!(
                    seen(&config, principal, foreign).await,
                    (vec![own.clone()], false, 1)
                );
            }
        }
    })
    .await;
}

#[test]
fn every_attempt_is_read_as_it_ended_and_in_the_order_in_which_it_came() {
    let runtime = runtime();
    for (place, cases) in [(Place::file(), 24), (Place::postgres(), 8)] {
        let number = AtomicU32::new(0);
        let mut runner = TestRunner::new(ProptestConfig {
            cases,
            ..ProptestConfig::default()
        });
        let held = runner.run(&fates(), |fates| {
            let config = RecordsConfig {
                database: place.anew(&format!("case{}", number.fetch_add(1, Ordering::Relaxed))),
                ..config(&place)
            };
            let (expected, read) = runtime.block_on(async {
                let records = Records::new(config.clone());
                let (expected, open) = play(&records, &config, &fates).await;
                records.close().await;
                let read = read(&config, &Filter::default()).await;
                drop(open);
                (expected, read)
            });
            let read: Vec<String> = read
                .iter()
                .rev()
                .map(|run| format!("{} {}", run.id, run.status))
                .collect();
            prop_assert_eq!(read, expected);
            Ok(())
        });
        held.expect("the property");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_share_one_new_file() {
    in_each(async |place| {
        let config = config(place);
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let config = config.clone();
                tokio::spawn(async move {
                    let records = Records::new(config);
                    for number in 0..200 {
                        let record = accepted(&records, writer * 1000 + number);
                        record
                            .ended(&outcome(Status::Completed), None)
                            .await
                            .expect("recorded");
                    }
                    records.close().await;
                })
            })
            .collect();
        for writer in writers {
            writer.await.expect("a writer");
        }
        let runs = read(&config, &Filter::default()).await;
        assert_eq!(runs.len(), 1600);
        assert!(runs.iter().all(|run| run.status == "completed"));
    })
    .await;
}

#[tokio::test]
async fn required_records_are_committed_before_the_run_continues() {
    in_each(async |place| {
        let config = RecordsConfig {
            recording: Recording::On {
                arguments: store::ArgumentDetail::Shape,
                required: true,
                replay: false,
            },
            ..config(place)
        };
        let records = Records::new(config.clone());
        let mut record = accepted(&records, 1);
        record.begin().await.expect("recorded");
        assert_eq!(read(&config, &Filter::default()).await[0].status, "running");
        record
            .ended(&outcome(Status::Completed), None)
            .await
            .expect("recorded");
        assert_eq!(read(&config, &Filter::default()).await[0].status, "completed");
        records.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_is_recorded_with_the_limits_of_the_session_that_it_found() {
    in_each(async |place| {
        let config = config(place);
        let records = Records::new(config.clone());
        let mut record = accepted(&records, 1);
        until(&config, |runs| runs.len() == 1).await;
        record.bound(Limits {
            memory: 77,
            ..Limits::default()
        });
        let is_bound = |run: &RunView| {
            run.limits
                .as_ref()
                .is_some_and(|limits| limits.contains("\"memory\":77,"))
        };
        until(&config, |runs| is_bound(&runs[0]) && runs[0].status == "running").await;
        record
            .ended(&outcome(Status::Completed), None)
            .await
            .expect("recorded");
        records.close().await;
        let runs = read(&config, &Filter::default()).await;
        assert!(is_bound(&runs[0]) && runs[0].status == "completed", "{runs:?}");
    })
    .await;
}

#[tokio::test]
async fn records_go_by_age() {
    let place = Place::file();
    let kept = config(&place);
    let records = Records::new(kept.clone());
    for number in 0..500 {
        let record = accepted(&records, number);
        record
            .ended(&outcome(Status::Failed), None)
            .await
            .expect("recorded");
    }
    records.close().await;
    assert_eq!(read(&kept, &Filter::default()).await.len(), 500);
    let records = Records::new(RecordsConfig {
        keep_for: Duration::ZERO,
        ..kept.clone()
    });
    drop(accepted(&records, 500));
    until(&kept, |runs| runs.iter().all(|run| run.id == "r-00500")).await;
    records.close().await;
}

#[tokio::test]
async fn on_a_server_records_go_by_whole_days_and_never_those_of_today() {
    let place = Place::postgres();
    let config = config(&place);
    let record = async |number: usize, config: &RecordsConfig| {
        let records = Records::new(config.clone());
        drop(accepted(&records, number));
        until(config, |runs| {
            runs.iter().any(|run| run.id == format!("r-{number:05}"))
        })
        .await;
        records
    };
    // Age both runs; only one becomes too old.
    record(1, &config).await.close().await;
    record(2, &config).await.close().await;
    for (day, run) in [("2020-01-01", "r-00001"), ("2020-01-02", "r-00002")] {
        let ms = format!("extract(epoch FROM timestamptz '{day} 12:00Z')::bigint * 1000");
        let first = place
            .ask(&format!("SELECT {ms}"))
            .parse::<i64>()
            .expect("a number")
            - 43_200_000;
        let (table, end) = (day.replace('-', ""), first + 86_400_000);
        place
            .change(&format!(
                "CREATE TABLE runs_{table} PARTITION OF runs FOR VALUES FROM ({first}) TO ({end})"
            ))
            .await;
        place
            .change(&format!("UPDATE runs SET asked_ms = {ms} WHERE id = '{run}'"))
            .await;
    }
    let days = || {
        place.ask("SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relname LIKE 'runs\\_2020____'")
    };
    assert_eq!(days(), "runs_20200101 runs_20200102");
    let since = "SELECT ceil(extract(epoch FROM now() - timestamptz '2020-01-02 12:00Z'))::bigint";
    let age = Duration::from_secs(place.ask(since).parse().expect("a number"));
    let by_age = RecordsConfig {
        keep_for: age,
        ..config.clone()
    };
    let records = record(3, &by_age).await;
    until(&config, |runs| runs.len() == 2 && runs[1].id == "r-00002").await;
    records.close().await;
    assert_eq!(days(), "runs_20200102");
    let by_size = RecordsConfig {
        keep_for: age * 2,
        keep_size: 1,
        ..config.clone()
    };
    let records = record(4, &by_size).await;
    until(&config, |runs| runs.len() == 2 && runs[1].id == "r-00003").await;
    records.close().await;
    assert_eq!(days(), "");
}
