//! Queries of lists: limits, filters and cursors.

mod accounts;
mod audit;

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::DateTime;
use serde_json::Value;
use types::{Visibility, Written};

use crate::audit::{RunStatus, SecurityEventKind};
use crate::error::RestError;
use crate::export::ListFormat;
use crate::mistakes::{MistakeList, shortened};
use crate::object::{one_of, unknown};

pub use accounts::{LoginsQuery, NamesQuery, TokensQuery};
pub use audit::AuditQuery;

pub(crate) use accounts::{LOGINS, NAMES, TOKENS};
pub(crate) use audit::AUDIT;

/// Maximum characters of a filter's value.
const MAX_VALUE: usize = 512;

/// The last entry of a page, after which the next page begins. A cursor grants no access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The entry's time, which orders the list; milliseconds since 1970.
    pub at_ms: i64,
    /// Orders entries with the same time.
    pub id: String,
}

/// A text that is not a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor of this list; leave `cursor` out to begin with the first page")]
pub struct BadCursor;

/// The requested page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Maximum number of entries, at least 1.
    pub limit: usize,
    /// `None` for the first page.
    pub cursor: Option<Cursor>,
}

/// The query of `GET /servers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersQuery {
    /// By default 50 servers.
    pub page: PageRequest,
    /// Answer a [`crate::ServerPage`] instead of a plain list.
    pub include_pagination: bool,
    /// Servers with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// Servers of this team.
    pub team: Option<String>,
    /// Servers of this visibility.
    pub visibility: Option<Visibility>,
}

/// The query of `GET /servers/{id}/code/runs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunsQuery {
    /// By default 50 runs.
    pub page: PageRequest,
    /// One page, or an export of all runs.
    pub format: ListFormat,
    /// Users and time range.
    pub filter: RecordFilter,
    /// Runs in this state.
    pub status: Option<RunStatus>,
    /// Runs that called this tool.
    pub tool: Option<String>,
}

/// The query of `GET /servers/{id}/code/sessions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionsQuery {
    /// Maximum number of sessions, by default 50.
    pub limit: usize,
    /// Users, and time range of the last use.
    pub filter: RecordFilter,
}

/// The query of `GET /servers/{id}/code/security-events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventsQuery {
    /// By default 100 events.
    pub page: PageRequest,
    /// One page, or an export of all events.
    pub format: ListFormat,
    /// Users and time range.
    pub filter: RecordFilter,
    /// Events of this kind.
    pub event: Option<SecurityEventKind>,
    /// Events about this tool.
    pub tool: Option<String>,
}

/// Filters of all records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// The user who requested the run.
    pub user: Option<String>,
    /// The server's team; any other team selects nothing.
    pub team: Option<String>,
    /// Start of the time range, inclusive; milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// End of the time range, exclusive; milliseconds since 1970.
    pub until_ms: Option<i64>,
}

/// Parameters of `GET /servers`, in the order of the document.
pub(crate) const SERVERS: [&str; 6] = [
    "limit",
    "cursor",
    "include_pagination",
    "tags",
    "team_id",
    "visibility",
];
/// Parameters of the lists below `/code`.
pub(crate) const SESSIONS: [&str; 5] = ["limit", "user", "team_id", "since", "until"];
/// Parameters of the list of runs.
pub(crate) const RUNS: [&str; 9] = [
    "limit", "cursor", "user", "team_id", "since", "until", "status", "tool", "format",
];
/// Parameters of the list of security events.
pub(crate) const EVENTS: [&str; 9] = [
    "limit", "cursor", "user", "team_id", "since", "until", "event", "tool", "format",
];

/// A parameter's default and range.
#[derive(Debug, Clone)]
pub(crate) struct LimitOf {
    pub(crate) usual: usize,
    pub(crate) range: RangeInclusive<u64>,
}

/// `limit` of all lists except security events.
pub(crate) const LIMIT: LimitOf = LimitOf {
    usual: 50,
    range: 1..=500,
};
/// `limit` of security events.
pub(crate) const EVENTS_LIMIT: LimitOf = LimitOf {
    usual: 100,
    range: 1..=1000,
};

impl ServersQuery {
    /// Reads decoded pairs of a query.
    ///
    /// # Errors
    /// [`RestError::Invalid`] with every mistake.
    pub fn read(pairs: &[(&str, &str)]) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &SERVERS);
        let read = Self {
            page: query.page(&LIMIT),
            include_pagination: query.value("include_pagination", boolean).unwrap_or(false),
            tags: query.value("tags", list).unwrap_or_default(),
            team: query.value("team_id", text),
            visibility: query.value("visibility", |value| {
                word(value, &Visibility::ALL, Visibility::name)
            }),
        };
        query.mistakes.finish()?;
        Ok(read)
    }
}

