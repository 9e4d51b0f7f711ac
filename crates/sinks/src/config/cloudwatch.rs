//! CloudWatch as a target: its endpoint, what names a metric, and whose credentials sign requests.

use std::fmt;
use std::path::PathBuf;

use url::Url;

/// The domain of the services of Amazon.
const AMAZON: &str = "amazonaws.com";

/// Region of endpoints whose address names none.
const DEFAULT_REGION: &str = "us-east-1";

/// Metrics of Amazon CloudWatch, or of a service with the same interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudWatchTarget {
    /// Where requests are posted.
    pub url: Url,
    /// The region that signatures name.
    pub region: String,
    /// The namespace of metrics.
    pub namespace: String,
    /// What tells metrics apart, each once; none by default.
    pub dimensions: Vec<MetricDimension>,
    /// Whose requests they are.
    pub credentials: AwsCredentialsSource,
}

/// What can tell metrics apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricDimension {
    /// How the run ended.
    Status,
    /// The language of the program.
    Language,
    /// The virtual server.
    ServerId,
    /// The run: a metric for each run, which CloudWatch bills.
    ExecutionId,
}

/// Where credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsCredentialsSource {
    /// The variables `AWS_ACCESS_KEY_ID` and so on, which were not read yet.
    Variables,
    /// These values.
    Values(AwsCredentials),
    /// A file like `~/.aws/credentials`, which is read for each batch.
    File(PathBuf),
}

/// A key of Amazon Web Services.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsCredentials {
    /// Names the key.
    pub id: String,
    /// Signs requests.
    pub secret: String,
    /// The session of a temporary key.
    pub session: Option<String>,
}

// === impl CloudWatchTarget ===

impl CloudWatchTarget {
    /// Reads a region, or the address of an endpoint. A region in an address of Amazon's counts.
    ///
    /// # Errors
    /// What is wrong with the text, and the remedy.
    pub fn endpoint(text: &str) -> Result<(Url, String), String> {
        let form =
            "expected a region, as in \"eu-central-1\", or an address, as in \"http://127.0.0.1:4566\"";
        let is_region = |text: &str| {
            text.contains('-')
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let address = match is_region(text) {
            true => format!("https://monitoring.{text}.{AMAZON}"),
            false => text.to_owned(),
        };
        let url = Url::parse(&address).map_err(|error| format!("{form}: {error}"))?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(form)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(form.to_owned());
        }
        if super::leaves_unencrypted(&url) {
            return Err(
                "the credentials would cross the network without encryption; write https://".to_owned(),
            );
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err("an address with a password or a query would show a secret; remove it".to_owned());
        }
        let region = host
            .strip_prefix("monitoring.")
            .and_then(|rest| rest.split('.').next())
            .filter(|region| is_region(region));
        let region = region.unwrap_or(DEFAULT_REGION).to_owned();
        Ok((url, region))
    }
}

// === impl MetricDimension ===

impl MetricDimension {
    /// All dimensions with their names.
    pub const ALL: [(&'static str, MetricDimension); 4] = [
        ("Status", MetricDimension::Status),
        ("Language", MetricDimension::Language),
        ("ServerId", MetricDimension::ServerId),
        ("ExecutionId", MetricDimension::ExecutionId),
    ];
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsCredentials")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_and_their_regions() {
        let check = |text: &str, url: &str, region: &str| {
            let (found, named) = CloudWatchTarget::endpoint(text).expect(text);
            assert_eq!((found.as_str(), named.as_str()), (url, region), "{text}");
        };
        let of_region = |region: &str| format!("https://monitoring.{region}.{AMAZON}/");
        check("eu-central-1", &of_region("eu-central-1"), "eu-central-1");
        let address = of_region("us-gov-west-1");
        check(&address, &address, "us-gov-west-1");
        check("http://127.0.0.1:4566", "http://127.0.0.1:4566/", "us-east-1");
        for wrong in [
            "",
            "eu central",
            "ftp://a",
            "https://a:b@c",
            "https://a?key=b",
            "http://",
        ] {
            CloudWatchTarget::endpoint(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let credentials = AwsCredentials {
            id: "AKID".to_owned(),
            secret: "s3cret".to_owned(),
            session: Some("t0ken".to_owned()),
        };
        let shown = format!("{credentials:?}");
        assert!(
            shown.contains("AKID") && !shown.contains("s3cret") && !shown.contains("t0ken"),
            "{shown}"
        );
    }
}
