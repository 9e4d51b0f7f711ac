//! Sinks: every record once and in order, for any writer and reader; records removed by retention are counted.

use std::collections::BTreeSet;
use std::time::Duration;

use store::audit::AuditActor;
use store::sinks::{Payloads, SentRecord, SinkHolder, SinkSelection, SinkSource};
use store::{Attempt, CallMade, Execution, ExecutionDetail, Records, RecordsConfig, Refused, Sinks};
use types::{Outcome, RunId, ServerId, SessionFate, Status};

use crate::attempts;
use crate::places::{Place, in_each};

const LEASE: Duration = Duration::from_secs(60);

const ALL: SinkSelection = SinkSelection {
    limit: 3,
    payloads: Payloads::Omitted,
};

fn config(place: &Place) -> RecordsConfig {
    RecordsConfig {
        database: place.database.clone(),
        ..RecordsConfig::below(std::path::Path::new("/"))
    }
}

fn holder(process: &str) -> SinkHolder {
    SinkHolder {
        sink: "siem".to_owned(),
        process: process.to_owned(),
    }
}

fn attempt(id: &str) -> Attempt {
    Attempt {
        server: Some(ServerId::new("lab")),
        ..attempts::attempt(id)
    }
}

/// A run with one call.
async fn run(records: &Records, id: &str) {
    let mut record = attempts::accept(records, attempt(id));
    record.begun();
    let made = CallMade {
        server: "crm".to_owned(),
        tool: "find".to_owned(),
        arguments: records.arguments(&serde_json::json!({"name": "needle"}), |_| true),
        duration: Duration::from_millis(1),
        outcome: "answered".to_owned(),
        result_bytes: None,
    };
    records.call(&RunId::new(id), made);
    let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
    record.ended(&outcome, None).await.expect("not required");
}

fn name(record: &SentRecord) -> String {
    match record {
        SentRecord::Run(sent) => format!("{} {}", sent.run.id, sent.run.status),
        SentRecord::Call(call) => format!("{} {}.{}", call.run, call.server, call.tool),
        SentRecord::Event(event) => format!("{} {}", event.run.as_deref().unwrap_or("-"), event.kind),
        SentRecord::Audit(row) => format!("audit {} {}", row.sequence, row.action),
    }
}

/// Sends the backlog; returns the names of the records and the number of removed records.
async fn drain(sinks: &Sinks, holder: &SinkHolder) -> (Vec<String>, u64) {
    let (mut names, mut removed) = (Vec::new(), 0);
    loop {
        let backlog = sinks.backlog(&holder.sink).await.expect("a backlog");
        let Some(next) = backlog.first() else {
            return (names, removed);
        };
        let page = sinks.page(*next, ALL).await.expect("a page");
        names.extend(page.records.iter().map(name));
        removed += page.removed;
        assert!(sinks.sent(holder, &page).await.expect("noted"));
    }
}

#[tokio::test]
async fn a_sink_receives_records_from_its_creation_on() {
    in_each(async |place| {
        let records = Records::new(config(place));
        run(&records, "r-0").await;
        records.settle().await;
        let (sinks, one) = (Sinks::new(place.database.clone()), holder("one"));
        assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
        assert_eq!(drain(&sinks, &one).await, (vec![], 0));
        run(&records, "r-1").await;
        records
            .refused(attempt("r-2"), Refused::RateLimit)
            .await
            .expect("recorded");
        records.settle().await;
        let expected = ["r-1 crm.find", "r-1 completed", "r-2 refused", "r-2 run_refused"];
        assert_eq!(
            drain(&sinks, &one).await,
            (expected.map(str::to_owned).to_vec(), 0)
        );
        assert_eq!(drain(&sinks, &one).await, (vec![], 0));
        // A change over the command line.
        let accounts = store::Accounts::new(place.database.clone());
        let user = types::Principal::new("local", "ann@example.com").expect("a user");
        let made = accounts
            .by(&AuditActor::command_line())
            .create_user(&user, identity::Role::Viewer)
            .await;
        made.expect("a user");
        assert_eq!(
            drain(&sinks, &one).await,
            (vec!["audit 1 user.create".to_owned()], 0)
        );
        records.close().await;
    })
    .await;
}

