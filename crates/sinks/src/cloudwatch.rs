//! CloudWatch: durations of executions as metric data, in signed requests.

mod credentials;
mod request;
mod signature;

use chrono::Utc;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use reqwest::{Client, StatusCode};
use store::sinks::SentRecord;

use crate::config::{AwsCredentials, AwsCredentialsSource, CloudWatchTarget};
use crate::error::SendError;
use crate::http_answer;
use signature::{SignedRequest, sign};

/// Errors of CloudWatch that no other attempt helps against.
const REFUSALS: [&str; 4] = [
    "InvalidParameterValue",
    "InvalidParameterCombination",
    "MissingRequiredParameter",
    "ValidationError",
];

/// One endpoint, with the HTTP client once it was needed.
#[derive(Debug)]
pub(crate) struct CloudWatch {
    target: CloudWatchTarget,
    client: Option<Client>,
}

// === impl CloudWatch ===

impl CloudWatch {
    pub(crate) fn new(target: CloudWatchTarget) -> CloudWatch {
        CloudWatch { target, client: None }
    }

    /// Puts the metric data of all runs that began.
    pub(crate) async fn send(&mut self, records: &[SentRecord]) -> Result<(), SendError> {
        let Some(body) = request::body(records, &self.target) else {
            return Ok(());
        };
        let credentials = self.credentials().await?;
        let client = match &self.client {
            Some(client) => client.clone(),
            None => upstream_wire::gateway_client()
                .await
                .map_err(SendError::unavailable)?,
        };
        self.client = Some(client.clone());
        let host = host(&self.target.url);
        let signed = sign(
            &SignedRequest {
                host: &host,
                path: self.target.url.path(),
                region: &self.target.region,
                service: "monitoring",
                body: &body,
                at: Utc::now(),
            },
            &credentials,
        );
        let mut request = client
            .post(self.target.url.clone())
            .header(HOST, host)
            .header(CONTENT_TYPE, signature::CONTENT_TYPE)
            .header(AUTHORIZATION, signed.authorization)
            .header("x-amz-date", signed.date);
        if let Some(session) = &credentials.session {
            request = request.header("x-amz-security-token", session);
        }
        let answered = request.body(body).send().await;
        let response =
            answered.map_err(|error| SendError::unavailable(upstream_wire::describe_http_error(&error)))?;
        let (status, retry_after) = (response.status(), http_answer::retry_after(&response));
        if status.is_success() {
            return Ok(());
        }
        let body = http_answer::body(response).await.unwrap_or_default();
        Err(error(status, &String::from_utf8_lossy(&body), retry_after))
    }

    async fn credentials(&self) -> Result<AwsCredentials, SendError> {
        match &self.target.credentials {
            AwsCredentialsSource::Values(credentials) => Ok(credentials.clone()),
            AwsCredentialsSource::File(file) => credentials::read(file).await.map_err(SendError::unavailable),
            AwsCredentialsSource::Variables => Err(SendError::unavailable("no credentials were given")),
        }
    }
}

/// The host as the request's header has it: without the port that the scheme implies.
fn host(url: &url::Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn error(status: StatusCode, body: &str, retry_after: Option<std::time::Duration>) -> SendError {
    let code = body
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"))
        .map(|(code, _)| code)
        .filter(|code| code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let why = match code {
        Some(code) => format!("CloudWatch answers {status}, {code}"),
        None => format!("CloudWatch answers {status}"),
    };
    if code.is_some_and(|code| REFUSALS.contains(&code)) {
        return SendError::Refused(why);
    }
    let remedy = match status.as_u16() {
        401 | 403 => {
            "; check the credentials, their right to cloudwatch:PutMetricData, and this machine's clock"
        }
        404 => "; check the address of `cloudwatch`",
        _ => "",
    };
    SendError::Unavailable {
        why: format!("{why}{remedy}"),
        retry_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_data_are_refusals() {
        let answer =
            |code: &str| format!("<ErrorResponse><Error><Code>{code}</Code></Error></ErrorResponse>");
        for (status, code, is_refusal) in [
            (400, "InvalidParameterValue", true),
            (400, "Throttling", false),
            (400, "<script>", false),
            (403, "SignatureDoesNotMatch", false),
            (500, "InternalFailure", false),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let error = error(status, &answer(code), None);
            assert_eq!(matches!(error, SendError::Refused(_)), is_refusal, "{error}");
            assert!(!error.to_string().contains('<'), "{error}");
        }
    }
}
