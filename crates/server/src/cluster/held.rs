//! The leases that a process has, and how long it may rely on them: no I/O, no clock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use store::session_leases::{GatewayProcess, LeaseKey};
use tokio::time::Instant;
use types::{Language, SessionName};

/// How long the cached holder of a lease is used without asking the database. A process refuses sessions that it does
/// not hold, so a stale entry costs one retry.
const SEEN: Duration = Duration::from_secs(1);

/// Maximum cached leases of other processes.
const MOST_SEEN: usize = 10_000;

/// Sessions of a lease whose loss would be reported.
const MOST_NOTED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct HeldLeases {
    /// Until then no other process takes a lease over.
    until: Option<Instant>,
    leases: HashMap<LeaseKey, HeldLease>,
    /// The holder of each lease in the last answer of the database, and when the database was asked.
    seen: HashMap<LeaseKey, (GatewayProcess, Instant)>,
}

#[derive(Debug)]
struct HeldLease {
    taken: Instant,
    used: Instant,
    /// Sessions that the database knows, the newest last; at most [`MOST_NOTED`].
    noted: VecDeque<(Language, SessionName)>,
}

/// A session that the database does not know yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NewNote {
    Further,
    /// The database forgets this one, whose loss would not be reported.
    InPlaceOf(Language, SessionName),
}

// === impl HeldLeases ===

impl HeldLeases {
    /// A renewal that began at this time has reached the database, which listed the leases that are kept. Returns those
    /// that are lost. One that was taken meanwhile may not be in the list.
    pub(super) fn renewed(&mut self, begun: Instant, lease: Duration, kept: &[LeaseKey]) -> Vec<LeaseKey> {
        self.until = Some(begun + lease);
        let kept: HashSet<&LeaseKey> = kept.iter().collect();
        let lost = self
            .leases
            .extract_if(|key, lease| lease.taken < begun && !kept.contains(key));
        lost.map(|(key, _)| key).collect()
    }