#[tokio::test]
async fn one_process_sends_and_another_continues() {
    in_each(async |place| {
        let records = Records::new(config(place));
        let sinks = Sinks::new(place.database.clone());
        let (one, other) = (holder("one"), holder("other"));
        assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
        assert!(!sinks.lease(&other, LEASE).await.expect("a look"));
        assert!(sinks.lease(&one, LEASE).await.expect("renewed"));
        run(&records, "r-1").await;
        records.settle().await;
        let backlog = sinks.backlog("siem").await.expect("a backlog");
        let page = sinks.page(backlog[0], ALL).await.expect("a page");
        assert_eq!((backlog.len(), backlog[0].len(), page.records.len()), (1, 2, 2));
        // The lease moves while the page is sent: the position stays, and the page is sent again.
        sinks.release(&one).await.expect("released");
        assert!(sinks.lease(&other, LEASE).await.expect("a lease"));
        assert!(!sinks.sent(&one, &page).await.expect("a look"));
        assert_eq!(drain(&sinks, &other).await.0.len(), 2);
        records.close().await;
    })
    .await;
}

#[tokio::test]
async fn records_of_several_writers_arrive_once_and_in_each_writer_s_order() {
    in_each(async |place| {
        let (sinks, one) = (Sinks::new(place.database.clone()), holder("one"));
        assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
        let writers = [Records::new(config(place)), Records::new(config(place))];
        let writing = async {
            for number in 0..40 {
                for (writer, records) in writers.iter().enumerate() {
                    run(records, &format!("r-{writer}-{number:02}")).await;
                }
            }
            for records in &writers {
                records.close().await;
            }
        };
        // Read between the commits of the writers.
        let reading = async {
            let mut names = Vec::new();
            while names.len() < 160 {
                let (more, removed) = drain(&sinks, &one).await;
                assert_eq!(removed, 0);
                names.extend(more);
                tokio::task::yield_now().await;
            }
            names
        };
        let both = async { tokio::join!(writing, reading) };
        let ((), names) = tokio::time::timeout(Duration::from_secs(60), both)
            .await
            .expect("all records");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 160, "{names:?}");
        for writer in ["r-0", "r-1"] {
            let ends: Vec<&String> = names
                .iter()
                .filter(|name| name.starts_with(writer) && name.ends_with("completed"))
                .collect();
            assert!(ends.is_sorted() && ends.len() == 40, "{ends:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn runs_of_a_dead_process_are_records() {
    in_each(async |place| {
        let (sinks, one) = (Sinks::new(place.database.clone()), holder("one"));
        assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
        let records = Records::new(config(place));
        let open = attempts::accept(&records, attempt("r-1"));
        records.settle().await;
        assert_eq!(drain(&sinks, &one).await, (vec![], 0));
        place.change("UPDATE processes SET lease_ms = 1").await;
        sinks.close_interrupted().await.expect("closed");
        sinks.close_interrupted().await.expect("nothing left");
        assert_eq!(drain(&sinks, &one).await, (vec!["r-1 interrupted".to_owned()], 0));
        drop(open);
        records.close().await;
    })
    .await;
}

#[tokio::test]
async fn records_removed_by_retention_are_counted() {
    in_each(async |place| {
        let (sinks, one) = (Sinks::new(place.database.clone()), holder("one"));
        assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
        let records = Records::new(config(place));
        for number in 0..4 {
            run(&records, &format!("r-{number}")).await;
        }
        records.close().await;
        for table in ["calls", "runs"] {
            place
                .change(&format!("DELETE FROM {table} WHERE number BETWEEN 3 AND 6"))
                .await;
        }
        let (names, removed) = drain(&sinks, &one).await;
        let expected = ["r-0 crm.find", "r-0 completed", "r-3 crm.find", "r-3 completed"];
        assert_eq!((names, removed), (expected.map(str::to_owned).to_vec(), 4));
        // The row of a process stays until every sink is past its records.
        for number in 4..6 {
            let records = Records::new(config(place));
            run(&records, &format!("r-{number}")).await;
            records.close().await;
        }
        place.change("DELETE FROM calls").await;
        place.change("DELETE FROM runs").await;
        place.change("UPDATE processes SET ended_ms = 1").await;
        let pruning = Records::new(RecordsConfig {
            keep_for: Duration::from_secs(3600),
            ..config(place)
        });
        run(&pruning, "r-6").await;
        pruning.close().await;
        assert_eq!(drain(&sinks, &one).await.1, 4);
    })
    .await;
}

#[tokio::test]
async fn arguments_and_tasks_are_read_only_on_request() {
    in_each(async |place| {
        let (sinks, one) = (Sinks::new(place.database.clone()), holder("one"));
        assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
        let records = Records::new(RecordsConfig {
            recording: store::Recording::On {
                arguments: store::ArgumentDetail::Full,
                required: false,
                replay: false,
            },
            ..config(place)
        });
        let token = format!("cyd_{}", "ab".repeat(32));
        run(&records, "r-1").await;
        records.described(&RunId::new("r-1"), &format!("find the needle with {token}"));
        records.close().await;
        let backlog = sinks.backlog("siem").await.expect("a backlog");
        let read = async |payloads| {
            let page = sinks
                .page(backlog[0], SinkSelection { payloads, limit: 10 })
                .await;
            format!("{:?}", page.expect("a page").records)
        };
        assert!(!read(Payloads::Omitted).await.contains("needle"));
        let shown = read(Payloads::Included).await;
        assert!(
            shown.contains("needle with cyd_\u{2026}") && shown.contains("{\\\"name\\\":"),
            "{shown}"
        );
        assert!(matches!(backlog[0].source, SinkSource::Process(_)));
    })
    .await;
}

/// The execution of the run `r-1`, as a sink reads it, and the tools that it called.
async fn execution(
    place: &Place,
    detail: ExecutionDetail,
    payloads: Payloads,
) -> (Option<Execution>, String) {
    let (sinks, one) = (Sinks::new(place.database.clone()), holder("one"));
    assert!(sinks.lease(&one, LEASE).await.expect("a lease"));
    let records = Records::new(RecordsConfig {
        execution: detail,
        ..config(place)
    });
    let attempt = Attempt {
        code: records.code("print('needle')"),
        ..attempt("r-1")
    };
    let mut record = attempts::accept(&records, attempt);
    record.begun();
    for (tool, outcome) in [("find", "answered"), ("find", "timeout"), ("drop", "denied")] {
        let made = CallMade {
            server: "crm".to_owned(),
            tool: tool.to_owned(),
            arguments: records.arguments(&serde_json::json!({}), |_| true),
            duration: Duration::from_millis(1),
            outcome: outcome.to_owned(),
            result_bytes: None,
        };
        records.call(&RunId::new("r-1"), made);
    }
    let error = types::GuestError {
        kind: "ValueError".to_owned(),
        message: "needle".to_owned(),
        exit: Some(3),
        ..types::GuestError::default()
    };
    let outcome = Outcome::bare(Status::Failed, SessionFate::Kept, Some(error));
    record.ended(&outcome, None).await.expect("not required");
    records.close().await;
    let backlog = sinks.backlog("siem").await.expect("a backlog");
    let selection = SinkSelection { payloads, limit: 10 };
    let page = sinks.page(backlog[0], selection).await.expect("a page");
    let run = page.records.into_iter().find_map(|record| match record {
        SentRecord::Run(run) => Some(run),
        _ => None,
    });
    let run = run.expect("a run");
    let called = run.called.iter();
    let called: Vec<String> = called
        .map(|called| format!("{}.{} {}", called.server, called.tool, called.calls))
        .collect();
    (run.execution, called.join(", "))
}

#[tokio::test]
async fn executions_have_texts_only_where_both_sides_ask() {
    for (detail, payloads, expected) in [
        (ExecutionDetail::Omitted, Payloads::Included, None),
        (ExecutionDetail::Facts, Payloads::Included, Some(false)),
        (ExecutionDetail::Texts, Payloads::Omitted, Some(false)),
        (ExecutionDetail::Texts, Payloads::Included, Some(true)),
    ] {
        in_each(async |place| {
            let (execution, called) = execution(place, detail, payloads).await;
            assert_eq!(execution.is_some(), expected.is_some(), "{detail:?}");
            let Some(found) = execution else {
                return assert_eq!(called, "");
            };
            assert_eq!((found.exit, called.as_str()), (Some(3), "crm.find 2"));
            let text = |text: &str| expected.filter(|has| *has).map(|_| text.to_owned());
            assert_eq!(
                (found.message, found.code),
                (text("needle"), text("print('needle')"))
            );
        })
        .await;
    }
}
