//! Identities and virtual servers that were read lately, so that most requests need no database.
//!
//! Every administrative change, of any process, adds a row to the audit table. What was read before is forgotten when
//! the number of rows has changed, which is asked for at most [`CHANGES_SEEN_AFTER`] before an answer is used.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use identity::{Identity, TokenHash};
use store::accounts::Identified;
use store::{Audit, Trouble};
use types::{ServerId, TenantId, VirtualServer};

/// Longest time until an administrative change by another process takes effect.
pub const CHANGES_SEEN_AFTER: Duration = Duration::from_millis(100);

/// An identity is read again after this time, and the token's use is noted then.
const READ_EVERY: Duration = Duration::from_secs(30);

/// Limits on what is remembered; at a limit all of the kind are forgotten. A server may take some tens of kilobytes.
const MOST_IDENTITIES: usize = 10_000;
const MOST_SERVERS: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Known {
    rows: Mutex<KnownRows>,
    /// Held while the database is asked. Requests that come meanwhile use the same answer, or the same failure.
    asking: tokio::sync::Mutex<Option<FailedCount>>,
}

#[derive(Debug)]
struct FailedCount {
    trouble: Trouble,
    at: Instant,
}

#[derive(Debug, Default)]
struct KnownRows {
    identities: HashMap<TokenHash, KnownIdentity>,
    servers: HashMap<(TenantId, ServerId), Arc<VirtualServer>>,
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
pub(super) struct ForgetAtEnd<'a> {
    known: &'a Known,
    is_armed: bool,
}

// === impl Known ===

impl Known {
    /// Forgets what may have changed. What is read afterwards belongs to the epoch that this returns.
    pub(super) async fn refresh(&self, audit: &Audit) -> Result<Epoch, Trouble> {
        let arrived = Instant::now();
        if let Some(epoch) = self.recent(arrived) {
            return Ok(epoch);
        }
        let mut failure = self.asking.lock().await;
        if let Some(epoch) = self.recent(arrived) {
            return Ok(epoch);
        }
        if let Some(FailedCount { trouble, at }) = &*failure
            && *at >= arrived
        {
            return Err(trouble.clone());
        }
        let asked = Instant::now();
        let counted = audit.count().await;
        *failure = counted.as_ref().err().map(|trouble| FailedCount {
            trouble: trouble.clone(),
            at: Instant::now(),
        });
        Ok(self.lock().refreshed(asked, counted?))
    }

    /// The epoch, if the database has been asked since a moment before this time.
    fn recent(&self, time: Instant) -> Option<Epoch> {
        let rows = self.lock();
        let is_recent = rows.asked? + CHANGES_SEEN_AFTER > time;
        is_recent.then_some(rows.epoch)
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
            insert_bounded(&mut rows.identities, MOST_IDENTITIES, hash, known);
        }
    }

    pub(super) fn server(&self, tenant: &TenantId, id: &ServerId) -> Option<Arc<VirtualServer>> {
        let rows = self.lock();
        rows.servers.get(&(tenant.clone(), id.clone())).cloned()
    }

    pub(super) fn learn_server(&self, epoch: Epoch, server: &Arc<VirtualServer>) {
        let key = (server.tenant.clone(), server.id.clone());
        let mut rows = self.lock();
        if rows.epoch == epoch {
            insert_bounded(&mut rows.servers, MOST_SERVERS, key, Arc::clone(server));
        }
    }

    fn lock(&self) -> MutexGuard<'_, KnownRows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For a request that changes something: whoever is answered later sees the change.
    pub(super) fn forget_at_end(&self) -> ForgetAtEnd<'_> {
        ForgetAtEnd {
            known: self,
            is_armed: true,
        }
    }
}

fn insert_bounded<K: Eq + Hash, V>(rows: &mut HashMap<K, V>, most: usize, key: K, row: V) {
    if rows.len() >= most {
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

impl ForgetAtEnd<'_> {
    /// The request was refused, so nothing has changed.
    pub(super) fn disarm(&mut self) {
        self.is_armed = false;
    }
}

impl Drop for ForgetAtEnd<'_> {
    fn drop(&mut self) {
        if self.is_armed {
            self.known.lock().forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use types::{Principal, ServerKind, ServerSettings, Visibility};

    use super::*;

    fn server() -> Arc<VirtualServer> {
        let owner = Principal::local();
        Arc::new(VirtualServer {
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
        })
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
        known.learn_server(ask(2), &server);
        let mut refused = known.forget_at_end();
        refused.disarm();
        drop(refused);
        assert!(has(), "a refused request changes nothing");
    }

    #[tokio::test]
    async fn the_database_is_asked_when_an_answer_is_old() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = store::Database::from(directory.path().join("records.db"));
        let (known, audit) = (Known::default(), Audit::new(database));
        assert_eq!(known.recent(Instant::now()), None);
        let epoch = known.refresh(&audit).await.expect("an answer");
        assert_eq!(known.recent(Instant::now()), Some(epoch));
        let old = Instant::now().checked_sub(CHANGES_SEEN_AFTER);
        known.lock().asked = old;
        assert_eq!(known.recent(Instant::now()), None);
        assert_eq!(known.refresh(&audit).await, Ok(epoch), "there are no changes");
        assert_eq!(known.recent(Instant::now()), Some(epoch));
    }
}
