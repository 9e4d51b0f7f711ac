//! Configuration of a sink, and the addresses of its target.

mod cloudwatch;

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use url::{Host, Url};

pub use cloudwatch::{AwsCredentials, AwsCredentialsSource, CloudWatchTarget, MetricDimension};

/// Path of logs below the address of a collector, as OpenTelemetry's exporters add it.
pub const LOGS: &str = "/v1/logs";

/// Path of traces there.
pub const TRACES: &str = "/v1/traces";

/// Default ports of syslog over UDP, TCP and TLS.
const PORTS: [(&str, u16); 3] = [("udp", 514), ("tcp", 601), ("tls", 6514)];

/// One sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkConfig {
    /// The database stores the sink's positions under this name.
    pub name: String,
    /// The receiver of records.
    pub target: SinkTarget,
    /// Kinds of records to send, each once.
    pub records: Vec<RecordKind>,
    /// Send recorded arguments of calls and words of tasks.
    pub payloads: bool,
}

/// A kind of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// Ends of runs.
    Runs,
    /// Calls of tools.
    Calls,
    /// Refusals, limits, losses.
    Events,
    /// Administrative changes.
    Audit,
}

/// The receiver of a sink's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinkTarget {
    /// RFC 5424.
    Syslog(SyslogTarget),
    /// OTLP over HTTP.
    Otlp(OtlpTarget),
    /// A line of JSON for each record.
    File(FileTarget),
    /// Durations of runs as metrics.
    CloudWatch(Box<CloudWatchTarget>),
}

/// A file of this machine, with its older files beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTarget {
    /// The newest file; older ones end in `.1`, `.2` and so on.
    pub path: PathBuf,
    /// Most bytes of a file; a line that is longer has a file of its own.
    pub max_size: u64,
    /// Most files, the newest included.
    pub max_files: u32,
}

/// A receiver of syslog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyslogTarget {
    /// One message per datagram.
    Udp(NetworkAddress),
    /// Messages with length prefixes (RFC 6587).
    Tcp(NetworkAddress),
    /// Messages over TLS (RFC 5425).
    Tls(NetworkAddress),
    /// The socket of the local daemon.
    Unix(PathBuf),
}

/// Host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkAddress {
    /// A name, or an address without brackets.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
}

/// A collector of OpenTelemetry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpTarget {
    /// Address of `POST` requests with logs or traces.
    pub url: Url,
    /// A file with a header on each line, such as the collector's token.
    pub headers_file: Option<PathBuf>,
}

// === impl RecordKind ===

impl RecordKind {
    /// All kinds with their words in the settings.
    pub const ALL: [(&'static str, RecordKind); 4] = [
        ("runs", RecordKind::Runs),
        ("calls", RecordKind::Calls),
        ("events", RecordKind::Events),
        ("audit", RecordKind::Audit),
    ];

    /// The word in the settings.
    pub fn name(self) -> &'static str {
        match self {
            RecordKind::Runs => "runs",
            RecordKind::Calls => "calls",
            RecordKind::Events => "events",
            RecordKind::Audit => "audit",
        }
    }
}

// === impl SyslogTarget ===

impl SyslogTarget {
    /// Reads `udp://HOST`, `tcp://HOST:PORT`, `tls://HOST` or `unix:/dev/log`.
    ///
    /// # Errors
    /// A text with the mistake and the remedy.
    pub fn read(text: &str) -> Result<SyslogTarget, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = Path::new(path.strip_prefix("//").unwrap_or(path));
            return match path.is_absolute() {
                true => Ok(SyslogTarget::Unix(path.to_owned())),
                false => Err("write the absolute path of the socket, as in \"unix:/dev/log\"".to_owned()),
            };
        }
        let form =
            "expected \"udp://HOST:PORT\", \"tcp://HOST:PORT\", \"tls://HOST:PORT\" or \"unix:/dev/log\"";
        let (scheme, _) = text.split_once("://").ok_or(form)?;
        let (scheme, port) = *PORTS.iter().find(|(known, _)| *known == scheme).ok_or(form)?;
        let url = Url::parse(text).map_err(|error| format!("{form}: {error}"))?;
        let is_address = url.username().is_empty()
            && url.password().is_none()
            && matches!(url.path(), "" | "/")
            && url.query().is_none()
            && url.fragment().is_none();
        let host = url
            .host_str()
            .filter(|host| is_address && !host.is_empty())
            .ok_or(form)?;
        let address = NetworkAddress {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(port),
        };
        if address.port == 0 {
            return Err("port 0 receives nothing; name the collector's port".to_owned());
        }
        Ok(match scheme {
            "udp" => SyslogTarget::Udp(address),
            "tcp" => SyslogTarget::Tcp(address),
            _ => SyslogTarget::Tls(address),
        })
    }
}

