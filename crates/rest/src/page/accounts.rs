//! Queries of the lists of tokens, users, teams and members.

use std::fmt;

use identity::Email;

use super::{Cursor, LIMIT, PageRequest, Query};
use crate::error::RestError;

/// The query of `GET /tokens`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokensQuery {
    /// By default 50 tokens.
    pub page: PageRequest,
    /// Tokens of this user.
    pub user: Option<Email>,
}

/// The query of a list that is sorted by name: `GET /users`, `GET /teams` and `GET /teams/{id}/members`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamesQuery {
    /// Maximum number of entries, at least 1; by default 50.
    pub limit: usize,
    /// The last name of the previous page; `None` for the first page.
    pub after: Option<String>,
}

/// The query of `GET /logins` and `DELETE /logins/{name}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginsQuery {
    /// Logins of this user; `None` for the caller, and in lists of a platform admin for everybody.
    pub user: Option<Email>,
}

/// Parameters of logins.
pub(crate) const LOGINS: [&str; 1] = ["user"];
/// Parameters of `GET /tokens`.
pub(crate) const TOKENS: [&str; 3] = ["limit", "cursor", "user"];
/// Parameters of lists that are sorted by name.
pub(crate) const NAMES: [&str; 2] = ["limit", "cursor"];

impl TokensQuery {
    /// Reads decoded pairs of a query.
    ///
    /// # Errors
    /// [`RestError::Invalid`] with every mistake.
    pub fn read(pairs: &[(&str, &str)]) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &TOKENS);
        let email = |value: &str| value.parse::<Email>().map_err(|bad| bad.to_string());
        let read = Self {
            page: query.page(&LIMIT),
            user: query.value("user", email),
        };
        query.mistakes.finish()?;
        Ok(read)
    }
}

impl LoginsQuery {
    /// As [`TokensQuery::read`].
    ///
    /// # Errors
    /// As [`TokensQuery::read`].
    pub fn read(pairs: &[(&str, &str)]) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &LOGINS);
        let email = |value: &str| value.parse::<Email>().map_err(|bad| bad.to_string());
        let read = Self {
            user: query.value("user", email),
        };
        query.mistakes.finish()?;
        Ok(read)
    }
}

impl NamesQuery {
    /// As [`TokensQuery::read`].
    ///
    /// # Errors
    /// As [`TokensQuery::read`].
    pub fn read(pairs: &[(&str, &str)]) -> Result<Self, RestError> {
        let mut query = Query::open(pairs, &NAMES);
        let page = query.page(&LIMIT);
        query.mistakes.finish()?;
        Ok(Self {
            limit: page.limit,
            after: page.cursor.map(|cursor| cursor.id),
        })
    }
}

impl Cursor {
    /// A cursor of a list that is sorted by unique names.
    pub(crate) fn of_name(name: impl fmt::Display) -> Cursor {
        Cursor {
            at_ms: 0,
            id: name.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_accounts_have_pages() {
        let check = |pairs: &[(&str, &str)], expected: Result<(usize, Option<&str>), &str>| {
            let read = NamesQuery::read(pairs).map_err(|problem| problem.to_string());
            let read = read.as_ref().map(|query| (query.limit, query.after.as_deref()));
            assert_eq!(read.map_err(String::as_str), expected);
        };
        check(&[], Ok((50, None)));
        let cursor = Cursor::of_name("ann@example.com").to_string();
        check(
            &[("limit", "7"), ("cursor", &cursor)],
            Ok((7, Some("ann@example.com"))),
        );
        check(&[("limt", "7")], Err("limt: unknown key; did you mean `limit`?"));
        check(
            &[("limit", "0"), ("cursor", "x")],
            Err("limit: 0 is out of range; write 1 to 500; \
                 cursor: is not a cursor of this list; leave `cursor` out to begin with the first page"),
        );
    }

    #[test]
    fn tokens_are_chosen_by_user() {
        let query = TokensQuery::read(&[("user", "Ann@Example.com")]).expect("a query");
        assert_eq!(
            query.user.map(|user| user.to_string()).as_deref(),
            Some("ann@example.com")
        );
        let wrong = TokensQuery::read(&[("user", "ann"), ("users", "x")]);
        let wrong = wrong.map_err(|problem| problem.to_string()).unwrap_err();
        assert!(
            wrong.starts_with("users: unknown key; did you mean `user`?; user: expected an address"),
            "{wrong}"
        );
    }
}
