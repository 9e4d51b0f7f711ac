//! `/audit`: administrative changes and refused attempts at them, and how these attempts come on record.
//!
//! Attempts without a valid token are not on record: anyone could fill the disk with them. `/metrics` counts them.

use std::time::Duration;

use gateway::{ApiReply, ApiRequest, RefusedAttempt};
use identity::Identity;
use rest::{AuditQuery, AuditView, Cursor, RestError};
use store::accounts::Moment;
use store::audit::{AuditActor, AuditFilter, AuditRow, RefusedAct};
use store::rate_windows::RateDecision;
use types::TenantId;

use super::errors::unavailable;
use super::export::{self, ListPage};
use super::tokens::bad_cursor;
use super::{GatewayApi, query};

/// Refused attempts of a user that are on record in a window. Further ones are answered with 429.
const MOST_REFUSED: u32 = 60;
const WINDOW: Duration = Duration::from_secs(60);

/// Most characters of a field's name in a detail.
const MAX_FIELD: usize = 40;

impl GatewayApi {
    pub(super) async fn list_audit(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let query = query(request, |pairs| AuditQuery::read(pairs, &request.accept))?;
        let tenant = identity.principal().tenant().clone();
        let (api, format, page) = (self.clone(), query.format, query.page.clone());
        let read = move |page| {
            let (api, tenant) = (api.clone(), tenant.clone());
            let query = AuditQuery {
                page,
                ..query.clone()
            };
            async move { api.audit_page(&tenant, &query).await }
        };
        export::reply(format, page, read).await
    }

    async fn audit_page(
        &self,
        tenant: &TenantId,
        query: &AuditQuery,
    ) -> Result<ListPage<AuditView>, RestError> {
        let cursor = query.page.cursor.as_ref();
        let before = cursor.map(|cursor| cursor.id.parse().map_err(|_| bad_cursor()));
        let filter = AuditFilter {
            actor: query.user.clone(),
            action: query.action.map(|action| action.name().to_owned()),
            from_ms: query.since_ms,
            until_ms: query.until_ms,
            before: before.transpose()?,
            limit: u32::try_from(query.page.limit).unwrap_or(u32::MAX),
        };
        let found = self.parts.tables.audit.list(tenant, &filter).await;
        let found = found.map_err(|trouble| unavailable(&trouble))?;
        let last = found.last().filter(|_| found.len() == query.page.limit);
        Ok(ListPage {
            next: last.map(|row| Cursor {
                at_ms: row.at_ms,
                id: row.sequence.to_string(),
            }),
            entries: found.into_iter().map(audit_view).collect(),
        })
    }

    /// Puts a refused attempt on record.
    pub(super) async fn record_refusal(&self, attempt: RefusedAttempt<'_>) -> Result<(), RestError> {
        let Some(action) = attempt.route.audited().filter(|_| is_recorded(attempt.status)) else {
            return Ok(());
        };
        let principal = attempt.identity.principal();
        self.count_refusal(&format!("refused:{principal}")).await?;
        let parameter = |name: &str| attempt.parameters.get(name).map(String::as_str);
        let object_id: Vec<&str> = ["id", "name", "email"]
            .into_iter()
            .filter_map(parameter)
            .collect();
        let detail = attempt.problem.map(detail).unwrap_or_default();
        let refusal = (attempt.status, detail.as_str());
        let act = RefusedAct::with_status(action, principal.tenant(), &object_id.join("/"), refusal);
        let actor = AuditActor::user(attempt.identity);
        let recorded = self.parts.tables.audit.refused(&actor, act).await;
        recorded.map_err(|trouble| unavailable(&trouble))
    }

    /// Bounds what a user can add to the table by refused attempts, over all processes on the database.
    async fn count_refusal(&self, key: &str) -> Result<(), RestError> {
        let windows = &self.parts.tables.windows;
        match windows.take(key, MOST_REFUSED, WINDOW, Moment::Database).await {
            Ok(RateDecision::Granted) => Ok(()),
            Ok(RateDecision::Until(retry_after)) => Err(RestError::TooManyRequests {
                message: format!(
                    "{MOST_REFUSED} of your changes were refused within a minute; try again later"
                ),
                retry_after,
            }),
            Err(trouble) => Err(unavailable(&trouble)),
        }
    }
}

/// Refusals by load or by a failure, and those of a token that was revoked meanwhile, are no decisions about the caller.
fn is_recorded(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 429)
}

/// What was wrong, without what the caller wrote: a body may hold a secret in the wrong place.
fn detail(problem: &RestError) -> String {
    match problem {
        RestError::Forbidden(permission) => format!("lacks {permission}"),
        RestError::Conflict(text) => text.clone(),
        RestError::Invalid(mistakes) => {
            let fields = mistakes.iter().take(3).map(|mistake| field(&mistake.field));
            let fields: Vec<&str> = fields.collect();
            format!("wrong: {}", fields.join(", "))
        }
        _ => String::new(),
    }
}

/// The name of a field, unless it is a text of the caller's.
fn field(name: &str) -> &str {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte);
    match name.len() <= MAX_FIELD && name.bytes().all(is_name) {
        true => name,
        false => "an unknown key",
    }
}

/// A row as answers and commands show it.
pub fn audit_view(row: AuditRow) -> AuditView {
    AuditView {
        sequence: row.sequence,
        timestamp: rest::time(row.at_ms),
        tenant: row.tenant,
        actor: row.actor,
        token_id: (!row.token.is_empty()).then_some(row.token),
        action: row.action,
        object: row.object,
        object_id: row.object_id,
        outcome: row.outcome,
        detail: row.detail,
        previous: row.previous,
        hash: row.hash,
    }
}
