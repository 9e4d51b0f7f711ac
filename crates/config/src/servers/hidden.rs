//! Tells what of a definition is secret, so that no message about its server shows it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use upstream_wire::{SecretValues, Transport};

/// What its variables hold that is secret, and what looks like a secret as it stands: also in files that people write themselves.
pub(crate) fn secrets(transport: &Transport, mut referred: BTreeSet<String>) -> SecretValues {
    let fields = match transport {
        Transport::Stdio(stdio) => [
            ("command", json!(stdio.command)),
            ("args", json!(stdio.args)),
            ("env", json!(stdio.env)),
        ],
        Transport::Http(http) => [
            ("url", json!(http.url)),
            ("headers", json!(http.headers)),
            ("args", json!([])),
        ],
    };
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let definition: Map<String, Value> = fields.into_iter().collect();
    referred.extend(clients::found_secrets(&definition));
    referred.retain(|secret| !secret.trim().is_empty());
    SecretValues(referred)
}
