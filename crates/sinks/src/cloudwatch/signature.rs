//! Signature Version 4 of Amazon Web Services, for a POST of a form.

use chrono::{DateTime, Utc};
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::config::AwsCredentials;

pub(super) const CONTENT_TYPE: &str = "application/x-www-form-urlencoded";

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature covers.
pub(super) struct SignedRequest<'r> {
    pub(super) host: &'r str,
    /// Percent-encoded.
    pub(super) path: &'r str,
    pub(super) region: &'r str,
    pub(super) service: &'r str,
    pub(super) body: &'r str,
    pub(super) at: DateTime<Utc>,
}

/// Headers of a signed request.
pub(super) struct Signature {
    pub(super) authorization: String,
    pub(super) date: String,
}

pub(super) fn sign(request: &SignedRequest<'_>, credentials: &AwsCredentials) -> Signature {
    let date = request.at.format("%Y%m%dT%H%M%SZ").to_string();
    let day = request.at.format("%Y%m%d").to_string();
    let mut headers = vec![
        ("content-type", CONTENT_TYPE),
        ("host", request.host),
        ("x-amz-date", date.as_str()),
    ];
    headers.extend(
        credentials
            .session
            .as_deref()
            .map(|session| ("x-amz-security-token", session)),
    );
    let lines: String = headers
        .iter()
        .map(|(name, value)| format!("{name}:{}\n", value.trim()))
        .collect();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let body = hex::encode(Sha256::digest(request.body));
    let canonical = format!("POST\n{}\n\n{lines}\n{names}\n{body}", request.path);
    let scope = format!("{day}/{}/{}/aws4_request", request.region, request.service);
    let canonical = hex::encode(Sha256::digest(canonical));
    let to_sign = format!("{ALGORITHM}\n{date}\n{scope}\n{canonical}");
    let mut key = format!("AWS4{}", credentials.secret).into_bytes();
    for part in [day.as_str(), request.region, request.service, "aws4_request"] {
        key = mac(&key, part);
    }
    let signature = hex::encode(mac(&key, &to_sign));
    let id = &credentials.id;
    Signature {
        authorization: format!(
            "{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}"
        ),
        date,
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(body: &str, session: Option<&str>) -> String {
        let credentials = AwsCredentials {
            id: "AKIDEXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session: session.map(str::to_owned),
        };
        let request = SignedRequest {
            host: "example.amazonaws.com",
            path: "/",
            region: "us-east-1",
            service: "service",
            body,
            at: "2015-08-30T12:36:00Z".parse().expect("a time"),
        };
        let signed = sign(&request, &credentials);
        assert_eq!(signed.date, "20150830T123600Z");
        signed.authorization
    }

    /// The case `post-x-www-form-urlencoded` of Amazon's test suite.
    #[test]
    fn a_form_is_signed_as_amazon_does() {
        assert_eq!(
            signature("Param1=value1", None),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
    }

    #[test]
    fn the_token_of_a_temporary_key_is_signed() {
        let signed = signature("", Some("token"));
        assert!(
            signed.contains("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,"),
            "{signed}"
        );
    }
}
