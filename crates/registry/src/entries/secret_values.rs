//! Finds the secret values in a definition, so that no message about the server shows them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use upstream_wire::{SecretValues, Transport};

/// The values of secret variables, and literal values that look like secrets.
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