impl RunsQuery {
    /// As [`ServersQuery::read`], with the header `Accept`.
    ///
    /// # Errors
    /// As [`ServersQuery::read`].
    pub fn read(pairs: &[(&str, &str)], accept: &str) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &RUNS);
        let read = Self {
            page: query.page(&LIMIT),
            format: query.format(accept),
            filter: query.filter(),
            status: query.value("status", |value| word(value, &RunStatus::ALL, RunStatus::name)),
            tool: query.value("tool", text),
        };
        query.mistakes.finish()?;
        Ok(read)
    }
}

impl SessionsQuery {
    /// As [`ServersQuery::read`].
    ///
    /// # Errors
    /// As [`ServersQuery::read`].
    pub fn read(pairs: &[(&str, &str)]) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &SESSIONS);
        let read = Self {
            limit: query.page(&LIMIT).limit,
            filter: query.filter(),
        };
        query.mistakes.finish()?;
        Ok(read)
    }
}

impl EventsQuery {
    /// As [`ServersQuery::read`], with the header `Accept`.
    ///
    /// # Errors
    /// As [`ServersQuery::read`].
    pub fn read(pairs: &[(&str, &str)], accept: &str) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &EVENTS);
        let read = Self {
            page: query.page(&EVENTS_LIMIT),
            format: query.format(accept),
            filter: query.filter(),
            event: query.value("event", |value| {
                word(value, &SecurityEventKind::ALL, SecurityEventKind::name)
            }),
            tool: query.value("tool", text),
        };
        query.mistakes.finish()?;
        Ok(read)
    }
}

/// The parameters of one request.
struct Query<'q> {
    pairs: &'q [(&'q str, &'q str)],
    mistakes: MistakeList,
}

impl<'q> Query<'q> {
    fn open(pairs: &'q [(&'q str, &'q str)], known: &[&str]) -> Self {
        let mut mistakes = MistakeList::default();
        for (index, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(name) {
                mistakes.wrong(
                    name,
                    unknown(name, known, &[("team", "team_id"), ("user_email", "user")]),
                );
            } else if pairs[..index].iter().any(|(other, _)| other == name) {
                mistakes.wrong(name, "is given twice; write it once");
            }
        }
        Self { pairs, mistakes }
    }

    fn value<T>(&mut self, name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let (_, value) = self.pairs.iter().find(|(other, _)| *other == name)?;
        self.mistakes.or_wrong(name, read(value))
    }

    fn page(&mut self, limit: &LimitOf) -> PageRequest {
        let count = |value: &str| Written::argument(value).count(limit.range.clone());
        PageRequest {
            limit: self.value("limit", count).unwrap_or(limit.usual),
            cursor: self.value("cursor", |value| {
                value.parse().map_err(|error: BadCursor| error.to_string())
            }),
        }
    }

    fn filter(&mut self) -> RecordFilter {
        let filter = RecordFilter {
            user: self.value("user", text),
            team: self.value("team_id", text),
            since_ms: self.value("since", time),
            until_ms: self.value("until", time),
        };
        self.order(filter.since_ms, filter.until_ms);
        filter
    }

    fn order(&mut self, since_ms: Option<i64>, until_ms: Option<i64>) {
        if let (Some(since), Some(until)) = (since_ms, until_ms)
            && since >= until
        {
            self.mistakes.wrong("until", "is not after `since`");
        }
    }

    /// The parameter overrides the header. Reports parameters of pages in an export.
    fn format(&mut self, accept: &str) -> ListFormat {
        let asked = self.value("format", |value| word(value, &ListFormat::ALL, ListFormat::name));
        let format = asked.unwrap_or_else(|| ListFormat::accepted(accept));
        if format != ListFormat::Json {
            for name in ["limit", "cursor"] {
                if self.pairs.iter().any(|(given, _)| *given == name) {
                    self.mistakes
                        .wrong(name, "an export has all entries; leave this parameter out");
                }
            }
        }
        format
    }
}

fn text(value: &str) -> Result<String, String> {
    if value.is_empty() || value.chars().count() > MAX_VALUE || value.contains('\0') {
        return Err(format!("expected 1 to {MAX_VALUE} characters without U+0000"));
    }
    Ok(value.to_owned())
}

fn list(value: &str) -> Result<Vec<String>, String> {
    value.split(',').map(|item| text(item.trim())).collect()
}

fn boolean(value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!(
            "expected true or false, found \"{}\"",
            shortened(value, 64)
        )),
    }
}

