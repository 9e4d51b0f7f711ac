//! Finds the secret values of a definition, to keep them out of messages.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use upstream_wire::{SecretValues, Transport};

/// Values of secret variables, and literals that look like secrets.
pub(crate) fn secret_values(transport: &Transport, mut referred: BTreeSet<String>) -> SecretValues {
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
