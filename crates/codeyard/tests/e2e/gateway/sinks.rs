//! Sinks: receivers get each record once, in order and without payloads, despite failures of collector and gateway.

pub mod receivers;

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use test_support::{CertificateFiles, Codeyard, PostgresServer};

use self::receivers::{Answer, Collector, Log, Receiver, Sent};
use super::actors::{ADMIN, ALICE};
use super::running::{Gateway, installation, until};

/// A text in a program's source, argument and output that must not leave the machine.
const NEEDLE: &str = "print((await tools.stub.echo({'message': 'needle'}))['text'])";

pub fn sink(name: &str, target: &str, more: &str) -> String {
    format!("[[gateway.sinks]]\nname = \"{name}\"\n{target}\n{more}")
}

/// Programs that call a tool, that are refused a tool, and that fail.
async fn three_runs(gateway: &Gateway) -> String {
    let deny = json!({"sandbox_policy": {"permissions": {"tools": {"deny": ["stub/add"]}}}});
    let id = gateway.cs_a(&deny).await;
    gateway.check((&ALICE, &id), NEEDLE, "needle\n").await;
    gateway
        .sh(&ALICE, &id, "await tools.stub.add({'a': 1, 'b': 1})")
        .await;
    gateway.sh(&ALICE, &id, "raise ValueError('needle')").await;
    id
}

