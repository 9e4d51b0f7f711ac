//! Limits concurrent identifications per token, so that a flood with one token delays only itself.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// Concurrent identifications of one token. Each queries the database, which answers one query at a time.
const MOST: usize = 2;

/// Permits by token. Unused entries are removed.
#[derive(Debug, Default)]
pub(super) struct TokenTurns {
    hasher: RandomState,
    /// By hash, so that no secret stays in memory. Tokens with the same hash share their permits.
    turns: Mutex<HashMap<u64, Weak<Semaphore>>>,
}

// === impl TokenTurns ===

impl TokenTurns {
    /// Identifies a caller, within the token's limit.
    pub(super) async fn in_turn<T>(&self, token: &str, identifying: impl Future<Output = T>) -> T {
        let turns = self.of(token);
        // The semaphore is never closed.
        let _turn = turns.acquire().await.ok();
        identifying.await
    }

    fn of(&self, token: &str) -> Arc<Semaphore> {
        let key = self.hasher.hash_one(token);
        let mut all = self.turns.lock();
        if let Some(turns) = all.get(&key).and_then(Weak::upgrade) {
            return turns;
        }
        all.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(MOST));
        all.insert(key, Arc::downgrade(&turns));
        turns
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_flood_with_one_token_delays_no_other_token() {
        let turns = TokenTurns::default();
        let mut flood: Vec<_> = (0..MOST)
            .map(|_| Box::pin(turns.in_turn("flood", pending::<()>())))
            .collect();
        flood
            .iter_mut()
            .for_each(|one| assert!(one.now_or_never().is_none()));
        assert!(turns.in_turn("flood", async {}).now_or_never().is_none());
        assert!(turns.in_turn("other", async {}).now_or_never().is_some());
        drop(flood);
        assert!(turns.in_turn("flood", async {}).now_or_never().is_some());
        turns.of("third");
        assert_eq!(
            turns.turns.lock().len(),
            1,
            "tokens that nobody waits for are forgotten"
        );
    }
}
