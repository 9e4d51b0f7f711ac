//! The query of the audit table.

use identity::AuditAction;

use super::{LIMIT, PageRequest, Query, text, time, word};
use crate::error::RestError;
use crate::export::ListFormat;

/// The query of `GET /audit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// Usually 50 rows.
    pub page: PageRequest,
    /// One page, or an export of all rows.
    pub format: ListFormat,
    /// Acts of this user, or of `command-line`.
    pub user: Option<String>,
    /// Acts of this kind.
    pub action: Option<AuditAction>,
    /// Not before this time; milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Before this time; milliseconds since 1970.
    pub until_ms: Option<i64>,
}

/// Parameters of `GET /audit`.
pub(crate) const AUDIT: [&str; 7] = ["limit", "cursor", "user", "action", "since", "until", "format"];

impl AuditQuery {
    /// Reads decoded pairs of a query, and the header `Accept`.
    ///
    /// # Errors
    /// [`RestError::Invalid`] with every mistake.
    pub fn read(pairs: &[(&str, &str)], accept: &str) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &AUDIT);
        let read = Self {
            page: query.page(&LIMIT),
            format: query.format(accept),
            user: query.value("user", text),
            action: query.value("action", |value| word(value, AuditAction::ALL, AuditAction::name)),
            since_ms: query.value("since", time),
            until_ms: query.value("until", time),
        };
        query.order(read.since_ms, read.until_ms);
        query.mistakes.finish()?;
        Ok(read)
    }
}
