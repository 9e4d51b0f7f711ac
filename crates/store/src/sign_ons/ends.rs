//! Carries out an issuer's report that somebody has signed out.

use super::state::{SignOut, SignedOut};
use crate::accounts::AccountFault;
use crate::connection::{Connection, Statement};
use crate::logins::LOGIN_TABLES;

/// Reports are kept this long, in milliseconds: the longest life of a token that is accepted.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// The sign-ons of a report, as a condition: by session, else by subject up to the report's time.
const ENDED: &str = "issuer = $1 AND ((session <> '' AND session = $3 AND ($2 = '' OR subject = $2)) \
     OR (subject = $2 AND issued_ms <= $4 AND (session = '' OR $3 = '')))";

/// Begins a transaction and leaves it open for the row of the audit table.
pub(super) async fn end(connection: &mut Connection, report: SignOut<'_>) -> Result<SignedOut, AccountFault> {
    begin(connection, report.issuer).await?;
    if !is_new(connection, report).await? {
        return Ok(SignedOut::Repeated);
    }
    let now = connection.clock();
    let old = Statement::new(format!(
        "DELETE FROM sign_outs WHERE issued_ms < {now} - {KEPT_MS}"
    ));
    connection.execute(old).await?;
    let sql = "INSERT INTO sign_outs (issuer, subject, session, issued_ms) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (issuer, subject, session) DO UPDATE SET issued_ms = excluded.issued_ms \
         WHERE sign_outs.issued_ms < excluded.issued_ms";
    connection.execute(of(sql.to_owned(), report)).await?;
    // Comes first: on Postgres it waits for transactions that make a token with one of these sign-ons.
    let end = format!("UPDATE sign_ons SET ended_ms = {now} WHERE ended_ms IS NULL AND {ENDED}");
    let sign_ons = connection.execute(of(end, report)).await?;
    for table in LOGIN_TABLES {
        let logins = format!(
            "DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM sign_ons WHERE sign_ons.tenant = {table}.tenant \
             AND sign_ons.email = {table}.email AND {ENDED})"
        );
        connection.execute(of(logins, report)).await?;
    }
    // What an administrator made for somebody else stays.
    let revoke = format!(
        "WITH RECURSIVE family (tenant, email, id) AS (\
         SELECT tokens.tenant, tokens.email, tokens.id FROM tokens JOIN sign_ons ON tokens.made_by = sign_ons.id \
         AND tokens.tenant = sign_ons.tenant AND tokens.email = sign_ons.email WHERE {ENDED} \
         UNION SELECT tokens.tenant, tokens.email, tokens.id FROM tokens JOIN family ON tokens.made_by = family.id \
         AND tokens.tenant = family.tenant AND tokens.email = family.email) \
         UPDATE tokens SET revoked_ms = {now} WHERE revoked_ms IS NULL AND id IN (SELECT id FROM family)"
    );
    let tokens = connection.execute(of(revoke, report)).await?;
    Ok(SignedOut::Ended { sign_ons, tokens })
}

/// Begins a transaction during which no other process notes tokens or reports of this issuer.
pub(super) async fn begin(connection: &mut Connection, issuer: &str) -> Result<(), sqlx::Error> {
    connection
        .begin_alone(&format!("codeyard: sign-outs {issuer}"))
        .await
}

/// Notes the report; `false` if it came before.
async fn is_new(connection: &mut Connection, report: SignOut<'_>) -> Result<bool, sqlx::Error> {
    let now = connection.clock();
    let old = Statement::new(format!("DELETE FROM sign_out_reports WHERE until_ms < {now}"));
    connection.execute(old).await?;
    let sql = "INSERT INTO sign_out_reports (issuer, id, until_ms) VALUES ($1, $2, $3) \
         ON CONFLICT (issuer, id) DO NOTHING";
    let insert = Statement::new(sql)
        .bind(report.issuer)
        .bind(report.id)
        .bind(report.until_ms);
    Ok(connection.execute(insert).await? > 0)
}

fn of(sql: String, report: SignOut<'_>) -> Statement {
    Statement::new(sql)
        .bind(report.issuer)
        .bind(report.subject.unwrap_or_default())
        .bind(report.session.unwrap_or_default())
        .bind(report.issued_ms)
}
