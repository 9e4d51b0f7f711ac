//! Runs and security events of virtual servers in the gateway's lists.

use std::time::Duration;

use store::server_records::{
    CallTotals, RunCursor, RunFilter, RunRow, RunUsers, SecurityCursor, SecurityFilter, SecurityKind,
    SecurityRow,
};
use store::{Attempt, CallMade, Code, ExecutionDetail, Records, RecordsConfig, Refused, ServerRecords};
use types::{Outcome, Principal, RunId, ServerId, SessionFate, Status, TenantId, ToolRef};

use crate::attempts;
use crate::places::{Place, in_each};

fn acme() -> TenantId {
    TenantId::new("acme")
}

fn server() -> ServerId {
    ServerId::new("srv")
}

fn user(name: &str) -> Principal {
    Principal::new("acme", name).expect("a principal")
}

fn attempt(id: &str, user: Principal, server: &str) -> Attempt {
    Attempt {
        principal: user,
        server: Some(ServerId::new(server)),
        code: Some(Code::of("1", ExecutionDetail::Omitted)),
        ..attempts::attempt(id)
    }
}

/// Records a run that made calls of `crm.find` with these outcomes; the n-th took n milliseconds.
async fn run(records: &Records, attempt: Attempt, status: Status, outcomes: &[&str]) {
    let run = attempt.run.clone();
    let mut record = attempts::accept(records, attempt);
    record.begun();
    for (number, outcome) in (1..).zip(outcomes) {
        let made = CallMade {
            server: "crm".to_owned(),
            tool: "find".to_owned(),
            arguments: records.arguments(&serde_json::Value::Null, |_| true),
            duration: Duration::from_millis(number),
            outcome: (*outcome).to_owned(),
            result_bytes: None,
        };
        records.call(&run, made);
    }
    let outcome = Outcome::bare(status, SessionFate::Kept, None);
    record.ended(&outcome, None).await.expect("not required");
}

/// Runs of two users on `srv`, one on another server, one without a server, and runs of other tenants on `srv`.
async fn fill(place: &Place) {
    let records = Records::new(RecordsConfig {
        database: place.database.clone(),
        ..RecordsConfig::below(std::path::Path::new("/"))
    });
    let (ann, bob) = (user("ann"), user("bob"));
    let calls = ["answered", "in_sandbox", "tool_error", "denied", "cancelled"];
    run(
        &records,
        attempt("r-1", ann.clone(), "srv"),
        Status::Completed,
        &calls,
    )
    .await;
    let typescript = Attempt {
        language: Some("typescript"),
        ..attempt("r-2", bob.clone(), "srv")
    };
    run(&records, typescript, Status::Failed, &[]).await;
    records.file_denied(
        Some(&RunId::new("r-2")),
        "EACCES: total disk usage limit exceeded",
    );
    records.file_denied(None, "a request of its own");
    let refused = attempt("r-3", ann.clone(), "srv");
    records
        .refused(refused, Refused::QueueFull)
        .await
        .expect("not required");
    run(
        &records,
        attempt("r-4", ann.clone(), "other"),
        Status::Completed,
        &["denied"],
    )
    .await;
    let without = Attempt {
        server: None,
        ..attempt("r-5", ann, "srv")
    };
    run(&records, without, Status::Completed, &["denied"]).await;
    for (id, tenant, name) in [
        ("r-6", "acme.x", "ann"),
        ("r-7", "local", "ann"),
        ("r-8", "local", "a/b"),
    ] {
        let foreign = Principal::new(tenant, name).expect("a principal");
        run(
            &records,
            attempt(id, foreign, "srv"),
            Status::Completed,
            &["denied"],
        )
        .await;
    }
    records.close().await;
}

fn ids(runs: &[RunRow]) -> Vec<&str> {
    runs.iter().map(|row| row.run.id.as_str()).collect()
}

fn all() -> RunFilter {
    RunFilter {
        limit: 100,
        ..RunFilter::default()
    }
}

#[tokio::test]
async fn reading_creates_no_database() {
    let place = Place::file();
    let records = ServerRecords::new(place.database.clone());
    assert_eq!(
        records.runs_of_server(&acme(), &server(), &all()).await,
        Ok(Vec::new())
    );
    let filter = SecurityFilter::default();
    let events = records
        .security_events_of_server(&acme(), &server(), &filter)
        .await;
    assert_eq!(events, Ok(Vec::new()));
    assert!(!place.database.file().expect("a file").exists());
}

