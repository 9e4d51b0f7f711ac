//! Identities and virtual servers that were read lately, so that most requests need no database.
//!
//! Every administrative change, of any process, adds a row to the audit table. What was read before is forgotten when
//! the number of rows has changed, which is asked for at most [`CHANGES_SEEN_AFTER`] before an answer is used.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use identity::{Identity, TokenHash};
use store::accounts::Identified;
use store::{Audit, Trouble};
use types::{ServerId, TenantId, VirtualServer};

/// Longest time until an administrative change by another process takes effect.
pub const CHANGES_SEEN_AFTER: Duration = Duration::from_millis(100);

/// An identity is read again after this time, and the token's use is noted then.
const READ_EVERY: Duration = Duration::from_secs(30);

/// Limit on the identities, and on the servers. At the limit all are forgotten.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Known {
    rows: Mutex<KnownRows>,
    /// Held while the database is asked: requests that come meanwhile use the same answer.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct KnownRows {
    identities: HashMap<TokenHash, KnownIdentity>,
    servers: HashMap<(TenantId, ServerId), VirtualServer>,
    /// Rows of the audit table; `None` before the first answer.
    changes: Option<i64>,
    asked: Option<Instant>,
    /// How often everything was forgotten.
    epoch: Epoch,
}

#[derive(Debug)]
struct KnownIdentity {
    identity: Identity,
    until: Instant,
}

/// What was read in an earlier epoch is not remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Epoch(u64);

/// Forgets everything when it is dropped, also if the request was given up half-way.
#[derive(Debug)]
pub(super) struct ForgetAtEnd<'a>(&'a Known);

// === impl Known ===

impl Known {
    /// Forgets what may have changed. What is read afterwards belongs to the epoch that this returns.
    pub(super) async fn refresh(&self, audit: &Audit) -> Result<Epoch, Trouble> {
        if let Some(epoch) = self.recent() {
            return Ok(epoch);
        }
        let _asking = self.asking.lock().await;
        if let Some(epoch) = self.recent() {
            return Ok(epoch);
        }
        let asked = Instant::now();
        let changes = audit.count().await?;
        Ok(self.lock().refreshed(asked, changes))
    }

    fn recent(&self) -> Option<Epoch> {
        let rows = self.lock();
        let asked = rows.asked?;
        (asked.elapsed() < CHANGES_SEEN_AFTER).then_some(rows.epoch)
    }

    pub(super) fn identity(&self, hash: &TokenHash) -> Option<Identity> {
        let rows = self.lock();
        let known = rows.identities.get(hash)?;
        (Instant::now() < known.until).then(|| known.identity.clone())
    }

    /// `read` is the time before the identity was read.
    pub(super) fn learn_identity(
        &self,
        hash: TokenHash,
        (epoch, read): (Epoch, Instant),
        identified: &Identified,
    ) {
        let valid_for = identified.expires_in.unwrap_or(READ_EVERY).min(READ_EVERY);
        let known = KnownIdentity {
            identity: identified.identity.clone(),
            until: read + valid_for,
        };
        let mut rows = self.lock();
        if rows.epoch == epoch {
            insert_bounded(&mut rows.identities, hash, known);
        }
    }

    pub(super) fn server(&self, tenant: &TenantId, id: &ServerId) -> Option<VirtualServer> {
        let rows = self.lock();
        rows.servers.get(&(tenant.clone(), id.clone())).cloned()
    }

    pub(super) fn learn_server(&self, epoch: Epoch, server: &VirtualServer) {
        let key = (server.tenant.clone(), server.id.clone());
        let mut rows = self.lock();
        if rows.epoch == epoch {
            insert_bounded(&mut rows.servers, key, server.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, KnownRows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For a request that changes something: whoever is answered later sees the change.
    pub(super) fn forget_at_end(&self) -> ForgetAtEnd<'_> {
        ForgetAtEnd(self)
    }
}

fn insert_bounded<K: Eq + Hash, V>(rows: &mut HashMap<K, V>, key: K, row: V) {
    if rows.len() >= MOST {
        rows.clear();
    }
    rows.insert(key, row);
}

// === impl KnownRows ===

impl KnownRows {
    fn refreshed(&mut self, asked: Instant, changes: i64) -> Epoch {
        if self.changes != Some(changes) {
            self.forget();
        }
        self.changes = Some(changes);
        self.asked = Some(asked);
        self.epoch
    }

    fn forget(&mut self) {
        self.identities.clear();
        self.servers.clear();
        self.epoch.0 += 1;
    }
}

// === impl ForgetAtEnd ===

impl Drop for ForgetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.lock().forget();
    }
}

#[cfg(test)]
mod tests {
    use types::{Principal, ServerKind, ServerSettings, Visibility};

    use super::*;

    fn server() -> VirtualServer {
        let owner = Principal::local();
        VirtualServer {
            id: ServerId::new("s"),
            tenant: owner.tenant().clone(),
            owner: owner.user().clone(),
            created_ms: 0,
            updated_ms: 0,
            settings: ServerSettings {
                name: "s".to_owned(),
                description: None,
                kind: ServerKind::Standard,
                tags: Vec::new(),
                visibility: Visibility::Public,
                team: None,
                icon: None,
            },
        }
    }

    #[test]
    fn a_change_forgets_what_was_read_and_what_is_being_read() {
        let (known, server) = (Known::default(), server());
        let has = || known.server(&server.tenant, &server.id).is_some();
        let ask = |changes| known.lock().refreshed(Instant::now(), changes);
        let epoch = ask(1);
        known.learn_server(epoch, &server);
        assert!(has());
        assert_eq!(ask(1), epoch);
        assert!(has(), "nothing has changed");
        let next = ask(2);
        assert!(!has(), "another process changed something");
        known.learn_server(epoch, &server);
        assert!(!has(), "it was read before the change");
        known.learn_server(next, &server);
        assert!(has());
        drop(known.forget_at_end());
        assert!(!has(), "this process changed something");
        known.learn_server(next, &server);
        assert!(!has(), "it was read before the change");
    }

    #[tokio::test]
    async fn the_database_is_asked_when_an_answer_is_old() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = store::Database::from(directory.path().join("records.db"));
        let (known, audit) = (Known::default(), Audit::new(database));
        assert_eq!(known.recent(), None);
        let epoch = known.refresh(&audit).await.expect("an answer");
        assert_eq!(known.recent(), Some(epoch));
        let old = Instant::now().checked_sub(CHANGES_SEEN_AFTER);
        known.lock().asked = old;
        assert_eq!(known.recent(), None);
        assert_eq!(known.refresh(&audit).await, Ok(epoch), "there are no changes");
        assert_eq!(known.recent(), Some(epoch));
    }
}
