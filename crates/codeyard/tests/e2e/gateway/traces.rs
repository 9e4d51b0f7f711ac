//! Spans (S0-84): from the client's request to each call and on to upstream servers, without programs or arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use serde_json::{Value, json};
use test_support::{Codeyard, RemoteServer, Way};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use super::actors::ALICE;
use super::running::{Gateway, installation, until};
use super::sinks::metric;
use super::sinks::receivers::{fields, request};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00f067aa0ba902b7";

/// A program whose text, argument and output must not leave the machine.
const NEEDLE: &str = "print((await tools.far.echo({'message': 'needle'}))['text'])";

/// A span as it arrived.
#[derive(Debug, Clone)]
struct Arrived {
    name: String,
    trace: String,
    id: String,
    parent: String,
    kind: SpanKind,
    is_error: bool,
    fields: BTreeMap<String, String>,
}

/// A collector of traces.
struct Collector {
    url: String,
    spans: Arc<Mutex<Vec<Arrived>>>,
    status: Arc<AtomicU16>,
}

// === impl Collector ===

impl Collector {
    async fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let collector = Collector {
            url: format!("http://{}", listener.local_addr().unwrap()),
            spans: Arc::default(),
            status: Arc::new(AtomicU16::new(200)),
        };
        let (spans, status) = (Arc::clone(&collector.spans), Arc::clone(&collector.status));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                while let Some((head, body)) = request(&mut stream).await {
                    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
                    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
                    let status = status.load(Ordering::Relaxed);
                    if status == 200 {
                        spans.lock().unwrap().extend(arrived(&body));
                    }
                    let answer = format!("HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n");
                    if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
                        break;
                    }
                }
            }
        });
        collector
    }

    fn answer(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// The spans with this name.
    fn named(&self, name: &str) -> Vec<Arrived> {
        let spans = self.spans.lock().unwrap();
        spans.iter().filter(|span| span.name == name).cloned().collect()
    }

    async fn has_runs(&self, count: usize) -> Vec<Arrived> {
        until("the spans of the runs have arrived", async || {
            Some(self.named("code_execution.shell_exec")).filter(|spans| spans.len() >= count)
        })
        .await
    }
}

