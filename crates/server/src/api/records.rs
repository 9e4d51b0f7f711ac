//! `/servers/{id}/code`: runs, sessions and security events of a virtual server.
//!
//! Whoever administers the server's team sees those of all users, everybody else their own.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use gateway::{ApiReply, ApiRequest};
use identity::Identity;
use rest::{
    Cursor, EventsQuery, PageRequest, RecordFilter, RestError, RunMetrics, RunStatus, RunView, RunsQuery,
    SecurityEvent, SecurityEventKind, SecurityEventView, SessionView, SessionsQuery, ToolCallView,
};
use session::OpenSession;
use sha2::{Digest as _, Sha256};
use store::EventView;
use store::server_records::{
    RunCall, RunCursor, RunFilter, RunRow, RunUsers, SecurityCursor, SecurityFilter, SecurityKind,
    SecurityRow, ServerRecords,
};
use tokio::time::Instant;
use types::{Principal, ServerId, ToolRef, VirtualServer};

use super::errors::unavailable;
use super::export::{self, ListPage};
use super::servers::id_in;
use super::{GatewayApi, json, now_ms, query};
use crate::host::HostParts;

/// Longest wait for the tools of upstream servers, to count them.
const DISCOVERY: Duration = Duration::from_secs(2);

/// Digits of a session's handle, as in system 0.
const HANDLE: usize = 24;

impl GatewayApi {
    pub(super) async fn list_runs(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        self.code_server(identity, &id_in(request)).await?;
        let query = query(request, |pairs| RunsQuery::read(pairs, &request.accept))?;
        let (api, identity, id) = (self.clone(), identity.clone(), id_in(request));
        let (format, page) = (query.format, query.page.clone());
        let read = move |page| {
            let (api, identity, id) = (api.clone(), identity.clone(), id.clone());
            let query = RunsQuery {
                page,
                ..query.clone()
            };
            async move { api.runs_page(&identity, &id, &query).await }
        };
        export::reply(format, page, read).await
    }

    async fn runs_page(
        &self,
        identity: &Identity,
        id: &ServerId,
        query: &RunsQuery,
    ) -> Result<ListPage<RunView>, RestError> {
        let server = self.code_server(identity, id).await?;
        let Some(users) = users(identity, &server, &query.filter)? else {
            return Ok(ListPage::empty());
        };
        let (limit, before) = page(&query.page);
        let filter = RunFilter {
            users,
            statuses: query.status.map(stored).unwrap_or_default(),
            language: None,
            tool: query.tool.as_deref().map(tool),
            from_ms: since(&server, &query.filter),
            until_ms: query.filter.until_ms,
            before: before.map(|cursor| RunCursor {
                at_ms: cursor.at_ms,
                id: cursor.id,
            }),
            limit,
        };
        let records = self.written_records().await;
        let found = records.runs_of_server(&server.tenant, &server.id, &filter).await;
        let found = found.map_err(|error| unavailable(&error))?;
        let next = found.last().filter(|_| found.len() == query.page.limit);
        Ok(ListPage {
            next: next.map(|row| cursor(row.run.asked_ms, &row.run.id)),
            entries: found.iter().map(|row| run_view(row, &server)).collect(),
        })
    }

    pub(super) async fn list_security_events(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        self.code_server(identity, &id_in(request)).await?;
        let query = query(request, |pairs| EventsQuery::read(pairs, &request.accept))?;
        let (api, identity, id) = (self.clone(), identity.clone(), id_in(request));
        let (format, page) = (query.format, query.page.clone());
        let read = move |page| {
            let (api, identity, id) = (api.clone(), identity.clone(), id.clone());
            let query = EventsQuery {
                page,
                ..query.clone()
            };
            async move { api.events_page(&identity, &id, &query).await }
        };
        export::reply(format, page, read).await
    }