fn word<T: Copy>(value: &str, choices: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    one_of(&Value::String(value.to_owned()), choices, name)
}

/// A time in ISO 8601 as milliseconds since 1970.
pub(crate) fn time(value: &str) -> Result<i64, String> {
    let wrong = || {
        let shown = shortened(value, 64);
        format!("expected a time such as \"2026-11-27T09:30:00Z\", found \"{shown}\"")
    };
    let time = DateTime::parse_from_rfc3339(value).map_err(|_| wrong())?;
    Ok(time.timestamp_millis())
}

// === impl Cursor ===

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = format!("{}:{}", self.at_ms, self.id);
        f.write_str(&URL_SAFE_NO_PAD.encode(plain))
    }
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        if text.len() > 2 * MAX_VALUE {
            return Err(BadCursor);
        }
        let plain = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadCursor)?;
        let plain = String::from_utf8(plain).map_err(|_| BadCursor)?;
        let (at_ms, id) = plain.split_once(':').ok_or(BadCursor)?;
        if id.is_empty() || id.contains('\0') {
            return Err(BadCursor);
        }
        Ok(Self {
            at_ms: at_ms.parse().map_err(|_| BadCursor)?,
            id: id.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said<T>(read: Result<T, RestError>) -> String {
        read.err()
            .map_or_else(|| "ok".to_owned(), |problem| problem.to_string())
    }

    #[test]
    fn s0_76_queries_have_limits_and_filters() {
        let runs = RunsQuery::read(&[], "").expect("a query");
        assert_eq!((runs.page.limit, runs.page.cursor), (50, None));
        let events = EventsQuery::read(&[("limit", "1000"), ("event", "policy_block")], "").expect("a query");
        assert_eq!(events.page.limit, 1000);
        assert_eq!(events.event, Some(SecurityEventKind::PolicyBlock));
        let filters = [
            ("status", "timed_out"),
            ("since", "2026-11-27T09:30:00+01:00"),
            ("user", "ann@example.com"),
        ];
        let runs = RunsQuery::read(&filters, "").expect("a query");
        assert_eq!(runs.status, Some(RunStatus::TimedOut));
        assert_eq!(runs.filter.since_ms, Some(1_795_768_200_000));
        let servers =
            ServersQuery::read(&[("include_pagination", "true"), ("tags", "a, b")]).expect("a query");
        assert!(servers.include_pagination);
        assert_eq!(servers.tags, ["a", "b"]);
    }

    #[test]
    fn wrong_parameters_are_reported_at_once() {
        let check =
            |pairs: &[(&str, &str)], expected: &str| assert_eq!(said(RunsQuery::read(pairs, "")), expected);
        check(&[("limit", "500")], "ok");
        check(&[("limit", "501")], "limit: 501 is out of range; write 1 to 500");
        check(
            &[("limit", "x")],
            "limit: expected a whole number, found a string",
        );
        check(&[("limt", "1")], "limt: unknown key; did you mean `limit`?");
        check(
            &[("limit", "1"), ("limit", "2")],
            "limit: is given twice; write it once",
        );
        check(
            &[
                ("cursor", "?"),
                ("status", "done"),
                ("since", "today"),
                ("tool", ""),
            ],
            "cursor: is not a cursor of this list; leave `cursor` out to begin with the first page; \
             since: expected a time such as \"2026-11-27T09:30:00Z\", found \"today\"; \
             status: expected \"running\" or \"completed\" or \"failed\" or \"timed_out\" or \"blocked\", found \"done\"; \
             tool: expected 1 to 512 characters without U+0000",
        );
        check(
            &[
                ("since", "2026-11-27T09:30:00Z"),
                ("until", "2026-11-27T09:30:00Z"),
            ],
            "until: is not after `since`",
        );
        let events = said(EventsQuery::read(&[("limit", "1001")], ""));
        assert_eq!(events, "limit: 1001 is out of range; write 1 to 1000");
        let servers = said(ServersQuery::read(&[
            ("visibility", "all"),
            ("include_pagination", "1"),
        ]));
        assert_eq!(
            servers,
            "include_pagination: expected true or false, found \"1\"; \
             visibility: expected \"public\" or \"team\" or \"private\", found \"all\""
        );
        assert_eq!(said(SessionsQuery::read(&[("user", "a")])), "ok");
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(at_ms: i64, id in "[a-zA-Z0-9:_-]{1,64}") {
            let cursor = Cursor { at_ms, id };
            prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }

        #[test]
        fn any_text_is_a_cursor_or_refused(text in "\\PC{0,40}") {
            if let Ok(cursor) = text.parse::<Cursor>() {
                prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
            }
        }
    }
}
