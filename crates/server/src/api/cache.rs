//! Caches identities and virtual servers, so that most requests read no row of the database.
//!
//! Every administrative change, by any process, adds a row to the audit table. The cache is emptied when the number of
//! audit rows has changed. A request uses cached values only if that number was read within [`CHANGES_SEEN_AFTER`].

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

/// Identities expire from the cache after this time. Reading one again notes the token's use.
const IDENTITY_TTL: Duration = Duration::from_secs(30);

/// Most entries of each kind; a full map is emptied. A server may take some tens of kilobytes.
const MAX_IDENTITIES: usize = 10_000;
const MAX_SERVERS: usize = 500;

#[derive(Debug, Default)]
pub(super) struct GatewayCache {
    entries: Mutex<CacheEntries>,
    /// Held while the audit rows are counted. Requests that wait for the lock share the count, or its failure.
    counting: tokio::sync::Mutex<Option<FailedCount>>,
}

#[derive(Debug)]
struct FailedCount {
    trouble: Trouble,
    at: Instant,
}

#[derive(Debug, Default)]
struct CacheEntries {
    identities: HashMap<TokenHash, CachedIdentity>,
    servers: HashMap<(TenantId, ServerId), Arc<VirtualServer>>,
    /// `None` before the first count.
    audit_rows: Option<i64>,
    /// When the last successful count began.
    counted_at: Option<Instant>,
    generation: Generation,
}

#[derive(Debug)]
struct CachedIdentity {
    identity: Identity,
    expires_at: Instant,
}

/// Changes each time the cache is emptied. The cache does not take values that were read in an earlier generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Generation(u64);

/// Empties the cache on drop, also if the request is cancelled half-way.
#[derive(Debug)]
pub(super) struct EmptyOnDrop<'a> {
    cache: &'a GatewayCache,
    is_armed: bool,
}

// === impl GatewayCache ===

impl GatewayCache {
    /// Empties the cache if there are new audit rows. Returns the generation of values that are read from now on.
    pub(super) async fn refresh(&self, audit: &Audit) -> Result<Generation, Trouble> {
        let arrived = Instant::now();
        if let Some(generation) = self.fresh_at(arrived) {
            return Ok(generation);
        }
        let mut failure = self.counting.lock().await;
        if let Some(generation) = self.fresh_at(arrived) {
            return Ok(generation);
        }
        if let Some(FailedCount { trouble, at }) = &*failure
            && *at >= arrived
        {
            return Err(trouble.clone());
        }
        let begun = Instant::now();
        let counted = audit.count().await;
        *failure = counted.as_ref().err().map(|trouble| FailedCount {
            trouble: trouble.clone(),
            at: Instant::now(),
        });
        Ok(self.lock().count(begun, counted?))
    }

    /// The generation, if the last count is at most [`CHANGES_SEEN_AFTER`] older than this time.
    fn fresh_at(&self, time: Instant) -> Option<Generation> {
        let entries = self.lock();
        let is_fresh = entries.counted_at? + CHANGES_SEEN_AFTER > time;
        is_fresh.then_some(entries.generation)
    }

    pub(super) fn identity(&self, hash: &TokenHash) -> Option<Identity> {
        let entries = self.lock();
        let cached = entries.identities.get(hash)?;
        (Instant::now() < cached.expires_at).then(|| cached.identity.clone())
    }

    /// `read_at` is the time before the identity was read.
    pub(super) fn add_identity(
        &self,
        hash: TokenHash,
        (generation, read_at): (Generation, Instant),
        identified: &Identified,
    ) {
        let valid_for = identified.expires_in.unwrap_or(IDENTITY_TTL).min(IDENTITY_TTL);
        let cached = CachedIdentity {
            identity: identified.identity.clone(),
            expires_at: read_at + valid_for,
        };
        let mut entries = self.lock();
        if entries.generation == generation {
            insert_bounded(&mut entries.identities, MAX_IDENTITIES, hash, cached);
        }
    }

