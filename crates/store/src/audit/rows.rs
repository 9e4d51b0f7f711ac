//! Appends rows, each in the transaction of its change.

use super::actor::{AuditActor, AuditedChange};
use super::chain::AuditHash;
use super::entry::{AuditRow, clean};
use crate::connection::{Connection, SqlRow, Statement};
use crate::slot::ConnectionSlot;
use crate::work::WorkFault;

impl ConnectionSlot {
    /// Runs a change: `work` begins a transaction, and this function appends the change's row and commits.
    pub(crate) async fn change<T, F: WorkFault>(
        &self,
        actor: &AuditActor,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, F>,
        change: impl FnOnce(&T) -> Option<AuditedChange>,
    ) -> Result<T, F::Error> {
        self.write(async |connection| {
            let done = work(connection).await;
            conclude(connection, actor, done, change).await
        })
        .await
    }
}

/// Ends the transaction of a change. Appends the change's row, unless the change was refused.
/// After a failure the transaction stays open, and the caller closes the connection.
pub(crate) async fn conclude<T, F: WorkFault>(
    connection: &mut Connection,
    actor: &AuditActor,
    done: Result<T, F>,
    change: impl FnOnce(&T) -> Option<AuditedChange>,
) -> Result<T, F> {
    match &done {
        Ok(done) => {
            if let Some(change) = change(done) {
                append(connection, actor, &change, "done").await?;
            }
        }
        Err(fault) if fault.is_refusal() => {}
        Err(_) => return done,
    }
    connection.commit().await?;
    done
}

/// Appends a row within the open transaction.
pub(super) async fn append(
    connection: &mut Connection,
    actor: &AuditActor,
    change: &AuditedChange,
    outcome: &str,
) -> Result<(), sqlx::Error> {
    let head = take_head(connection).await?;
    let mut row = AuditRow {
        sequence: head.get("sequence")?,
        at_ms: head.get("at_ms")?,
        tenant: clean(change.tenant.as_str()),
        actor: clean(&actor.name),
        token: clean(&actor.token),
        action: change.action.name().to_owned(),
        object: change.action.object().to_owned(),
        object_id: clean(&change.object_id),
        outcome: outcome.to_owned(),
        detail: clean(&change.detail),
        previous: head.get("hash")?,
        hash: String::new(),
    };
    row.hash = AuditHash::of(&row).to_string();
    let renewed = Statement::new("UPDATE audit_head SET hash = $1 WHERE one = 1").bind(row.hash.as_str());
    connection.execute(renewed).await?;
    connection.execute(insert(row)).await.map(drop)
}

/// The number of the last row.
pub(super) async fn count(connection: &mut Connection) -> Result<i64, sqlx::Error> {
    let head = Statement::new("SELECT COALESCE(MAX(sequence), 0) AS value FROM audit_head");
    connection.fetch_value(head).await
}

/// Takes the next number. On Postgres, this locks the row until the transaction ends.
async fn take_head(connection: &mut Connection) -> Result<SqlRow, sqlx::Error> {
    let sql = format!(
        "UPDATE audit_head SET sequence = sequence + 1 WHERE one = 1 RETURNING sequence, hash, {} AS at_ms",
        connection.clock()
    );
    if let Some(head) = connection.fetch_optional(Statement::new(sql.clone())).await? {
        return Ok(head);
    }
    let first = "INSERT INTO audit_head (one, sequence, hash) VALUES (1, 0, $1) ON CONFLICT (one) DO NOTHING";
    let first = Statement::new(first).bind(AuditHash::zero().as_str());
    connection.execute(first).await?;
    connection.fetch_one(Statement::new(sql)).await
}

fn insert(row: AuditRow) -> Statement {
    let sql = "INSERT INTO audit (sequence, at_ms, tenant, actor, token, action, object, object_id, outcome, detail, \
         previous, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    Statement::new(sql)
        .bind(row.sequence)
        .bind(row.at_ms)
        .bind(row.tenant)
        .bind(row.actor)
        .bind(row.token)
        .bind(row.action)
        .bind(row.object)
        .bind(row.object_id)
        .bind(row.outcome)
        .bind(row.detail)
        .bind(row.previous)
        .bind(row.hash)
}
