//! Metrics of CloudWatch (S3-36): signed requests with the durations of runs, and no dimension unless asked.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use test_support::Codeyard;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use super::actors::ALICE;
use super::running::{Gateway, installation, until};
use super::sinks::receivers::request;
use super::sinks::sink;

/// A request as the endpoint got it.
#[derive(Debug, Clone)]
struct Put {
    head: String,
    form: BTreeMap<String, String>,
}

/// An endpoint with CloudWatch's interface.
struct Endpoint {
    url: String,
    puts: Arc<Mutex<Vec<Put>>>,
    status: Arc<AtomicU16>,
}

// === impl Endpoint ===

impl Endpoint {
    async fn start() -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint {
            url: format!("http://{}", listener.local_addr().unwrap()),
            puts: Arc::default(),
            status: Arc::new(AtomicU16::new(200)),
        };
        let (puts, status) = (Arc::clone(&endpoint.puts), Arc::clone(&endpoint.status));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                while let Some((head, body)) = request(&mut stream).await {
                    let form = url::form_urlencoded::parse(&body).into_owned().collect();
                    let status = status.load(Ordering::Relaxed);
                    if status == 200 {
                        puts.lock().unwrap().push(Put { head, form });
                    }
                    let answer = format!("HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n");
                    if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
                        break;
                    }
                }
            }
        });
        endpoint
    }

    fn puts(&self) -> Vec<Put> {
        self.puts.lock().unwrap().clone()
    }

    fn answer(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// The values of a member of all data so far.
    fn values(&self, member: &str) -> Vec<String> {
        let puts = self.puts();
        let pairs = puts.iter().flat_map(|put| &put.form);
        pairs
            .filter(|(name, _)| name.starts_with("MetricData.member.") && name.ends_with(member))
            .map(|(_, value)| value.clone())
            .collect()
    }

    async fn has_data(&self, count: usize) {
        until("the data have arrived", async || {
            (self.values(".Value").len() >= count).then_some(())
        })
        .await;
    }
}

fn with_key(codeyard: Codeyard) -> Codeyard {
    codeyard
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", "s3cret")
        .env("AWS_SESSION_TOKEN", "t0ken")
}

#[tokio::test]
async fn c276_durations_of_runs_are_put_without_dimensions() {
    let endpoint = Endpoint::start().await;
    let target = format!("cloudwatch = \"{}\"\nregion = \"eu-central-1\"", endpoint.url);
    let gateway = Gateway::start(with_key(installation()).settings(&sink("aws", &target, ""))).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    gateway
        .check_error((&ALICE, &id), "raise ValueError", "ValueError")
        .await;
    endpoint.has_data(2).await;
    for put in endpoint.puts() {
        let get = |name: &str| put.form.get(name).map(String::as_str);
        assert_eq!(
            (get("Action"), get("Version"), get("Namespace")),
            (Some("PutMetricData"), Some("2010-08-01"), Some("MCP/Executions"))
        );
        assert_eq!(get("MetricData.member.1.MetricName"), Some("ExecutionTime"));
        assert_eq!(get("MetricData.member.1.Unit"), Some("Milliseconds"));
        let value: f64 = get("MetricData.member.1.Value").unwrap().parse().unwrap();
        assert!(value > 0.0 && value < 60_000.0, "{value}");
        assert!(get("MetricData.member.1.Timestamp").unwrap().ends_with('Z'));
        assert!(
            put.form.keys().all(|name| !name.contains("Dimensions")),
            "{put:?}"
        );
        let signed = "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/";
        let scope = "/eu-central-1/monitoring/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
        assert!(
            put.head.contains(signed) && put.head.contains(scope),
            "{}",
            put.head
        );
        assert!(put.head.contains("x-amz-security-token: t0ken"), "{}", put.head);
        assert!(!format!("{put:?}").contains("s3cret"));
    }
    assert_eq!(endpoint.values(".Value").len(), 2);
}

#[tokio::test]
async fn c276_data_wait_for_an_endpoint_and_have_chosen_dimensions() {
    let endpoint = Endpoint::start().await;
    endpoint.answer(503);
    let codeyard = installation();
    let file = codeyard.directory().join("aws-credentials");
    fs::write(
        &file,
        "[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = s3cret\n",
    )
    .unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let target = format!(
        "cloudwatch = \"{}\"\nnamespace = \"Lab\"\ndimensions = [\"Status\", \"ServerId\"]\ncredentials_file = \"{}\"",
        endpoint.url,
        file.display()
    );
    let gateway = Gateway::start(installation_of(codeyard, &target)).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    let told = until("the failure is told", async || gateway.logged("503")).await;
    assert!(!told.contains("s3cret"), "{told}");
    gateway.check((&ALICE, &id), "print(2)", "2\n").await;
    endpoint.answer(200);
    endpoint.has_data(2).await;
    assert_eq!(
        endpoint.values("Dimensions.member.1.Value"),
        ["completed", "completed"]
    );
    assert_eq!(
        endpoint.values("Dimensions.member.2.Value"),
        [id.as_str(), id.as_str()]
    );
    let put = endpoint.puts().remove(0);
    assert_eq!(put.form["Namespace"], "Lab");
    assert!(put.head.contains("Credential=AKIDFILE/"), "{}", put.head);
}

fn installation_of(codeyard: Codeyard, target: &str) -> Codeyard {
    codeyard.settings(&sink("aws", target, ""))
}

#[tokio::test]
async fn c276_without_credentials_the_gateway_says_what_is_missing() {
    let codeyard = installation_of(installation(), "cloudwatch = \"eu-central-1\"");
    let ended = test_support::run(&codeyard, &["serve", "--listen", "127.0.0.1:0"], "").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended
            .err
            .contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        "{ended:?}"
    );
}