#[tokio::test]
async fn s0_76_a_run_is_listed_with_calls_and_events() {
    in_each(async |place| {
        fill(place).await;
        let records = ServerRecords::new(place.database.clone());
        let runs = records
            .runs_of_server(&acme(), &server(), &all())
            .await
            .expect("runs");
        assert_eq!(ids(&runs), ["r-3", "r-2", "r-1"]);
        let [refused, denied, called] = &runs[..] else {
            panic!("{runs:?}")
        };
        assert_eq!(called.run.virtual_server.as_deref(), Some("srv"));
        assert_eq!(called.run.principal, "acme/ann");
        assert_eq!(called.run.session.as_deref(), Some("default"));
        assert_eq!(called.run.code_hash.as_deref().map(str::len), Some(64));
        let outcomes: Vec<(&str, bool)> = called
            .calls
            .iter()
            .map(|call| (call.outcome.as_str(), call.is_success()))
            .collect();
        let mut sorted = outcomes.clone();
        sorted.sort_unstable();
        let expected = [
            ("answered", true),
            ("cancelled", false),
            ("denied", false),
            ("in_sandbox", true),
            ("tool_error", false),
        ];
        assert_eq!(sorted, expected);
        let totals = CallTotals {
            calls: 5,
            failed: 3,
            p50_us: 3000,
            p95_us: 5000,
            p99_us: 5000,
        };
        assert_eq!(called.totals, totals);
        let kinds =
            |row: &RunRow| -> Vec<String> { row.events.iter().map(|event| event.kind.clone()).collect() };
        assert_eq!(kinds(called), ["call_denied"]);
        assert_eq!(kinds(denied), ["file_denied"]);
        assert_eq!(kinds(refused), ["run_refused"]);
        assert_eq!(
            (refused.run.status.as_str(), refused.totals),
            ("refused", CallTotals::default())
        );
    })
    .await;
}

#[tokio::test]
async fn runs_are_selected_by_user_status_language_tool_and_time() {
    in_each(async |place| {
        fill(place).await;
        let records = ServerRecords::new(place.database.clone());
        let check = async |filter: RunFilter, expected: &[&str]| {
            let runs = records
                .runs_of_server(&acme(), &server(), &filter)
                .await
                .expect("runs");
            assert_eq!(ids(&runs), expected, "{filter:?}");
        };
        let only = |names: &[&str]| RunFilter {
            users: RunUsers::Only(names.iter().map(|name| user(name)).collect()),
            ..all()
        };
        check(only(&["bob"]), &["r-2"]).await;
        check(only(&["bob", "ann"]), &["r-3", "r-2", "r-1"]).await;
        check(only(&[]), &[]).await;
        let foreign = RunFilter {
            users: RunUsers::Only(vec![Principal::new("acme.x", "ann").expect("a principal")]),
            ..all()
        };
        check(foreign, &[]).await;
        let statuses = |statuses: &[&str]| RunFilter {
            statuses: statuses.iter().map(|status| (*status).to_owned()).collect(),
            ..all()
        };
        check(statuses(&["failed"]), &["r-2"]).await;
        check(statuses(&["refused", "completed"]), &["r-3", "r-1"]).await;
        check(statuses(&["running", "interrupted"]), &[]).await;
        let language = RunFilter {
            language: Some("typescript".to_owned()),
            ..all()
        };
        check(language, &["r-2"]).await;
        for (tool, expected) in [("find", &["r-1"][..]), ("other", &[])] {
            let tool = RunFilter {
                tool: Some(ToolRef::new("crm", tool)),
                ..all()
            };
            check(tool, expected).await;
        }
        let runs = records
            .runs_of_server(&acme(), &server(), &all())
            .await
            .expect("runs");
        let (first, last) = (runs[2].run.asked_ms, runs[0].run.asked_ms);
        let between = |from_ms, until_ms| RunFilter {
            from_ms: Some(from_ms),
            until_ms: Some(until_ms),
            ..all()
        };
        check(between(first, last + 1), &["r-3", "r-2", "r-1"]).await;
        check(between(last + 1, last + 2), &[]).await;
        check(between(first - 1, first), &[]).await;
        // Only the tenant's own runs, even if another tenant used the id before.
        for (tenant, expected) in [("acme.x", &["r-6"][..]), ("local", &["r-8", "r-7"]), ("acm", &[])] {
            let runs = records
                .runs_of_server(&TenantId::new(tenant), &server(), &all())
                .await;
            assert_eq!(ids(&runs.expect("runs")), expected, "{tenant}");
        }
    })
    .await;
}