    async fn events_page(
        &self,
        identity: &Identity,
        id: &ServerId,
        query: &EventsQuery,
    ) -> Result<ListPage<SecurityEventView>, RestError> {
        let server = self.code_server(identity, id).await?;
        let Some(users) = users(identity, &server, &query.filter)? else {
            return Ok(ListPage::empty());
        };
        let (limit, before) = page(&query.page);
        let filter = SecurityFilter {
            users,
            kinds: query.event.map(kinds).unwrap_or_default(),
            tool: query.tool.as_deref().map(tool),
            from_ms: since(&server, &query.filter),
            until_ms: query.filter.until_ms,
            before: before.map(|cursor| SecurityCursor {
                at_ms: cursor.at_ms,
                id: cursor.id,
            }),
            limit,
        };
        let records = self.written_records().await;
        let found = records
            .security_events_of_server(&server.tenant, &server.id, &filter)
            .await;
        let found = found.map_err(|error| unavailable(&error))?;
        let next = found.last().filter(|_| found.len() == query.page.limit);
        Ok(ListPage {
            next: next.map(|row| cursor(row.at_ms, &row.id)),
            entries: found.iter().map(|row| event_view(row, &server)).collect(),
        })
    }

    /// The sessions that this process runs; another process on the database lists its own.
    pub(super) async fn list_sessions(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let server = self.code_server(identity, &id_in(request)).await?;
        let query = query(request, SessionsQuery::read)?;
        let hosts = self.parts.live.known(&server.id);
        let Some(users) = users(identity, &server, &query.filter)? else {
            return json(200, &[(); 0]);
        };
        let lists = hosts
            .iter()
            .map(|host| (&host.shared, host.shared.sessions.list()));
        let each = lists.flat_map(|(shared, list)| list.into_iter().map(move |session| (shared, session)));
        let mut sessions: Vec<(&Arc<HostParts>, OpenSession)> = each.collect();
        sessions.retain(|(_, session)| match &users {
            RunUsers::All => session.principal.tenant() == &server.tenant,
            RunUsers::Only(users) => users.contains(&session.principal),
        });
        sessions.sort_by_key(|(_, session)| std::cmp::Reverse(session.used));
        sessions.retain(|(_, session)| is_within(ms_of(session.used), &query.filter));
        sessions.truncate(query.limit);
        let used = hosts.iter().filter(|host| {
            let mut parts = sessions.iter().map(|(parts, _)| parts);
            parts.any(|parts| Arc::ptr_eq(parts, &host.shared))
        });
        join_all(used.map(|host| host.shared.broker.discover(DISCOVERY))).await;
        let mut views = Vec::with_capacity(sessions.len());
        for (shared, session) in &sessions {
            let tools = shared.broker.count_tools(&session.principal).await;
            views.push(session_view(session, &server, tools));
        }
        json(200, &views)
    }

    /// The records, with the rows of runs that have just ended.
    async fn written_records(&self) -> &ServerRecords {
        self.parts.host.shared.records.settle().await;
        &self.parts.tables.records
    }

    /// S0-01: a server that runs programs.
    async fn code_server(&self, identity: &Identity, id: &ServerId) -> Result<VirtualServer, RestError> {
        let found = self.server(identity, id).await;
        let server = found.map_err(|error| match error {
            RestError::NotFound(_) => RestError::no_code_server(),
            other => other,
        })?;
        match server.settings.kind.code() {
            Some(_) if self.parts.settings.enabled => Ok(server),
            _ => Err(RestError::no_code_server()),
        }
    }
}

/// Whose records are shown; `None` for nobody's.
fn users(
    identity: &Identity,
    server: &VirtualServer,
    filter: &RecordFilter,
) -> Result<Option<RunUsers>, RestError> {
    let team = server.settings.team.as_ref();
    if filter
        .team
        .as_deref()
        .is_some_and(|asked| team.is_none_or(|team| team.as_str() != asked))
    {
        return Ok(None);
    }
    let Some(user) = &filter.user else {
        return Ok(Some(match identity.may_see_all_records(&server.tenant, team) {
            true => RunUsers::All,
            false => RunUsers::Only(vec![identity.principal().clone()]),
        }));
    };
    // A text that is no address is no user's.
    let Ok(asked) = identity::user(&server.tenant, user) else {
        return Ok(None);
    };
    let seen = identity.may_see_record(&asked, team);
    Ok(seen.then(|| RunUsers::Only(vec![asked])))
}

fn page(page: &PageRequest) -> (u32, Option<Cursor>) {
    (u32::try_from(page.limit).unwrap_or(u32::MAX), page.cursor.clone())
}

fn cursor(at_ms: i64, id: &str) -> Cursor {
    Cursor {
        at_ms,
        id: id.to_owned(),
    }
}

/// A server that was removed may have had the same id: its records belong to its own users.
fn since(server: &VirtualServer, filter: &RecordFilter) -> Option<i64> {
    Some(
        filter
            .since_ms
            .map_or(server.created_ms, |since| since.max(server.created_ms)),
    )
}

