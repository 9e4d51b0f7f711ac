//! The query of the audit table.

use identity::AuditAction;

use super::{LIMIT, PageRequest, Query, text, time, word};
use crate::error::RestError;
use crate::export::ListFormat;

/// The query of `GET /audit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// By default 50 rows.
    pub page: PageRequest,
    /// One page, or an export of all rows.
    pub format: ListFormat,
    /// Acts of this user, or of `command-line`.
    pub user: Option<String>,
    /// Acts of this kind.
    pub action: Option<AuditAction>,
    /// Start of the time range, inclusive; milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// End of the time range, exclusive; milliseconds since 1970.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told<T: std::fmt::Debug>(read: Result<T, RestError>) -> String {
        read.expect_err("a mistake").to_string()
    }

    #[test]
    fn an_export_is_requested_by_parameter_or_header_and_has_no_pages() {
        let read = |pairs: &[(&str, &str)], accept| AuditQuery::read(pairs, accept).map(|query| query.format);
        assert_eq!(read(&[], "text/csv"), Ok(ListFormat::Csv));
        assert_eq!(read(&[("format", "json")], "text/csv"), Ok(ListFormat::Json));
        assert_eq!(
            read(&[("format", "jsonl"), ("action", "token.create")], ""),
            Ok(ListFormat::JsonLines)
        );
        assert_eq!(
            told(read(&[("format", "cvs")], "")),
            "format: expected \"json\" or \"csv\" or \"jsonl\", found \"cvs\"; did you mean \"csv\"?"
        );
        let action = told(read(&[("action", "token.creat")], ""));
        assert!(action.ends_with("did you mean \"token.create\"?"), "{action}");
        assert_eq!(
            told(read(&[("limit", "5")], "application/x-ndjson")),
            "limit: an export has all entries; leave this parameter out"
        );
    }
}
