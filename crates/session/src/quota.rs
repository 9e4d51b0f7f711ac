//! Limits on open sessions over several [`Sessions`](crate::Sessions), in total and per principal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::time::Instant;
use types::Principal;

/// A limit that several [`Sessions`](crate::Sessions) share. Cheap to clone.
#[derive(Clone)]
pub struct SessionQuota {
    shared: Arc<SharedQuota>,
}

struct SharedQuota {
    most: usize,
    most_of_principal: usize,
    state: Mutex<QuotaState>,
}

#[derive(Default)]
struct QuotaState {
    open: usize,
    open_of: HashMap<Principal, usize>,
    members: Vec<Weak<dyn QuotaMember>>,
}

/// Sessions under a shared quota. The caller of these methods must not hold the quota's lock.
pub(crate) trait QuotaMember: Send + Sync {
    /// Last use of the least recently used idle session, of one principal if given.
    fn oldest_use(&self, of: Option<&Principal>) -> Option<Instant>;

    /// Ends the least recently used idle session; `false` if no session is idle.
    fn end_oldest(&self, of: Option<&Principal>) -> bool;
}

/// The right to one open session, until the value is dropped.
pub(crate) struct QuotaPlace {
    quota: SessionQuota,
    principal: Principal,
}

/// The exceeded limit, with the number of open sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    OfAll(usize),
    OfPrincipal(usize),
}

// === impl SessionQuota ===

impl SessionQuota {
    /// At most `most` open sessions, and at most `most_of_principal` of one principal.
    pub fn new(most: usize, most_of_principal: usize) -> SessionQuota {
        SessionQuota {
            shared: Arc::new(SharedQuota {
                most,
                most_of_principal,
                state: Mutex::default(),
            }),
        }
    }

    pub(crate) fn add(&self, member: Weak<dyn QuotaMember>) {
        let mut state = self.lock();
        state.members.retain(|member| member.strong_count() > 0);
        state.members.push(member);
    }

    /// A place for one more session of this principal. At the limit, ends the least recently used idle session. The
    /// caller must not hold a table's lock.
    pub(crate) fn place(&self, principal: &Principal) -> Result<QuotaPlace, Full> {
        loop {
            let Err(full) = self.take(principal) else {
                return Ok(QuotaPlace {
                    quota: self.clone(),
                    principal: principal.clone(),
                });
            };
            let of = matches!(full, Full::OfPrincipal(_)).then_some(principal);
            if !self.end_oldest(of) {
                return Err(full);
            }
        }
    }

    fn take(&self, principal: &Principal) -> Result<(), Full> {
        let mut state = self.lock();
        let own = state.open_of.get(principal).copied().unwrap_or_default();
        if own >= self.shared.most_of_principal {
            return Err(Full::OfPrincipal(own));
        }
        if state.open >= self.shared.most {
            return Err(Full::OfAll(state.open));
        }
        state.open += 1;
        state.open_of.insert(principal.clone(), own + 1);
        Ok(())
    }

    /// Ends the least recently used idle session; `false` if all sessions are busy.
    fn end_oldest(&self, of: Option<&Principal>) -> bool {
        // Release the quota's lock before locking a member's table: a holder of a table may return a place.
        let members: Vec<_> = self.lock().members.iter().filter_map(Weak::upgrade).collect();
        let used = members
            .iter()
            .filter_map(|member| Some((member.oldest_use(of)?, member)));
        let oldest = used.min_by_key(|(used, _)| *used);
        oldest.is_some_and(|(_, member)| member.end_oldest(of))
    }

    fn lock(&self) -> MutexGuard<'_, QuotaState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QuotaPlace {
    fn drop(&mut self) {
        let mut state = self.quota.lock();
        state.open -= 1;
        if let Some(own) = state.open_of.get_mut(&self.principal) {
            *own -= 1;
            if *own == 0 {
                state.open_of.remove(&self.principal);
            }
        }
    }
}
