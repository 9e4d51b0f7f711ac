//! Records through the door and out of the reader: order, completeness, retention, many processes at once.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use store::{
    Attempt, Filter, Front, Opened, Reader, Recording, Records, RecordsConfig, Refused, RunRecord, RunView,
};
use types::{GuestError, Limit, Limits, Outcome, Principal, RunId, SessionFate, SessionName, Status};

fn config(directory: &Path) -> RecordsConfig {
    RecordsConfig::below(directory)
}

fn attempt(number: usize) -> Attempt {
    Attempt {
        run: RunId::new(format!("r-{number:05}")),
        principal: Principal::local(),
        front: Front::Mcp,
        language: Some("python"),
        code: None,
        limits: None,
        backend: "process",
        client: None,
        searched: store::Searched::default(),
    }
}

fn accepted(records: &Records, number: usize) -> RunRecord {
    let mut record = records.attempt(attempt(number));
    record.accepted(Some(&SessionName::new("default")));
    record
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

/// Waits until what can be read is so.
async fn until(config: &RecordsConfig, is_so: impl Fn(&[RunView]) -> bool) {
    for _ in 0..5000 {
        if is_so(&read(config, &Filter::default()).await) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it was not written within ten seconds");
}

/// What becomes of one attempt.
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
    // The flag: whether this one is in the file before the next one comes.
    prop::collection::vec((fate, prop::bool::weighted(0.1)), 1..60)
}

/// Records all of them; returns what should be read, in the order in which they came.
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

/// What one principal reads: the handles of all runs, and whether a run of this handle is known.
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
    let directory = tempfile::tempdir().expect("a directory");
    let config = config(directory.path());
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
        // An unknown handle and somebody else's answer alike.
        for foreign in ["r-99999", &format!("r-{:05}", (number + 1) % principals.len())] {
            assert_eq!(
                seen(&config, principal, foreign).await,
                (vec![own.clone()], false, 1)
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_attempt_is_read_as_it_ended_and_in_the_order_in_which_it_came(fates in fates()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let directory = tempfile::tempdir().expect("a directory");
        let config = config(directory.path());
        let (expected, read) = runtime.block_on(async {
            let records = Records::new(config.clone());
            let (expected, open) = play(&records, &config, &fates).await;
            records.close().await;
            let read = read(&config, &Filter::default()).await;
            drop(open);
            (expected, read)
        });
        let read: Vec<String> = read.iter().rev().map(|run| format!("{} {}", run.id, run.status)).collect();
        prop_assert_eq!(read, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_share_one_new_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = config(directory.path());
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
}

#[tokio::test]
async fn required_records_are_there_when_whoever_records_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = RecordsConfig {
        recording: Recording::On {
            arguments: store::KeptArguments::Shape,
            required: true,
        },
        ..config(directory.path())
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
}

#[tokio::test]
async fn a_run_is_recorded_with_the_limits_of_the_session_that_it_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = config(directory.path());
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
}

#[tokio::test]
async fn records_go_by_age() {
    let directory = tempfile::tempdir().expect("a directory");
    let kept = config(directory.path());
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