/// Reads a request with OpenTelemetry's own types.
fn arrived(body: &[u8]) -> Vec<Arrived> {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let [resource] = request.resource_spans.as_slice() else {
        panic!("{request:?}");
    };
    let of = fields(&resource.resource.as_ref().unwrap().attributes);
    assert_eq!(of["service.name"], "codeyard");
    let spans = resource.scope_spans.iter().flat_map(|scoped| &scoped.spans);
    spans
        .map(|span| {
            assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
            let status = span
                .status
                .as_ref()
                .map(opentelemetry_proto::tonic::trace::v1::Status::code);
            Arrived {
                name: span.name.clone(),
                trace: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                kind: span.kind(),
                is_error: status == Some(StatusCode::Error),
                fields: fields(&span.attributes),
            }
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn traced(codeyard: Codeyard, collector: &Collector, more: &str) -> Codeyard {
    codeyard.settings(&format!("[gateway.traces]\notlp = \"{}\"\n{more}", collector.url))
}

/// Runs a program in the trace of these headers; its answer.
async fn run(gateway: &Gateway, id: &str, code: &str, headers: &[(&str, &str)], meta: Value) -> Value {
    call(
        gateway,
        id,
        json!({"code": code, "language": "python"}),
        headers,
        meta,
    )
    .await
}

/// Calls `shell_exec` in the trace of these headers; its answer.
async fn call(gateway: &Gateway, id: &str, arguments: Value, headers: &[(&str, &str)], meta: Value) -> Value {
    let params = json!({"server_id": id, "name": "shell_exec", "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let answer = gateway.begin(&ALICE, "POST /rpc", headers, &body).await;
    answer.whole().await.json()
}

fn parent(flags: &str) -> String {
    format!("00-{TRACE}-{PARENT}-{flags}")
}

#[tokio::test]
async fn s0_84_c165_spans_lead_from_the_client_to_upstream_servers() {
    let (collector, far) = (
        Collector::start().await,
        RemoteServer::start(Way::Modern).await.unwrap(),
    );
    let codeyard = installation().server_json("far", json!({"url": far.url()}));
    let gateway = Gateway::start(traced(codeyard, &collector, "")).await;
    let id = gateway.cs_a(&json!({})).await;
    let headers = [
        ("traceparent", parent("01")),
        ("tracestate", "vendor=1".to_owned()),
    ];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let answer = run(&gateway, &id, NEEDLE, &headers, json!({})).await;
    assert!(answer.to_string().contains("needle"), "{answer}");
    let run = collector.has_runs(1).await.remove(0);
    assert_eq!(
        (run.trace.as_str(), run.parent.as_str(), run.kind, run.is_error),
        (TRACE, PARENT, SpanKind::Server, false)
    );
    let expected = [
        ("server.id", id.as_str()),
        ("user.email", ALICE.email),
        ("language", "python"),
        ("mcp.method.name", "tools/call"),
    ];
    for (name, value) in expected {
        assert_eq!(run.fields[name], value, "{run:?}");
    }
    assert_eq!(run.fields["code.hash"].len(), 64);
    let call = collector.named("code_execution.tool_call").remove(0);
    assert_eq!(
        (call.trace.as_str(), call.parent.as_str(), call.kind),
        (TRACE, run.id.as_str(), SpanKind::Client)
    );
    for (name, value) in [
        ("tool.server", "far"),
        ("tool.name", "echo"),
        ("gen_ai.tool.name", "echo"),
    ] {
        assert_eq!(call.fields[name], value, "{call:?}");
    }
    assert!(!call.fields["session.id"].is_empty());
    let seen = far.seen_of("tools/call").remove(0);
    let outgoing = format!("00-{TRACE}-{}-01", call.id);
    assert_eq!(seen.header("traceparent"), Some(outgoing.as_str()));
    assert_eq!(seen.header("tracestate"), Some("vendor=1"));
    assert_eq!(seen.message["params"]["_meta"]["traceparent"], outgoing.as_str());
    let text = format!("{:?}", collector.spans.lock().unwrap());
    for secret in ["needle", "cyd_", "await"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    until("the spans are counted", async || {
        (metric(&gateway, "codeyard_spans_sent_total").await? >= 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn s0_84_failures_are_errors_and_the_user_may_be_a_hash() {
    let collector = Collector::start().await;
    let gateway = Gateway::start(traced(installation(), &collector, "user = \"hash\"")).await;
    let deny = json!({"sandbox_policy": {"permissions": {"tools": {"deny": ["stub/add"]}}}});
    let id = gateway.cs_a(&deny).await;
    let meta = json!({"traceparent": parent("01")});
    run(&gateway, &id, "await tools.stub.add({'a': 1, 'b': 1})", &[], meta).await;
    run(&gateway, &id, "await tools.stub.secret_words({})", &[], json!({})).await;
    let runs = collector.has_runs(2).await;
    assert_eq!((runs[0].trace.as_str(), runs[0].parent.as_str()), (TRACE, PARENT));
    assert!(
        runs.iter()
            .all(|run| run.is_error && run.fields["error.type"] == "failed"),
        "{runs:?}"
    );
    assert!(
        runs.iter().all(|run| run.fields["user.hash"].len() == 64),
        "{runs:?}"
    );
    assert!(
        runs.iter().all(|run| !run.fields.contains_key("user.email")),
        "{runs:?}"
    );
    assert!(runs[1].trace != TRACE && runs[1].parent.is_empty(), "{runs:?}");
    let calls = collector.named("code_execution.tool_call");
    assert_eq!(calls[0].fields["error.type"], "denied");
    // Names that no definition has are words of the program.
    assert!(!format!("{calls:?}").contains("secret_words"), "{calls:?}");
}

#[tokio::test]
async fn s0_84_lines_of_the_constrained_commands_are_runs_in_the_clients_trace() {
    let collector = Collector::start().await;
    let gateway = Gateway::start(traced(installation(), &collector, "")).await;
    let id = gateway.cs_a(&json!({})).await;
    let meta = json!({"traceparent": parent("01")});
    call(&gateway, &id, json!({"code": "ls /tools"}), &[], meta).await;
    call(
        &gateway,
        &id,
        json!({"code": "cat /scratch/needle"}),
        &[],
        json!({}),
    )
    .await;
    let lines = collector.has_runs(2).await;
    let [listed, failed] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (listed.trace.as_str(), listed.parent.as_str(), listed.is_error),
        (TRACE, PARENT, false)
    );
    assert_eq!((failed.parent.as_str(), failed.is_error), ("", true));
    for line in &lines {
        assert_eq!(line.fields["server.id"], id, "{line:?}");
        assert_eq!(line.fields["code.hash"].len(), 64, "{line:?}");
        assert_eq!(line.fields["language"], "shell", "{line:?}");
        assert!(!line.fields["run.id"].is_empty(), "{line:?}");
    }
    assert!(!format!("{lines:?}").contains("needle"), "{lines:?}");
}

/// Each call of a run is its child, also of concurrent runs; each upstream request names its own call.
#[tokio::test]
async fn s0_84_each_call_has_its_own_run_as_parent() {
    let (collector, far) = (
        Collector::start().await,
        RemoteServer::start(Way::Modern).await.unwrap(),
    );
    let codeyard = installation().server_json("far", json!({"url": far.url()}));
    let gateway = Gateway::start(traced(codeyard, &collector, "")).await;
    let id = gateway.cs_a(&json!({})).await;
    let code = "import asyncio\nawait asyncio.gather(*(tools.far.echo({'message': 'x'}) for _ in range(3)))";
    let [first, second] = ["1", "2"].map(|digit| format!("00-{}-{PARENT}-01", digit.repeat(32)));
    let (first, second) = (
        [("traceparent", first.as_str())],
        [("traceparent", second.as_str())],
    );
    tokio::join!(
        run(&gateway, &id, code, &first, json!({})),
        run(&gateway, &id, code, &second, json!({})),
    );
    let runs = collector.has_runs(2).await;
    let calls = until("the calls have arrived", async || {
        Some(collector.named("code_execution.tool_call")).filter(|calls| calls.len() == 6)
    })
    .await;
    for run in &runs {
        assert_eq!(run.parent, PARENT, "{run:?}");
        let own: Vec<&Arrived> = calls.iter().filter(|call| call.parent == run.id).collect();
        assert_eq!(own.len(), 3, "{calls:?}");
        assert!(own.iter().all(|call| call.trace == run.trace), "{calls:?}");
    }
    assert_ne!(runs[0].trace, runs[1].trace);
    let seen = far.seen_of("tools/call");
    let seen: BTreeSet<&str> = seen
        .iter()
        .filter_map(|seen| seen.header("traceparent"))
        .collect();
    let own: Vec<String> = calls
        .iter()
        .map(|call| format!("00-{}-{}-01", call.trace, call.id))
        .collect();
    assert_eq!(seen, own.iter().map(String::as_str).collect());
}

#[tokio::test]
async fn s0_84_contexts_pass_through_where_nothing_is_recorded() {
    let collector = Collector::start().await;
    for (codeyard, flags) in [
        (traced(installation(), &collector, ""), "00"),
        (installation(), "01"),
    ] {
        let far = RemoteServer::start(Way::Modern).await.unwrap();
        let gateway = Gateway::start(codeyard.server_json("far", json!({"url": far.url()}))).await;
        let id = gateway.cs_a(&json!({})).await;
        let parent = parent(flags);
        run(&gateway, &id, NEEDLE, &[("traceparent", &parent)], json!({})).await;
        let seen = far.seen_of("tools/call").remove(0);
        let header = seen.header("traceparent").unwrap();
        assert!(
            header.starts_with(&format!("00-{TRACE}-")) && header.ends_with(flags),
            "{header}"
        );
        // Without a context of the client, none is made up.
        run(&gateway, &id, NEEDLE, &[("traceparent", "00-wrong")], json!({})).await;
    }
    assert!(collector.named("code_execution.shell_exec").len() <= 1);
}

#[tokio::test]
async fn s0_84_a_collector_that_fails_slows_no_run() {
    let collector = Collector::start().await;
    collector.answer(503);
    let gateway = Gateway::start(traced(installation(), &collector, "")).await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 1000}}))
        .await;
    gateway.check((&ALICE, &id), "print(0)", "0\n").await;
    until("the failure is told", async || {
        gateway.logged("spans get lost: the collector answers 503")
    })
    .await;
    let begun = Instant::now();
    for _ in 0..20 {
        gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    collector.answer(200);
    collector.has_runs(21).await;
    collector.answer(400);
    gateway.check((&ALICE, &id), "print(2)", "2\n").await;
    until("the refused span is counted", async || {
        (metric(&gateway, "codeyard_spans_lost_total").await? == 1).then_some(())
    })
    .await;
}