#[tokio::test]
async fn pages_of_runs_follow_each_other() {
    in_each(async |place| {
        fill(place).await;
        // Most runs have the same time.
        place
            .change("UPDATE runs SET asked_ms = asked_ms - asked_ms % 10000")
            .await;
        let records = ServerRecords::new(place.database.clone());
        for limit in [1, 2, 3, 100] {
            let mut filter = RunFilter { limit, ..all() };
            let mut seen = Vec::new();
            loop {
                let page = records
                    .runs_of_server(&acme(), &server(), &filter)
                    .await
                    .expect("runs");
                let Some(last) = page.last() else { break };
                assert!(page.len() <= limit as usize);
                filter.before = Some(RunCursor::after(last));
                seen.extend(page.iter().map(|row| row.run.id.clone()));
            }
            assert_eq!(seen, ["r-3", "r-2", "r-1"], "{limit}");
        }
    })
    .await;
}

fn shown(events: &[SecurityRow]) -> Vec<String> {
    let show = |event: &SecurityRow| {
        let tool = event.tool.as_ref().map_or("-".to_owned(), ToString::to_string);
        format!("{:?} {} {tool} {}", event.kind, event.run, event.detail)
    };
    let mut shown: Vec<String> = events.iter().map(show).collect();
    shown.sort();
    shown
}

#[tokio::test]
async fn s0_78_refusals_and_failures_are_security_events() {
    in_each(async |place| {
        fill(place).await;
        let records = ServerRecords::new(place.database.clone());
        let select = async |filter: &SecurityFilter| {
            let events = records
                .security_events_of_server(&acme(), &server(), filter)
                .await;
            events.expect("events")
        };
        let all = || SecurityFilter {
            limit: 100,
            ..SecurityFilter::default()
        };
        let [denied, failed, file, run] = [
            "CallDenied r-1 crm.find denied",
            "CallFailed r-1 crm.find tool_error",
            "FileDenied r-2 - EACCES: total disk usage limit exceeded",
            "RunRefused r-3 - queue_full",
        ];
        let check = async |filter: SecurityFilter, expected: &[&str]| {
            assert_eq!(shown(&select(&filter).await), expected, "{filter:?}");
        };
        check(all(), &[denied, failed, file, run]).await;
        let kinds = |kinds: &[SecurityKind]| SecurityFilter {
            kinds: kinds.to_vec(),
            ..all()
        };
        check(kinds(&[SecurityKind::CallDenied]), &[denied]).await;
        check(
            kinds(&[SecurityKind::CallFailed, SecurityKind::RunRefused]),
            &[failed, run],
        )
        .await;
        check(kinds(&[SecurityKind::FileDenied]), &[file]).await;
        let of_bob = SecurityFilter {
            users: RunUsers::Only(vec![user("bob")]),
            ..all()
        };
        check(of_bob, &[file]).await;
        let of_tool = SecurityFilter {
            tool: Some(ToolRef::new("crm", "find")),
            ..all()
        };
        check(of_tool, &[denied, failed]).await;
        let events = select(&all()).await;
        assert!(events.is_sorted_by(|one, other| one.at_ms >= other.at_ms));
        let refused = events.iter().find(|event| event.kind == SecurityKind::RunRefused);
        let refused = refused.expect("a refused run");
        assert_eq!(
            (refused.run_status.as_str(), refused.principal.as_str()),
            ("refused", "acme/ann")
        );
        let until = SecurityFilter {
            until_ms: Some(events[3].at_ms),
            ..all()
        };
        check(until, &[]).await;
        let from = SecurityFilter {
            from_ms: Some(events[0].at_ms + 1),
            ..all()
        };
        check(from, &[]).await;
    })
    .await;
}

#[tokio::test]
async fn pages_of_security_events_follow_each_other() {
    in_each(async |place| {
        fill(place).await;
        // Events of both tables at the same time.
        place
            .change("UPDATE events SET at_ms = at_ms - at_ms % 10000")
            .await;
        place
            .change("UPDATE calls SET begun_ms = begun_ms - begun_ms % 10000")
            .await;
        let records = ServerRecords::new(place.database.clone());
        for limit in [1, 2, 3, 100] {
            let mut filter = SecurityFilter {
                limit,
                ..SecurityFilter::default()
            };
            let mut seen = Vec::new();
            loop {
                let page = records
                    .security_events_of_server(&acme(), &server(), &filter)
                    .await;
                let page = page.expect("events");
                let Some(last) = page.last() else { break };
                assert!(page.len() <= limit as usize);
                filter.before = Some(SecurityCursor::after(last));
                seen.extend(page);
            }
            assert_eq!(shown(&seen).len(), 4, "{limit}: {seen:?}");
            seen.dedup_by(|one, other| one.id == other.id);
            assert_eq!(seen.len(), 4, "{limit}: {seen:?}");
        }
    })
    .await;
}

#[test]
fn reads_may_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let records = ServerRecords::new(Place::file().database);
    let (tenant, server, filter, events) = (acme(), server(), all(), SecurityFilter::default());
    check(records.runs_of_server(&tenant, &server, &filter));
    check(records.security_events_of_server(&tenant, &server, &events));
}