/// `server/tool` or `server.tool`.
fn tool(text: &str) -> ToolRef {
    let parts = text.split_once('/').or_else(|| text.split_once('.'));
    let (server, tool) = parts.unwrap_or(("", text));
    ToolRef::new(server, tool)
}

/// The statuses in the records that a status in answers stands for.
fn stored(status: RunStatus) -> Vec<String> {
    let words: &[&str] = match status {
        RunStatus::Running => &["running"],
        RunStatus::Completed => &["completed"],
        RunStatus::TimedOut => &["timed_out"],
        RunStatus::Blocked => &["refused"],
        RunStatus::Failed => &["failed", "limit_exceeded", "cancelled", "interrupted"],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn shown(status: &str) -> RunStatus {
    let found = RunStatus::ALL
        .into_iter()
        .find(|known| stored(*known).iter().any(|word| word == status));
    found.unwrap_or(RunStatus::Failed)
}

fn kinds(kind: SecurityEventKind) -> Vec<SecurityKind> {
    match kind {
        SecurityEventKind::PolicyBlock => vec![SecurityKind::RunRefused, SecurityKind::FileDenied],
        SecurityEventKind::ToolCallBlocked => vec![SecurityKind::CallDenied],
        SecurityEventKind::ToolCallError => vec![SecurityKind::CallFailed],
    }
}

fn kind(of: SecurityKind) -> SecurityEventKind {
    match of {
        SecurityKind::RunRefused | SecurityKind::FileDenied => SecurityEventKind::PolicyBlock,
        SecurityKind::CallDenied => SecurityEventKind::ToolCallBlocked,
        SecurityKind::CallFailed => SecurityEventKind::ToolCallError,
    }
}

fn run_view(row: &RunRow, server: &VirtualServer) -> RunView {
    let run = &row.run;
    let principal: Option<Principal> = run.principal.parse().ok();
    let email = principal
        .as_ref()
        .map_or("", |principal| principal.user().as_str());
    let language = run.language.clone().unwrap_or_default();
    let code_hash = run.code_hash.clone().unwrap_or_default();
    let begun = run.waited_us.map(|waited| run.asked_ms + waited / 1000);
    let calls = row.calls.iter().map(call_view).collect();
    let blocked = row.calls.iter().filter_map(call_event);
    let events = blocked.chain(row.events.iter().filter_map(run_event)).collect();
    RunView {
        id: run.id.clone(),
        server_id: server.id.to_string(),
        session_id: run
            .session
            .as_deref()
            .map(|name| handle(server, email, &language, name)),
        user_email: email.to_owned(),
        client: run.client.clone(),
        status: shown(&run.status),
        metrics: run.ended_ms.map(|_| metrics(row, &code_hash)),
        tool_calls_made: calls,
        security_events: events,
        created_at: rest::time(run.asked_ms),
        started_at: begun.map(rest::time),
        finished_at: run.ended_ms.map(rest::time),
        language,
        code_hash,
    }
}

fn metrics(row: &RunRow, code_hash: &str) -> RunMetrics {
    let (run, totals) = (&row.run, &row.totals);
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    let ms = |us: i64| count(us / 1000);
    #[expect(clippy::cast_precision_loss, reason = "a run has few calls")]
    let error_rate = match totals.calls {
        0 => 0.0,
        calls => totals.failed as f64 / calls as f64,
    };
    RunMetrics {
        run_id: run.id.clone(),
        code_hash: code_hash.to_owned(),
        wall_time_ms: ms(run.duration_us.unwrap_or_default()),
        cpu_time_ms: run.cpu_us.map(ms),
        tool_call_count: count(totals.calls),
        tool_latency_p50_ms: ms(totals.p50_us),
        tool_latency_p95_ms: ms(totals.p95_us),
        tool_latency_p99_ms: ms(totals.p99_us),
        error_rate,
        bytes_written: count(run.stdout_bytes.unwrap_or_default()),
        bytes_error: count(run.stderr_bytes.unwrap_or_default()),
    }
}

fn call_view(call: &RunCall) -> ToolCallView {
    ToolCallView {
        name: name(&call.tool),
        started_at: rest::time(call.begun_ms),
        latency_ms: u64::try_from(call.duration_us / 1000).unwrap_or_default(),
        success: call.is_success(),
        error: (!call.is_success()).then(|| call.outcome.clone()),
    }
}

fn name(tool: &ToolRef) -> String {
    format!("{}/{}", tool.server, tool.tool)
}

/// A denied or failed call as an event.
fn call_event(call: &RunCall) -> Option<SecurityEvent> {
    if call.is_success() || call.outcome == "cancelled" {
        return None;
    }
    let (event, message) = match call.outcome.as_str() {
        "denied" => (SecurityEventKind::ToolCallBlocked, denied(&call.tool)),
        outcome => (SecurityEventKind::ToolCallError, failed(&call.tool, outcome)),
    };
    Some(SecurityEvent {
        event,
        message,
        tool: Some(name(&call.tool)),
        timestamp: rest::time(call.begun_ms),
    })
}

fn run_event(event: &EventView) -> Option<SecurityEvent> {
    matches!(event.kind.as_str(), store::RUN_REFUSED | store::FILE_DENIED).then(|| SecurityEvent {
        event: SecurityEventKind::PolicyBlock,
        message: refusal(&event.detail),
        tool: None,
        timestamp: rest::time(event.at_ms),
    })
}

fn event_view(row: &SecurityRow, server: &VirtualServer) -> SecurityEventView {
    let message = match (row.kind, &row.tool) {
        (SecurityKind::CallDenied, Some(tool)) => denied(tool),
        (SecurityKind::CallFailed, Some(tool)) => failed(tool, &row.detail),
        _ => refusal(&row.detail),
    };
    SecurityEventView {
        event: kind(row.kind),
        message,
        tool: row.tool.as_ref().map(name),
        timestamp: rest::time(row.at_ms),
        run_id: row.run.clone(),
        server_id: server.id.to_string(),
        run_status: shown(&row.run_status),
        created_at: rest::time(row.asked_ms),
    }
}

fn denied(tool: &ToolRef) -> String {
    format!("EACCES: tool '{}' is denied by policy", name(tool))
}

/// S0-90: the word in a refused run's record, as the client was told.
fn refusal(detail: &str) -> String {
    match detail {
        "rate_limit" => "Rate limit exceeded".to_owned(),
        "cpu_quota" => "CPU quota exceeded".to_owned(),
        other => other.to_owned(),
    }
}

fn failed(tool: &ToolRef, outcome: &str) -> String {
    format!("tool '{}' failed: {outcome}", name(tool))
}

/// Milliseconds since 1970.
fn ms_of(instant: Instant) -> i64 {
    let ago = i64::try_from(Duration::as_millis(&instant.elapsed())).unwrap_or_default();
    now_ms() - ago
}

fn is_within(ms: i64, filter: &RecordFilter) -> bool {
    filter.since_ms.is_none_or(|since| ms >= since) && filter.until_ms.is_none_or(|until| ms < until)
}

fn session_view(session: &OpenSession, server: &VirtualServer, tools: usize) -> SessionView {
    let email = session.principal.user().as_str();
    let at = |instant: Instant| rest::time(ms_of(instant));
    SessionView {
        session_id: handle(server, email, session.language.name(), session.session.as_str()),
        server_id: server.id.to_string(),
        user_email: email.to_owned(),
        language: session.language.name().to_owned(),
        created_at: at(session.opened),
        last_used_at: at(session.used),
        generated_at: at(session.opened),
        tool_count: tools as u64,
        skill_count: 0,
    }
}

/// S0-53: a session's handle in lists, from server, user and language, and from the name unless it is the usual one.
/// It grants nothing.
fn handle(server: &VirtualServer, email: &str, language: &str, name: &str) -> String {
    let mut text = format!("{}:{email}:{language}", server.id);
    if name != session::default_name().as_str() {
        text.push(':');
        text.push_str(name);
    }
    let mut digits = hex::encode(Sha256::digest(text.as_bytes()));
    digits.truncate(HANDLE);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_in_answers_stands_for_statuses_in_the_records() {
        for status in RunStatus::ALL {
            for word in stored(status) {
                assert_eq!(shown(&word), status, "{word}");
            }
        }
        assert_eq!(shown("something new"), RunStatus::Failed);
    }

    #[test]
    fn tools_are_named_as_in_answers_and_as_in_programs() {
        assert_eq!(tool("stub/add"), ToolRef::new("stub", "add"));
        assert_eq!(tool("stub.add"), ToolRef::new("stub", "add"));
        assert_eq!(tool("a.b/c"), ToolRef::new("a.b", "c"));
    }
}