    pub(super) fn is_renewed(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// Whether the lease is held; a request uses it.
    pub(super) fn find(&mut self, key: &LeaseKey, now: Instant) -> bool {
        let held = self.leases.get_mut(key);
        held.map(|lease| lease.used = now).is_some()
    }

    pub(super) fn took(&mut self, key: &LeaseKey, now: Instant) {
        let lease = self.leases.entry(key.clone()).or_insert_with(|| HeldLease {
            taken: now,
            used: now,
            noted: VecDeque::new(),
        });
        lease.used = now;
        self.seen.remove(key);
    }

    /// Caches that another process held the lease when the database was asked.
    pub(super) fn saw(&mut self, key: &LeaseKey, process: &GatewayProcess, asked: Instant) {
        if self.seen.len() >= MOST_SEEN {
            self.seen
                .retain(|_, (_, seen)| asked.saturating_duration_since(*seen) < SEEN);
        }
        if self.seen.len() < MOST_SEEN {
            self.seen.insert(key.clone(), (process.clone(), asked));
        }
    }

    /// The cached holder; `None` if the entry is older than [`SEEN`].
    pub(super) fn seen_elsewhere(&self, key: &LeaseKey, now: Instant) -> Option<GatewayProcess> {
        let (process, seen) = self.seen.get(key)?;
        (now.saturating_duration_since(*seen) < SEEN).then(|| process.clone())
    }

    /// Notes a session of a held lease; `None` if it is noted already, or the lease is not held.
    pub(super) fn note(&mut self, key: &LeaseKey, language: Language, name: &SessionName) -> Option<NewNote> {
        let noted = &mut self.leases.get_mut(key)?.noted;
        let session = (language, name.clone());
        if noted.contains(&session) {
            return None;
        }
        noted.push_back(session);
        if noted.len() <= MOST_NOTED {
            return Some(NewNote::Further);
        }
        let (language, name) = noted.pop_front()?;
        Some(NewNote::InPlaceOf(language, name))
    }

    /// The database does not know the session, so its next run notes it again.
    pub(super) fn forget(&mut self, key: &LeaseKey, language: Language, name: &SessionName) {
        if let Some(lease) = self.leases.get_mut(key) {
            lease
                .noted
                .retain(|(known, session)| *known != language || session != name);
        }
    }

    /// Removes one lease that was not used for this time and has no sessions.
    pub(super) fn take_unused(
        &mut self,
        now: Instant,
        time: Duration,
        has_sessions: impl Fn(&LeaseKey) -> bool,
    ) -> Option<LeaseKey> {
        let mut unused = self
            .leases
            .iter()
            .filter(|(key, lease)| now.duration_since(lease.used) >= time && !has_sessions(key));
        let key = unused.next().map(|(key, _)| key.clone())?;
        self.leases.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use types::{Principal, ServerId};

    use super::*;

    const LEASE: Duration = Duration::from_secs(6);

    #[tokio::test]
    async fn other_processes_are_remembered_for_a_moment() {
        let (mut held, start) = (HeldLeases::default(), Instant::now());
        let process = GatewayProcess {
            id: "p".to_owned(),
            url: "http://one.example.com".to_owned(),
        };
        assert_eq!(held.seen_elsewhere(&key(1), start), None);
        held.saw(&key(1), &process, start);
        let soon = start + SEEN / 2;
        assert_eq!(held.seen_elsewhere(&key(1), soon), Some(process.clone()));
        assert_eq!(held.seen_elsewhere(&key(1), start + SEEN), None);
        held.saw(&key(1), &process, soon);
        held.took(&key(1), soon);
        assert_eq!(held.seen_elsewhere(&key(1), soon), None);
    }

    fn key(number: u8) -> LeaseKey {
        LeaseKey {
            server: ServerId::new(format!("s{number}")),
            principal: Principal::local(),
        }
    }

    fn after(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test]
    async fn leases_hold_while_the_process_is_renewed() {
        let (mut held, start) = (HeldLeases::default(), Instant::now());
        assert!(!held.is_renewed(start));
        assert!(held.renewed(start, LEASE, &[]).is_empty());
        assert!(held.is_renewed(start + after(5)) && !held.is_renewed(start + after(6)));
        assert!(!held.find(&key(1), start));
        held.took(&key(1), start);
        assert!(held.find(&key(1), start));
        let name = SessionName::new("default");
        let mut note = |number| held.note(&key(number), Language::Python, &name);
        assert_eq!(note(1), Some(NewNote::Further));
        assert_eq!(note(1), None);
        assert_eq!(note(2), None, "it is not held");
        held.forget(&key(1), Language::Python, &name);
        assert_eq!(
            held.note(&key(1), Language::Python, &name),
            Some(NewNote::Further)
        );
        // Taken while the renewal was under way.
        held.took(&key(2), start + after(1));
        assert!(held.renewed(start + after(1), LEASE, &[key(1)]).is_empty());
        assert_eq!(held.renewed(start + after(2), LEASE, &[key(1)]), [key(2)]);
        assert!(held.find(&key(1), start + after(2)) && !held.find(&key(2), start));
    }

    #[tokio::test]
    async fn an_unused_lease_without_sessions_is_given_back() {
        let (mut held, start) = (HeldLeases::default(), Instant::now());
        for number in 1..=3 {
            held.took(&key(number), start);
        }
        held.find(&key(3), start + after(1));
        let mut unused = || held.take_unused(start + after(60), after(60), |asked| *asked == key(2));
        assert_eq!((unused(), unused()), (Some(key(1)), None));
        assert!(held.find(&key(2), start) && held.find(&key(3), start));
    }

    #[tokio::test]
    async fn the_notes_of_a_lease_are_bounded() {
        let (mut held, start) = (HeldLeases::default(), Instant::now());
        held.took(&key(1), start);
        let name = |number: usize| SessionName::new(format!("s{number}"));
        let mut note = |number| held.note(&key(1), Language::Python, &name(number));
        assert!((0..MOST_NOTED).all(|number| note(number) == Some(NewNote::Further)));
        let oldest = NewNote::InPlaceOf(Language::Python, name(0));
        assert_eq!(note(MOST_NOTED), Some(oldest));
        assert_eq!(note(1), None);
    }

    proptest! {
        /// After each renewal, a lease is held only if the database lists it or it was taken since.
        #[test]
        fn a_lost_lease_is_never_kept(steps in proptest::collection::vec((0_u8..4, any::<bool>(), 0_u8..16), 0..40)) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            let _inside = runtime.enter();
            let (mut held, start) = (HeldLeases::default(), Instant::now());
            for (step, (number, is_taken, kept)) in steps.into_iter().enumerate() {
                let now = start + after(step as u64);
                if is_taken {
                    held.took(&key(number), now);
                    continue;
                }
                let listed: Vec<LeaseKey> = (0..4).filter(|bit| kept & (1 << bit) != 0).map(key).collect();
                let lost = held.renewed(now, LEASE, &listed);
                for number in 0..4 {
                    let is_held = held.find(&key(number), now);
                    prop_assert!(!is_held || listed.contains(&key(number)));
                    prop_assert!(!(is_held && lost.contains(&key(number))));
                }
            }
        }
    }
}
