//! The dashboard and the alert rules: they name only what `/metrics` has, and a real Prometheus evaluates every query.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use test_support::Codeyard;

use super::actors::{ADMIN, ALICE};
use super::running::{Gateway, installation, until};
use super::sinks::receivers::Receiver;
use super::sinks::sink;
use crate::http::served;

const DASHBOARD: &str = include_str!("../../../../../examples/telemetry/grafana-dashboard.json");
const RULES: &str = include_str!("../../../../../examples/telemetry/prometheus-alerts.yml");

/// Where Debian's package `prometheus` has its programs; `CODEYARD_PROMETHEUS` names another directory.
const PROGRAMS: &str = "/usr/bin";

/// A Prometheus that ends with this value.
struct Prometheus {
    address: String,
    child: Child,
    _directory: tempfile::TempDir,
}

// === impl Prometheus ===

impl Prometheus {
    /// Scrapes the gateway every second, with the rules.
    async fn start(programs: &Path, gateway: &Gateway) -> Prometheus {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("token", &gateway.token(&ADMIN).await);
        write("rules.yml", RULES);
        let address = Receiver::free_address().await;
        let config = json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{
                "job_name": "codeyard",
                "authorization": {"credentials_file": "token"},
                "static_configs": [{"targets": [gateway.address]}],
            }, {
                // Its own metrics say how the rules do.
                "job_name": "prometheus",
                "static_configs": [{"targets": [address]}],
            }],
        });
        // JSON is YAML.
        write("prometheus.yml", &config.to_string());
        #[expect(
            clippy::disallowed_methods,
            reason = "the test owns the process and kills it on drop"
        )]
        let mut command = Command::new(programs.join("prometheus"));
        command
            .current_dir(directory.path())
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Prometheus {
            address,
            child: command.spawn().unwrap(),
            _directory: directory,
        }
    }

    /// The answer to a query, unless the server is not up yet.
    async fn query(&self, query: &str) -> Option<Value> {
        tokio::net::TcpStream::connect(&self.address).await.ok()?;
        let form: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("query", query)
            .finish();
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let answer = served::send(
            &self.address,
            ("POST", "/api/v1/query"),
            &headers,
            form.as_bytes(),
        );
        let answer = answer.await.whole().await;
        (answer.status != 503).then(|| answer.json())
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A gateway with something to show in every panel.
async fn busy() -> Gateway {
    let codeyard: Codeyard = installation();
    let target = format!("file = \"{}/log\"", codeyard.directory().display());
    let gateway = Gateway::start(codeyard.settings(&sink("executions", &target, ""))).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    gateway
        .check_error((&ALICE, &id), "raise ValueError", "ValueError")
        .await;
    gateway
}

/// All queries of the dashboard, as Grafana sends them.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    targets
        .map(|target| target["expr"].as_str().unwrap())
        .map(|query| query.replace("$__rate_interval", "1m").replace("$instance", ".+"))
        .collect()
}

/// The metrics that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.split(|character| !is_part(character))
        .filter(|word| word.starts_with("codeyard_") || word.starts_with("mcp_"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn s3_37_dashboard_and_alerts_name_what_metrics_have() {
    let gateway = busy().await;
    let metrics = gateway.rest(&ADMIN, "GET /metrics", Value::Null).await;
    let lines = metrics.text().lines().filter(|line| !line.starts_with('#'));
    let exposed: BTreeSet<&str> = lines.map(|line| line.split(['{', ' ']).next().unwrap()).collect();
    let mut wanted = named(RULES);
    wanted.extend(queries().iter().flat_map(|query| named(query)));
    assert!(wanted.len() >= 15, "{wanted:?}");
    let missing: Vec<&String> = wanted
        .iter()
        .filter(|name| !exposed.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?} are not in\n{}", metrics.text());
}

#[tokio::test]
async fn s3_37_a_real_prometheus_evaluates_rules_and_every_query() {
    #[expect(
        clippy::disallowed_methods,
        reason = "variables of tests are read where they are needed"
    )]
    let programs = std::env::var_os("CODEYARD_PROMETHEUS").map_or_else(|| PROGRAMS.into(), PathBuf::from);
    if !programs.join("prometheus").exists() {
        println!("skipped: no prometheus on this machine");
        return;
    }
    let gateway = busy().await;
    let prometheus = Prometheus::start(&programs, &gateway).await;
    for query in queries() {
        until(&query, async || {
            let answer = prometheus.query(&query).await?;
            assert_eq!(answer["status"], "success", "{query}: {answer}");
            let result = answer["data"]["result"].as_array().unwrap();
            (!result.is_empty()).then_some(())
        })
        .await;
    }
    for (query, expected) in [
        (
            "sum(prometheus_rule_group_rules)",
            RULES.matches("- alert:").count(),
        ),
        ("sum(prometheus_rule_evaluation_failures_total)", 0),
        ("count(ALERTS) or vector(0)", 0),
    ] {
        let value = until(query, async || {
            let answer = prometheus.query(query).await?;
            let value = answer["data"]["result"][0]["value"][1].as_str()?.to_owned();
            Some(value)
        })
        .await;
        assert_eq!(value, expected.to_string(), "{query}");
    }
}
