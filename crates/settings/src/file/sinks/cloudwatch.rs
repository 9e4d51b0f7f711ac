//! The keys of a sink that sends metrics to CloudWatch.

use std::path::{Path, PathBuf};

use ::sinks::{
    AwsCredentials, AwsCredentialsSource, CloudWatchTarget, MetricDimension, SinkConfig, SinkTarget,
};
use environment::{Diagnostics, Environment};
use url::Url;

use crate::file::table::{Value, unknown};

/// The namespace of S3-36.
const DEFAULT_NAMESPACE: &str = "MCP/Executions";
/// Longest namespace that CloudWatch takes, in bytes.
const MAX_NAMESPACE: usize = 255;

const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION: &str = "AWS_SESSION_TOKEN";

#[derive(Debug, Default)]
pub(super) struct WrittenCloudWatch {
    endpoint: Option<(Url, String)>,
    region: Option<String>,
    namespace: Option<String>,
    dimensions: Option<Vec<MetricDimension>>,
    credentials_file: Option<PathBuf>,
}

// === impl WrittenCloudWatch ===

impl WrittenCloudWatch {
    /// Whether the key is one of these.
    pub(super) fn set(&mut self, key: &str, value: &Value<'_>, directory: &Path) -> Result<bool, String> {
        match key {
            "cloudwatch" => self.endpoint = Some(CloudWatchTarget::endpoint(value.string()?)?),
            "region" => self.region = Some(region(value.string()?)?),
            "namespace" => self.namespace = Some(namespace(value.string()?)?),
            "dimensions" => self.dimensions = Some(dimensions(value)?),
            "credentials_file" => self.credentials_file = Some(directory.join(value.string()?)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The target, if one is written; the end of the field at fault with the message.
    pub(super) fn target(self) -> Result<Option<CloudWatchTarget>, (&'static str, &'static str)> {
        let Some((url, named)) = self.endpoint else {
            for (key, is_written) in [
                (".region", self.region.is_some()),
                (".namespace", self.namespace.is_some()),
                (".dimensions", self.dimensions.is_some()),
                (".credentials_file", self.credentials_file.is_some()),
            ] {
                if is_written {
                    return Err((key, "only `cloudwatch` has it; remove it"));
                }
            }
            return Ok(None);
        };
        Ok(Some(CloudWatchTarget {
            url,
            region: self.region.unwrap_or(named),
            namespace: self.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()),
            dimensions: self.dimensions.unwrap_or_default(),
            credentials: self
                .credentials_file
                .map_or(AwsCredentialsSource::Variables, AwsCredentialsSource::File),
        }))
    }
}

fn region(text: &str) -> Result<String, String> {
    let is_region = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match is_region {
        true => Ok(text.to_owned()),
        false => Err("expected a region, as in \"eu-central-1\"".to_owned()),
    }
}

fn namespace(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/#: ".contains(&byte);
    let fits = (1..=MAX_NAMESPACE).contains(&text.trim().len());
    match fits && text.bytes().all(allowed) && !text.starts_with("AWS/") {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a namespace is 1 to {MAX_NAMESPACE} of the characters A-Z a-z 0-9 . _ - / # : and does not begin with AWS/"
        )),
    }
}

fn dimensions(value: &Value<'_>) -> Result<Vec<MetricDimension>, String> {
    let mut dimensions = Vec::new();
    for word in value.strings()? {
        let known = MetricDimension::ALL.into_iter().find(|(known, _)| *known == word);
        let Some((_, dimension)) = known else {
            let names = MetricDimension::ALL.map(|(known, _)| known);
            return Err(unknown("dimension", &word, names));
        };
        if !dimensions.contains(&dimension) {
            dimensions.push(dimension);
        }
    }
    Ok(dimensions)
}

/// Reads the variables of sinks without a file of credentials.
pub(crate) fn complete(sinks: &mut [SinkConfig], env: &dyn Environment, diagnostics: &mut Diagnostics) {
    for sink in sinks {
        let SinkTarget::CloudWatch(target) = &mut sink.target else {
            continue;
        };
        if target.credentials != AwsCredentialsSource::Variables {
            continue;
        }
        let read = |name: &str| env.var(name).ok().flatten().filter(|value| !value.is_empty());
        match (read(KEY_ID), read(SECRET)) {
            (Some(id), Some(secret)) => {
                target.credentials = AwsCredentialsSource::Values(AwsCredentials {
                    id,
                    secret,
                    session: read(SESSION),
                });
            }
            _ => diagnostics.mistake(
                "gateway.sinks",
                format!(
                    "sink \"{}\" has no credentials; set {KEY_ID} and {SECRET}, or name a file like ~/.aws/credentials in \
                     `credentials_file`",
                    sink.name
                ),
            ),
        }
    }
}