// === impl OtlpTarget ===

impl OtlpTarget {
    /// Reads `http://HOST:4318` or `https://HOST/PATH`; an address without a path gets this one.
    ///
    /// # Errors
    /// A text with the mistake and the remedy. The text may hold a secret, so the message does not repeat it.
    pub fn read(text: &str, path: &str) -> Result<OtlpTarget, String> {
        let form =
            "expected the address of a collector, as in \"http://127.0.0.1:4318\" or \"https://HOST/PATH\"";
        let mut url = Url::parse(text).map_err(|error| format!("{form}: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(form.to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(
                "an address with a password or a query would show a secret; write a header to a private file and name it \
                 in `headers_file`"
                    .to_owned(),
            );
        }
        if matches!(url.path(), "" | "/") {
            url.set_path(path);
        }
        url.set_fragment(None);
        Ok(OtlpTarget {
            url,
            headers_file: None,
        })
    }

    /// Whether headers would cross a network without encryption.
    pub fn exposes_headers(&self) -> bool {
        self.headers_file.is_some() && leaves_unencrypted(&self.url)
    }
}

/// Whether requests to this address leave this machine without encryption.
fn leaves_unencrypted(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        None => false,
    };
    url.scheme() == "http" && !is_here
}

impl fmt::Display for NetworkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for SinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SinkTarget::Syslog(SyslogTarget::Udp(address)) => write!(f, "syslog at udp://{address}"),
            SinkTarget::Syslog(SyslogTarget::Tcp(address)) => write!(f, "syslog at tcp://{address}"),
            SinkTarget::Syslog(SyslogTarget::Tls(address)) => write!(f, "syslog at tls://{address}"),
            SinkTarget::Syslog(SyslogTarget::Unix(path)) => write!(f, "syslog at {}", path.display()),
            SinkTarget::Otlp(otlp) => write!(f, "OTLP at {}", otlp.url),
            SinkTarget::File(file) => write!(f, "the file {}", file.path.display()),
            SinkTarget::CloudWatch(target) => {
                write!(f, "CloudWatch at {} ({})", target.url, target.namespace)
            }
        }
    }
}

impl fmt::Display for SinkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<&str> = self.records.iter().map(|kind| kind.name()).collect();
        let payloads = if self.payloads { "with" } else { "without" };
        write!(
            f,
            "sink \"{}\": {} ({}; {payloads} payloads)",
            self.name,
            self.target,
            kinds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_syslog() {
        let check = |text: &str, shown: &str| {
            let read = match SyslogTarget::read(text) {
                Ok(target) => SinkTarget::Syslog(target).to_string(),
                Err(why) => why,
            };
            assert!(read.contains(shown), "{text}: {read}");
        };
        check("udp://logs.example.com", "syslog at udp://logs.example.com:514");
        check("tcp://logs.example.com", "syslog at tcp://logs.example.com:601");
        check("tcp://[::1]:7000/", "syslog at tcp://[::1]:7000");
        check("tls://logs.example.com", "syslog at tls://logs.example.com:6514");
        check("unix:/dev/log", "syslog at /dev/log");
        check("unix:///run/log", "syslog at /run/log");
        check("unix:log", "absolute path");
        check("tcp://logs.example.com:0", "port 0");
        for wrong in [
            "",
            "logs.example.com:514",
            "http://a",
            "tcp://",
            "tcp://a/b",
            "udp://me@a",
            "tcp://a:99999",
        ] {
            check(wrong, "expected \"udp://HOST:PORT\"");
        }
    }

    #[test]
    fn addresses_of_otlp() {
        let check = |text: &str, shown: &str| {
            let read = match OtlpTarget::read(text, LOGS) {
                Ok(target) => target.url.to_string(),
                Err(why) => why,
            };
            assert!(read.contains(shown) && !read.contains("s3cret"), "{text}: {read}");
        };
        check("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/logs");
        check(
            "https://o.example.com/otlp/v1/logs",
            "https://o.example.com/otlp/v1/logs",
        );
        check("https://me:s3cret@o.example.com", "headers_file");
        check("https://o.example.com/?key=s3cret", "headers_file");
        for wrong in ["", "grpc://a:4317", "127.0.0.1:4318", "http://"] {
            check(wrong, "expected the address of a collector");
        }
        let exposes = |text: &str| {
            let target = OtlpTarget::read(text, LOGS).expect("an address");
            let headers_file = Some(PathBuf::from("headers"));
            OtlpTarget {
                headers_file,
                ..target
            }
            .exposes_headers()
        };
        assert!(exposes("http://collector:4318") && exposes("http://logs.example.com"));
        assert!(
            !exposes("http://[::1]:4318") && !exposes("http://localhost") && !exposes("https://collector")
        );
    }
}
