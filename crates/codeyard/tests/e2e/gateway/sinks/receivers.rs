//! Receivers of syslog and an OTLP collector, which parse records by the standards.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use prost::Message as _;
use test_support::CertificateFiles;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram};
use tokio::task::JoinHandle;

/// A received record.
#[derive(Debug, Clone)]
pub struct Sent {
    /// `run`, `call`, `event` or `audit`.
    pub kind: String,
    pub severity: &'static str,
    pub text: String,
    fields: BTreeMap<String, String>,
}

/// All received records, in order.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Sent>>>);

/// Receives syslog until it is stopped.
pub struct Receiver {
    pub address: String,
    pub log: Log,
    task: JoinHandle<()>,
}

/// The collector's answer.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    Take,
    Status(u16),
    Hang,
    /// 400 to every request with a run in this language.
    RefuseRunsOf(&'static str),
}

/// Receives OTLP over HTTP.
pub struct Collector {
    address: String,
    pub log: Log,
    shared: Arc<Shared>,
}

struct Shared {
    answer: Mutex<Answer>,
    requests: AtomicUsize,
    headers: Mutex<String>,
}

// === impl Sent ===

impl Sent {
    /// Empty if the field is absent.
    pub fn field(&self, name: &str) -> String {
        self.fields.get(name).cloned().unwrap_or_default()
    }

    /// The record's identity.
    pub fn id(&self) -> String {
        format!(
            "{} {}{}",
            self.kind,
            self.field("codeyard.record.id"),
            self.field("codeyard.audit.sequence")
        )
    }

    /// Parses a message by RFC 5424.
    fn of_syslog(message: &str) -> Sent {
        let (priority, header, data) = parts(message);
        let header = header.strip_prefix("1 ").expect(message);
        let [time, host, app, process, kind] =
            header.split(' ').collect::<Vec<_>>().try_into().expect(message);
        assert!(
            time.ends_with('Z') && !host.is_empty() && app == "codeyard",
            "{message}"
        );
        assert!(process.parse::<u32>().is_ok(), "{message}");
        Sent::of_data(priority, kind, data)
    }

    /// Parses a message as daemons do on the local socket.
    fn of_local_syslog(message: &str) -> Sent {
        let (priority, header, data) = parts(message);
        let (process, kind) = header
            .strip_prefix("codeyard[")
            .and_then(|rest| rest.split_once("]: "))
            .expect(message);
        assert!(process.parse::<u32>().is_ok(), "{message}");
        let sent = Sent::of_data(priority, kind, data);
        assert!(sent.field("codeyard.time").ends_with('Z'), "{message}");
        sent
    }

    /// Parses structured data after its id, and the text.
    fn of_data(priority: u8, kind: &str, message: &str) -> Sent {
        assert_eq!(priority / 8, 16, "{message}");
        let mut fields = BTreeMap::new();
        let mut data = message.chars();
        loop {
            match data.next().expect(message) {
                ']' => break,
                ' ' => {}
                other => panic!("{other}: {message}"),
            }
            let name: String = data.by_ref().take_while(|character| *character != '=').collect();
            assert_eq!(data.next(), Some('"'), "{message}");
            let mut value = String::new();
            loop {
                match data.next().expect(message) {
                    '"' => break,
                    '\\' => value.extend(data.next()),
                    character => value.push(character),
                }
            }
            assert!(fields.insert(name, value).is_none(), "{message}");
        }
        Sent {
            kind: kind.to_owned(),
            severity: ["", "", "", "error", "warning", "notice", "info", ""][usize::from(priority % 8)],
            text: data.as_str().trim_start().to_owned(),
            fields,
        }
    }
}

// === impl Log ===

impl Log {
    pub fn all(&self) -> Vec<Sent> {
        self.0.lock().unwrap().clone()
    }

    pub fn of_kind(&self, kind: &str) -> Vec<Sent> {
        self.all().into_iter().filter(|sent| sent.kind == kind).collect()
    }

    fn push(&self, sent: Sent) {
        self.0.lock().unwrap().push(sent);
    }

    /// Reads length-prefixed messages until the sender closes.
    async fn read(self, stream: impl AsyncRead + Unpin) {
        let mut stream = BufReader::new(stream);
        loop {
            let mut length = Vec::new();
            if stream.read_until(b' ', &mut length).await.is_err() || length.is_empty() {
                return;
            }
            let length: usize = String::from_utf8(length).unwrap().trim_end().parse().unwrap();
            let mut message = vec![0; length];
            if stream.read_exact(&mut message).await.is_err() {
                return;
            }
            self.push(Sent::of_syslog(&String::from_utf8(message).unwrap()));
        }
    }
}

// === impl Receiver ===

impl Receiver {
    pub async fn udp() -> Receiver {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap().to_string();
        Receiver::of(address, async move |log: Log| {
            let mut datagram = vec![0; 65536];
            while let Ok(length) = socket.recv(&mut datagram).await {
                assert!(length <= 2048);
                log.push(Sent::of_syslog(std::str::from_utf8(&datagram[..length]).unwrap()));
            }
        })
    }

