//! Verifies the chain in the database, page by page.

use std::str::FromStr;

use super::chain::{AuditHash, BadLink, Walk};
use super::entry::AuditRow;
use crate::connection::{Connection, SqlRow, Statement};
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

/// Rows per query.
const PAGE: i64 = 1000;

/// A valid chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedChain {
    /// Number of rows, which equals the last row's sequence number.
    pub rows: i64,
    /// Hash of the last row; 64 zeros without rows.
    pub head: AuditHash,
}

/// A head that an operator noted: `SEQUENCE:HASH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditExpectation {
    sequence: i64,
    hash: AuditHash,
}

/// Why a chain was not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] Trouble),
    /// The chain is broken.
    #[error(transparent)]
    Broken(#[from] BadChain),
}

/// Where a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadChain {
    /// The first bad row.
    #[error("row {sequence} {why}")]
    Row {
        /// The row's sequence number, or the expected number.
        sequence: i64,
        /// The defect.
        why: BadLink,
    },
    /// The chain ends before the noted head, or before the newest row according to the database.
    #[error("the chain ends with row {last}, but had {noted} rows: rows were removed from its end")]
    CutOff {
        /// Sequence number of the last row.
        last: i64,
        /// Sequence number of the noted row.
        noted: i64,
    },
    /// The row's hash differs from the noted hash.
    #[error("the hash of row {0} differs from the noted hash: the chain was rewritten")]
    Rewritten(i64),
    /// A row has a number below 1, or above the newest row's number in `audit_head`.
    #[error("row {0} is outside of the chain: it was inserted, or the note of the newest row was changed")]
    Surplus(i64),
}

/// The newest row according to `audit_head`, read in one snapshot.
#[derive(Debug)]
struct Head {
    sequence: i64,
    /// `None` without rows, or if the row of `audit_head` was removed.
    hash: Option<String>,
    /// The smallest and the largest sequence number of the table.
    first: i64,
    last: i64,
}

pub(super) async fn run(
    slot: &ConnectionSlot,
    expected: Option<&AuditExpectation>,
) -> Result<VerifiedChain, VerifyError> {
    let head = slot
        .read(async |connection| head(connection).await.map(Some))
        .await?;
    let head = head.unwrap_or_else(Head::none);
    let mut walk = Walk::start();
    while walk.sequence < head.sequence {
        let after = walk.sequence;
        let page = slot
            .read(async |connection| page(connection, after, head.sequence).await)
            .await?;
        if page.is_empty() {
            break;
        }
        for row in &page {
            go_on(&mut walk, row)?;
            if let Some(expected) = expected.filter(|expected| expected.sequence == walk.sequence) {
                expected.check(&walk)?;
            }
        }
    }
    conclude(&walk, &head)?;
    match expected {
        Some(expected) if expected.sequence > walk.sequence => Err(BadChain::CutOff {
            last: walk.sequence,
            noted: expected.sequence,
        }
        .into()),
        _ => Ok(VerifiedChain {
            rows: walk.sequence,
            head: walk.hash,
        }),
    }
}

async fn head(connection: &mut Connection) -> Result<Head, sqlx::Error> {
    let sql = "SELECT coalesce((SELECT sequence FROM audit_head), 0) AS sequence, \
         (SELECT hash FROM audit_head) AS hash, coalesce((SELECT min(sequence) FROM audit), 1) AS first, \
         coalesce((SELECT max(sequence) FROM audit), 0) AS last";
    let row = connection.fetch_one(Statement::new(sql)).await?;
    Ok(Head {
        sequence: row.get("sequence")?,
        hash: row.get("hash")?,
        first: row.get("first")?,
        last: row.get("last")?,
    })
}

async fn page(connection: &mut Connection, after: i64, last: i64) -> Result<Vec<SqlRow>, sqlx::Error> {
    let sql = "SELECT * FROM audit WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3";
    let rows = Statement::new(sql).bind(after).bind(last).bind(PAGE);
    connection.fetch_all(rows).await
}

fn go_on(walk: &mut Walk, row: &SqlRow) -> Result<(), BadChain> {
    let bad = |(sequence, why)| BadChain::Row { sequence, why };
    let unreadable = (walk.sequence + 1, BadLink::Unreadable);
    let row = AuditRow::read(row).map_err(|_| bad(unreadable))?;
    walk.step(&row).map_err(bad)
}

/// Compares the end of the walk with the newest row according to `audit_head`.
fn conclude(walk: &Walk, head: &Head) -> Result<(), BadChain> {
    if head.first < 1 {
        return Err(BadChain::Surplus(head.first));
    }
    if head.last > head.sequence {
        return Err(BadChain::Surplus(head.sequence + 1));
    }
    if walk.sequence < head.sequence {
        return Err(BadChain::CutOff {
            last: walk.sequence,
            noted: head.sequence,
        });
    }
    match &head.hash {
        Some(hash) if hash != walk.hash.as_str() => Err(BadChain::Rewritten(walk.sequence)),
        _ => Ok(()),
    }
}

// === impl Head ===

impl Head {
    /// The head of a database without the table.
    fn none() -> Head {
        Head {
            sequence: 0,
            hash: None,
            first: 1,
            last: 0,
        }
    }
}

// === impl AuditExpectation ===

impl AuditExpectation {
    fn check(&self, walk: &Walk) -> Result<(), BadChain> {
        match self.hash == walk.hash {
            true => Ok(()),
            false => Err(BadChain::Rewritten(walk.sequence)),
        }
    }
}

impl FromStr for AuditExpectation {
    type Err = String;

    fn from_str(text: &str) -> Result<AuditExpectation, String> {
        let form = || "expected SEQUENCE:HASH, as `codeyard audit verify` prints it".to_owned();
        let (sequence, hash) = text.split_once(':').ok_or_else(form)?;
        let sequence: i64 = sequence.parse().map_err(|_| form())?;
        if sequence < 1 {
            return Err(form());
        }
        let hash = hash.parse().map_err(|why| format!("{}: {why}", form()))?;
        Ok(AuditExpectation { sequence, hash })
    }
}