/// The ids of all runs of a server, oldest first.
async fn runs(gateway: &Gateway, id: &str) -> Vec<String> {
    let runs = gateway
        .get(&ALICE, &format!("/servers/{id}/code/runs?limit=500"))
        .await;
    let runs = runs.as_array().unwrap().iter().rev();
    runs.map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the log holds exactly the ends of the server's runs; checks that each came once, in order.
async fn has_runs(gateway: &Gateway, id: &str, log: &Log) {
    let expected = runs(gateway, id).await;
    until("the ends of all runs have arrived", async || {
        (log.of_kind("run").len() >= expected.len()).then_some(())
    })
    .await;
    let found: Vec<String> = log
        .of_kind("run")
        .iter()
        .map(|sent| sent.field("codeyard.run.id"))
        .collect();
    assert_eq!(found, expected);
}

/// Checks that all audit rows arrived once, in order, with the table's hashes.
async fn has_audit(gateway: &Gateway, log: &Log) {
    let rows = gateway.get(&ADMIN, "/audit?limit=500").await;
    let rows: Vec<&Value> = rows.as_array().unwrap().iter().rev().collect();
    let first: i64 = until("an audit row has arrived", async || {
        Some(
            log.of_kind("audit")
                .first()?
                .field("codeyard.audit.sequence")
                .parse()
                .unwrap(),
        )
    })
    .await;
    let expected: Vec<String> = rows
        .iter()
        .filter(|row| row["sequence"].as_i64().unwrap() >= first)
        .map(|row| row["hash"].as_str().unwrap().to_owned())
        .collect();
    until("all audit rows have arrived", async || {
        let found: Vec<String> = log
            .of_kind("audit")
            .iter()
            .map(|sent| sent.field("codeyard.audit.hash"))
            .collect();
        assert!(
            expected.starts_with(&found) || found.starts_with(&expected),
            "{found:?}"
        );
        (found.len() >= expected.len()).then_some(())
    })
    .await;
}

/// Checks that no id arrived twice.
fn once(log: &Log) {
    let ids: Vec<String> = log.all().iter().map(Sent::id).collect();
    let distinct: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
}

/// Checks that records hold no program text, output, token or secret.
async fn without_payloads(gateway: &Gateway, log: &Log) {
    let text = format!("{:?}", log.all());
    let token = gateway.token(&ALICE).await;
    for secret in ["needle", token.as_str(), "cyd_"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

pub async fn metric(gateway: &Gateway, line: &str) -> Option<u64> {
    let text = gateway.rest(&ADMIN, "GET /metrics", Value::Null).await;
    let found = text.text().lines().find_map(|found| found.strip_prefix(line))?;
    found.trim().parse().ok()
}

#[tokio::test]
async fn records_reach_every_kind_of_receiver_once_and_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let files = CertificateFiles::new().unwrap();
    let authority = directory.path().join("authority.pem");
    std::fs::write(&authority, &files.authority).unwrap();
    let (udp, tcp) = (Receiver::udp().await, Receiver::tcp("127.0.0.1:0").await);
    let tls = Receiver::tls(&files).await;
    let unix = Receiver::unix(&directory.path().join("log"));
    let collector = Collector::start().await;
    let codeyard = installation()
        .env("SSL_CERT_FILE", authority)
        .settings(&sink("udp", &format!("syslog = \"udp://{}\"", udp.address), ""))
        .settings(&sink("tcp", &format!("syslog = \"tcp://{}\"", tcp.address), ""))
        .settings(&sink(
            "tls",
            &format!("syslog = \"tls://localhost:{}\"", tls.port()),
            "",
        ))
        .settings(&sink("unix", &format!("syslog = \"unix:{}\"", unix.address), ""))
        .settings(&sink("otlp", &format!("otlp = \"{}\"", collector.url()), ""));
    let gateway = Gateway::start(codeyard).await;
    let said = gateway.logged("sink \"otlp\"").unwrap();
    assert!(
        said.contains("OTLP at http://127.0.0.1") && said.contains("without payloads"),
        "{said}"
    );
    let id = three_runs(&gateway).await;
    for log in [&udp.log, &tcp.log, &tls.log, &unix.log, &collector.log] {
        has_runs(&gateway, &id, log).await;
        has_audit(&gateway, log).await;
        let statuses: Vec<String> = log
            .of_kind("run")
            .iter()
            .map(|sent| sent.field("codeyard.run.status"))
            .collect();
        assert_eq!(statuses, ["completed", "failed", "failed"]);
        let outcomes: Vec<String> = log
            .of_kind("call")
            .iter()
            .map(|sent| sent.field("codeyard.call.outcome"))
            .collect();
        assert_eq!(outcomes, ["answered", "denied"]);
        for sent in log.of_kind("run") {
            assert_eq!(
                (sent.field("enduser.id"), sent.field("codeyard.server.id")),
                (ALICE.email.to_owned(), id.clone())
            );
            assert!(
                sent.severity == "info" && sent.text.starts_with("run "),
                "{sent:?}"
            );
        }
        let denied = log.of_kind("event");
        let denied = denied
            .iter()
            .find(|sent| sent.field("codeyard.event.kind") == "call_denied")
            .unwrap();
        assert_eq!(
            (denied.severity, denied.field("codeyard.event.detail")),
            ("warning", "stub.add".to_owned())
        );
        once(log);
        without_payloads(&gateway, log).await;
    }
    for name in ["udp", "tcp", "tls", "unix", "otlp"] {
        until("all is counted", async || {
            let sent = metric(
                &gateway,
                &format!("codeyard_sink_records_sent_total{{sink=\"{name}\"}}"),
            )
            .await;
            let waiting = metric(
                &gateway,
                &format!("codeyard_sink_records_waiting{{sink=\"{name}\"}}"),
            )
            .await;
            (sent? >= 6 && waiting? == 0).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn queued_records_reach_a_late_collector() {
    let place = Receiver::free_address().await;
    let target = format!("syslog = \"tcp://{place}\"");
    let gateway = Gateway::start(installation().settings(&sink("siem", &target, ""))).await;
    let id = three_runs(&gateway).await;
    until("the failure is told", async || {
        gateway.logged("records wait in the database")
    })
    .await;
    let waiting = "codeyard_sink_records_waiting{sink=\"siem\"}";
    until("the lag is counted", async || {
        metric(&gateway, waiting).await.filter(|waiting| *waiting >= 6)
    })
    .await;
    let receiver = Receiver::tcp(&place).await;
    has_runs(&gateway, &id, &receiver.log).await;
    until("the end of the failure is told", async || {
        gateway.logged("records are sent again")
    })
    .await;
    // The collector stops and restarts.
    receiver.stop().await;
    gateway.check((&ALICE, &id), "print(4)", "4\n").await;
    gateway.check((&ALICE, &id), "print(5)", "5\n").await;
    let later = Receiver::tcp(&place).await;
    let expected = runs(&gateway, &id).await;
    until("the rest has arrived", async || {
        (later.log.of_kind("run").len() >= 2).then_some(())
    })
    .await;
    let found: Vec<String> = later
        .log
        .of_kind("run")
        .iter()
        .map(|sent| sent.field("codeyard.run.id"))
        .collect();
    assert_eq!(found, expected[3..]);
    once(&later.log);
}

#[tokio::test]
async fn a_restarted_gateway_continues_after_the_last_record() {
    let collector = Collector::start().await;
    let target = format!("otlp = \"{}\"", collector.url());
    let mut gateway = Gateway::start(installation().settings(&sink("siem", &target, ""))).await;
    let id = three_runs(&gateway).await;
    has_runs(&gateway, &id, &collector.log).await;
    has_audit(&gateway, &collector.log).await;
    collector.answer(Answer::Status(503));
    gateway.check((&ALICE, &id), "print(4)", "4\n").await;
    // The list request waits until the run is in the database.
    runs(&gateway, &id).await;
    gateway.kill();
    let gateway = gateway.restart().await;
    gateway.check((&ALICE, &id), "print(5)", "5\n").await;
    collector.answer(Answer::Take);
    has_runs(&gateway, &id, &collector.log).await;
    once(&collector.log);
    // A gateway that ended in order continues likewise.
    let gateway = gateway.restart().await;
    gateway.check((&ALICE, &id), "print(6)", "6\n").await;
    has_runs(&gateway, &id, &collector.log).await;
    once(&collector.log);
}

#[tokio::test]
async fn a_collector_that_hangs_or_fails_slows_no_run() {
    let collector = Collector::start().await;
    collector.answer(Answer::Hang);
    let target = format!("otlp = \"{}\"", collector.url());
    let codeyard = installation()
        .settings(&sink("siem", &target, ""))
        .settings("[records]\nrecord = \"required\"");
    let gateway = Gateway::start(codeyard).await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 1000}}))
        .await;
    gateway.check((&ALICE, &id), "print(0)", "0\n").await;
    until("a request hangs", async || {
        (collector.requests() > 0).then_some(())
    })
    .await;
    for answer in [Answer::Hang, Answer::Status(503)] {
        collector.answer(answer);
        let begun = Instant::now();
        for _ in 0..20 {
            gateway.check((&ALICE, &id), "print(1)", "1\n").await;
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    }
    collector.answer(Answer::Take);
    has_runs(&gateway, &id, &collector.log).await;
    once(&collector.log);
}

#[tokio::test]
async fn a_refused_record_is_skipped_and_reported() {
    let collector = Collector::start().await;
    collector.answer(Answer::RefuseRunsOf("typescript"));
    let target = format!("otlp = \"{}\"", collector.url());
    let gateway =
        Gateway::start(installation().settings(&sink("siem", &target, "records = [\"runs\"]"))).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    let arguments = json!({"code": "console.log(2)", "language": "typescript"});
    gateway.call(&ALICE, &id, "shell_exec", arguments).await;
    gateway.check((&ALICE, &id), "print(3)", "3\n").await;
    until("the others have arrived", async || {
        (collector.log.of_kind("run").len() == 2).then_some(())
    })
    .await;
    until("the refusal is told", async || {
        gateway.logged("the collector refused 1 records")
    })
    .await;
    let refused = metric(&gateway, "codeyard_sink_records_refused_total{sink=\"siem\"}").await;
    assert_eq!(refused, Some(1));
    assert!(collector.log.all().iter().all(|sent| sent.kind == "run"));
    once(&collector.log);
}

#[tokio::test]
async fn payloads_are_sent_on_request_and_headers_from_a_private_file() {
    let collector = Collector::start().await;
    let codeyard = installation();
    let file = codeyard.directory().join("otlp-headers");
    std::fs::write(&file, "Authorization: Bearer s3cret\nX-Scope: lab\n").unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let more = format!("payloads = true\nheaders_file = \"{}\"", file.display());
    let target = format!("otlp = \"{}\"", collector.url());
    let codeyard = codeyard
        .settings(&sink("siem", &target, &more))
        .settings("[records]\nrecord = \"full\"");
    let gateway = Gateway::start(codeyard).await;
    let id = three_runs(&gateway).await;
    let told = until("the file is refused", async || gateway.logged("headers_file")).await;
    assert!(told.contains("chmod 600") && !told.contains("s3cret"), "{told}");
    assert_eq!(collector.requests(), 0);
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    has_runs(&gateway, &id, &collector.log).await;
    let headers = collector.headers();
    assert!(
        headers.contains("authorization: Bearer s3cret") && headers.contains("x-scope: lab"),
        "{headers}"
    );
    let call = collector.log.of_kind("call").swap_remove(0);
    assert_eq!(call.field("codeyard.call.arguments"), r#"{"message":"needle"}"#);
    let text = format!("{:?}", collector.log.all());
    assert!(!text.contains("cyd_") && !text.contains("s3cret"), "{text}");
}

/// Runs programs over two gateways on one database, and then sends the first a signal.
async fn on_both(signal: Signal) {
    let collector = Collector::start().await;
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let target = format!("otlp = \"{}\"", collector.url());
    let start = async || {
        let codeyard: Codeyard = installation().env("CODEYARD_DATABASE_URL", &url);
        Gateway::start(codeyard.settings(&sink("siem", &target, ""))).await
    };
    let (one, other) = (start().await, start().await);
    let id = one
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 1000}}))
        .await;
    for number in 0..5 {
        for gateway in [&one, &other] {
            gateway
                .check((&ALICE, &id), &format!("print({number})"), &format!("{number}\n"))
                .await;
        }
    }
    let all = async |gateway: &Gateway| -> BTreeSet<String> {
        // Each gateway writes its rows before it answers.
        runs(&one, &id).await;
        runs(gateway, &id).await.into_iter().collect()
    };
    let arrived = async |expected: &BTreeSet<String>| {
        until("each run has arrived", async || {
            let found = collector.log.of_kind("run");
            (found.len() >= expected.len()).then_some(())
        })
        .await;
        let found = collector.log.of_kind("run");
        let ids: BTreeSet<String> = found.iter().map(|sent| sent.field("codeyard.run.id")).collect();
        assert_eq!((&ids, found.len()), (expected, expected.len()));
    };
    arrived(&all(&other).await).await;
    // A process that is killed between sending a page and storing its position leaves the page to be sent again.
    until("the position of what has arrived is stored", async || {
        let name = "codeyard_sink_records_sent_total{sink=\"siem\"}";
        let stored = metric(&one, name).await? + metric(&other, name).await?;
        (stored == collector.log.all().len() as u64).then_some(())
    })
    .await;
    one.signal(signal);
    other.check((&ALICE, &id), "print('later')", "later\n").await;
    arrived(&runs(&other, &id).await.into_iter().collect()).await;
    once(&collector.log);
    if signal == Signal::STOP {
        one.signal(Signal::CONT);
    }
}

#[tokio::test]
async fn two_gateways_on_postgres_send_each_record_once() {
    on_both(Signal::KILL).await;
}

#[tokio::test]
async fn another_gateway_replaces_one_that_hangs() {
    on_both(Signal::STOP).await;
}