    pub fn unix(path: &Path) -> Receiver {
        let socket = UnixDatagram::bind(path).unwrap();
        Receiver::of(path.display().to_string(), async move |log: Log| {
            let mut datagram = vec![0; 65536];
            while let Ok(length) = socket.recv(&mut datagram).await {
                log.push(Sent::of_local_syslog(
                    std::str::from_utf8(&datagram[..length]).unwrap(),
                ));
            }
        })
    }

    /// An address without a listener.
    pub async fn free_address() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    }

    pub async fn tcp(address: &str) -> Receiver {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        Receiver::of(address, async move |log: Log| {
            while let Ok((stream, _)) = listener.accept().await {
                log.clone().read(stream).await;
            }
        })
    }

    pub async fn tls(files: &CertificateFiles) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let acceptor = files.acceptor().unwrap();
        Receiver::of(address, async move |log: Log| {
            while let Ok((stream, _)) = listener.accept().await {
                log.clone().read(acceptor.accept(stream).await.unwrap()).await;
            }
        })
    }

    fn of<F>(address: String, receive: impl FnOnce(Log) -> F) -> Receiver
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let log = Log::default();
        let task = tokio::spawn(receive(log.clone()));
        Receiver { address, log, task }
    }

    pub fn port(&self) -> &str {
        self.address.rsplit_once(':').unwrap().1
    }

    /// Closes the listener and its connection.
    pub async fn stop(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

// === impl Collector ===

impl Collector {
    pub async fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let collector = Collector {
            address: listener.local_addr().unwrap().to_string(),
            log: Log::default(),
            shared: Arc::new(Shared {
                answer: Mutex::new(Answer::Take),
                requests: AtomicUsize::new(0),
                headers: Mutex::default(),
            }),
        };
        let (log, shared) = (collector.log.clone(), collector.shared.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, log.clone(), shared.clone()));
            }
        });
        collector
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the answer from now on.
    pub fn answer(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }

    pub fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// The head of the last request.
    pub fn headers(&self) -> String {
        self.shared.headers.lock().unwrap().clone()
    }
}

/// The priority of a message, its header, and the text after the id of its structured data.
fn parts(message: &str) -> (u8, &str, &str) {
    let rest = message.strip_prefix('<').expect(message);
    let (priority, rest) = rest.split_once('>').expect(message);
    let (header, data) = rest.split_once(" [codeyard@32473").expect(message);
    (priority.parse().expect(message), header, data)
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, log: Log, shared: Arc<Shared>) {
    let mut stream = BufReader::new(stream);
    while let Some((head, body)) = request(&mut stream).await {
        assert!(head.starts_with("POST /v1/logs HTTP/1.1"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
        *shared.headers.lock().unwrap() = head;
        shared.requests.fetch_add(1, Ordering::Relaxed);
        let records = records(&body);
        let answer = *shared.answer.lock().unwrap();
        let status = match answer {
            Answer::Take => 200,
            Answer::Status(status) => status,
            Answer::Hang => std::future::pending().await,
            Answer::RefuseRunsOf(language) => {
                let is_refused = |sent: &Sent| sent.field("codeyard.run.language") == language;
                if records.iter().any(is_refused) { 400 } else { 200 }
            }
        };
        if status == 200 {
            records.into_iter().for_each(|sent| log.push(sent));
        }
        let answer = format!("HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n");
        if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The head and the body of the next request.
pub async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}

/// Reads a request with OpenTelemetry's own types.
fn records(body: &[u8]) -> Vec<Sent> {
    let request = ExportLogsServiceRequest::decode(body).unwrap();
    let [logs] = request.resource_logs.as_slice() else {
        panic!("{request:?}");
    };
    let resource = fields(&logs.resource.as_ref().unwrap().attributes);
    assert_eq!(resource["service.name"], "codeyard");
    assert!(!resource["service.version"].is_empty() && resource["service.instance.id"].len() == 32);
    let [scoped] = logs.scope_logs.as_slice() else {
        panic!("{request:?}");
    };
    let records = scoped.log_records.iter().map(|record| {
        let second = 1_000_000_000;
        assert!(
            record.observed_time_unix_nano.abs_diff(record.time_unix_nano) < 120 * second,
            "{record:?}"
        );
        let severity = match (record.severity_number, record.severity_text.as_str()) {
            (9, "INFO") => "info",
            (10, "INFO2") => "notice",
            (13, "WARN") => "warning",
            (17, "ERROR") => "error",
            other => panic!("{other:?}"),
        };
        Sent {
            kind: record.event_name.strip_prefix("codeyard.").unwrap().to_owned(),
            severity,
            text: text(record.body.as_ref()),
            fields: fields(&record.attributes),
        }
    });
    records.collect()
}

pub fn fields(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let read = attributes
        .iter()
        .map(|attribute| (attribute.key.clone(), text(attribute.value.as_ref())));
    read.collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    }
}