    pub(super) fn server(&self, tenant: &TenantId, id: &ServerId) -> Option<Arc<VirtualServer>> {
        let entries = self.lock();
        entries.servers.get(&(tenant.clone(), id.clone())).cloned()
    }

    pub(super) fn add_server(&self, generation: Generation, server: &Arc<VirtualServer>) {
        let key = (server.tenant.clone(), server.id.clone());
        let mut entries = self.lock();
        if entries.generation == generation {
            insert_bounded(&mut entries.servers, MAX_SERVERS, key, Arc::clone(server));
        }
    }

    fn lock(&self) -> MutexGuard<'_, CacheEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request that changes something holds the guard, so that every request after its answer sees the change.
    pub(super) fn empty_on_drop(&self) -> EmptyOnDrop<'_> {
        EmptyOnDrop {
            cache: self,
            is_armed: true,
        }
    }
}

fn insert_bounded<K: Eq + Hash, V>(entries: &mut HashMap<K, V>, max: usize, key: K, value: V) {
    if entries.len() >= max {
        entries.clear();
    }
    entries.insert(key, value);
}

// === impl CacheEntries ===

impl CacheEntries {
    fn count(&mut self, begun: Instant, audit_rows: i64) -> Generation {
        if self.audit_rows != Some(audit_rows) {
            self.empty();
        }
        self.audit_rows = Some(audit_rows);
        self.counted_at = Some(begun);
        self.generation
    }

    fn empty(&mut self) {
        self.identities.clear();
        self.servers.clear();
        self.generation.0 += 1;
    }
}

// === impl EmptyOnDrop ===

impl EmptyOnDrop<'_> {
    /// Keeps the cache: the request was refused and changed nothing.
    pub(super) fn disarm(&mut self) {
        self.is_armed = false;
    }
}

impl Drop for EmptyOnDrop<'_> {
    fn drop(&mut self) {
        if self.is_armed {
            self.cache.lock().empty();
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
    fn a_change_empties_the_cache_and_excludes_what_was_read_before_it() {
        let (cache, server) = (GatewayCache::default(), server());
        let has = || cache.server(&server.tenant, &server.id).is_some();
        let count = |rows| cache.lock().count(Instant::now(), rows);
        let generation = count(1);
        cache.add_server(generation, &server);
        assert!(has());
        assert_eq!(count(1), generation);
        assert!(has(), "nothing has changed");
        let next = count(2);
        assert!(!has(), "another process changed something");
        cache.add_server(generation, &server);
        assert!(!has(), "the server was read before the change");
        cache.add_server(next, &server);
        assert!(has());
        drop(cache.empty_on_drop());
        assert!(!has(), "this process changed something");
        cache.add_server(next, &server);
        assert!(!has(), "the server was read before the change");
        cache.add_server(count(2), &server);
        let mut refused = cache.empty_on_drop();
        refused.disarm();
        drop(refused);
        assert!(has(), "a refused request changes nothing");
    }

    #[tokio::test]
    async fn audit_rows_are_counted_again_when_the_count_is_old() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = store::Database::from(directory.path().join("records.db"));
        let (cache, audit) = (GatewayCache::default(), Audit::new(database));
        assert_eq!(cache.fresh_at(Instant::now()), None);
        let generation = cache.refresh(&audit).await.expect("a generation");
        assert_eq!(cache.fresh_at(Instant::now()), Some(generation));
        let old = Instant::now().checked_sub(CHANGES_SEEN_AFTER);
        cache.lock().counted_at = old;
        assert_eq!(cache.fresh_at(Instant::now()), None);
        assert_eq!(
            cache.refresh(&audit).await,
            Ok(generation),
            "there are no new audit rows"
        );
        assert_eq!(cache.fresh_at(Instant::now()), Some(generation));
    }
}
