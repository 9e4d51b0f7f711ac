//! A row of the audit table as answers show it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::export::ExportRow;

/// An administrative change or a refused attempt at one, as `GET /audit` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditView {
    /// 1 for the first row of the database. The rows of all tenants are one chain.
    pub sequence: i64,
    /// Time of the change or attempt, as ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// The tenant of the object.
    pub tenant: String,
    /// The user's address, or `command-line`.
    pub actor: String,
    /// The user's token; null for the command line.
    pub token_id: Option<String>,
    /// For example `token.create`.
    pub action: String,
    /// The kind of the object.
    pub object: String,
    /// Names the object; `team/user` for a member; empty if the request named none.
    pub object_id: String,
    /// `done`, the status of a refusal, or `refused` by the command line.
    pub outcome: String,
    /// Text for people.
    pub detail: String,
    /// Hash of the previous row.
    pub previous: String,
    /// SHA-256 over the other fields, in hexadecimal digits.
    pub hash: String,
}

impl ExportRow for AuditView {
    const COLUMNS: &'static [(&'static str, &'static str)] = &[
        ("sequence", "/sequence"),
        ("timestamp", "/timestamp"),
        ("tenant", "/tenant"),
        ("actor", "/actor"),
        ("token_id", "/token_id"),
        ("action", "/action"),
        ("object", "/object"),
        ("object_id", "/object_id"),
        ("outcome", "/outcome"),
        ("detail", "/detail"),
        ("previous", "/previous"),
        ("hash", "/hash"),
    ];
}
