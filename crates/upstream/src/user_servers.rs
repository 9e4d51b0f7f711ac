//! A bounded map from users to their own connections to one server.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;
use types::Principal;

/// Maximum users of one definition. At the limit, the least recently used one is removed.
const MOST_USERS: usize = 1000;

/// The servers of users, by user.
#[derive(Debug)]
pub(crate) struct UserServers<S>(Mutex<HashMap<Principal, UsedServer<S>>>);

#[derive(Debug)]
struct UsedServer<S> {
    server: Arc<S>,
    used: Instant,
}

// === impl UserServers ===

impl<S> UserServers<S> {
    pub(crate) fn new() -> UserServers<S> {
        UserServers(Mutex::default())
    }

    /// The user's server, and the server that was removed to make room.
    pub(crate) fn get_or_make(&self, user: &Principal, make: impl FnOnce() -> S) -> (Arc<S>, Option<Arc<S>>) {
        let mut servers = self.0.lock();
        let now = Instant::now();
        if let Some(known) = servers.get_mut(user) {
            known.used = now;
            return (Arc::clone(&known.server), None);
        }
        let excess = (servers.len() >= MOST_USERS).then(|| {
            let oldest = servers.iter().min_by_key(|(_, known)| known.used);
            oldest.map(|(user, _)| user.clone())
        });
        let ended = excess.flatten().and_then(|user| servers.remove(&user));
        let server = Arc::new(make());
        let used = UsedServer {
            server: Arc::clone(&server),
            used: now,
        };
        servers.insert(user.clone(), used);
        (server, ended.map(|known| known.server))
    }

    pub(crate) fn get(&self, user: &Principal) -> Option<Arc<S>> {
        self.0.lock().get(user).map(|known| Arc::clone(&known.server))
    }

    pub(crate) fn remove(&self, user: &Principal) -> Option<Arc<S>> {
        self.0.lock().remove(user).map(|known| known.server)
    }

    pub(crate) fn users(&self) -> Vec<Principal> {
        self.0.lock().keys().cloned().collect()
    }

    /// Removes the servers of all users.
    pub(crate) fn take_all(&self) -> Vec<Arc<S>> {
        let mut servers = self.0.lock();
        servers.drain().map(|(_, known)| known.server).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn user(number: usize) -> Principal {
        Principal::new("acme", format!("{number}@example.com")).expect("a principal")
    }

    #[tokio::test(start_paused = true)]
    async fn the_user_unused_longest_makes_room() {
        let servers = UserServers::new();
        for number in 0..MOST_USERS {
            let (_, ended) = servers.get_or_make(&user(number), || number);
            assert_eq!(ended, None);
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        // Whoever is there stays, and counts as used again.
        assert_eq!(servers.get_or_make(&user(0), || 7), (Arc::new(0), None));
        tokio::time::advance(Duration::from_millis(1)).await;
        let (made, ended) = servers.get_or_make(&user(MOST_USERS), || MOST_USERS);
        assert_eq!((*made, ended.as_deref()), (MOST_USERS, Some(&1)));
        assert_eq!(servers.users().len(), MOST_USERS);
        assert!(servers.get(&user(0)).is_some() && servers.get(&user(1)).is_none());
    }
}
