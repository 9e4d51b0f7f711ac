//! Limits requests per upstream credential: a number per minute, and pauses that the upstream requests.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use upstream_wire::Pause;

use crate::config::ServerConfig;
use crate::credential::{CredentialHash, CredentialKeys};

/// The window in which requests count.
const WINDOW: Duration = Duration::from_secs(60);
/// A refused call returns this long before its deadline, so that the program sees the error.
const MARGIN: Duration = Duration::from_millis(100);

/// The answer of [`CallWindows::take`]: `None` if the request is granted, else the time until the next attempt.
pub type Taking<'a> = Pin<Box<dyn Future<Output = Result<Option<Duration>, NotCounted>> + Send + 'a>>;

/// The windows could not be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotCounted;

/// Counts requests over several processes.
pub trait CallWindows: fmt::Debug + Send + Sync {
    /// Takes one of `most` grants of the key per window.
    fn take<'a>(&'a self, key: &'a str, most: u32, window: Duration) -> Taking<'a>;
}

/// The buckets of all servers of a hub.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    keys: CredentialKeys,
    live: Mutex<HashMap<CredentialHash, Weak<Bucket>>>,
    windows: SharedWindows,
}

type SharedWindows = Arc<OnceLock<Arc<dyn CallWindows>>>;

/// The requests of all servers with one credential.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    pub(crate) pause: Pause,
    limit: Mutex<SharedLimit>,
    /// Grants requests in their order of arrival.
    queue: tokio::sync::Mutex<Window>,
    /// When the first queued request may be sent.
    next: Mutex<Option<Instant>>,
    windows: SharedWindows,
}

#[derive(Debug, Clone, Default)]
struct SharedLimit {
    /// Name of the first server with the credential; identifies the bucket to other processes.
    name: String,
    /// The smallest limit among these servers.
    most: Option<u32>,
}

/// Times of this process's requests in the last minute.
#[derive(Debug, Default)]
struct Window(VecDeque<Instant>);

/// Why a request is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Limit { limit: u32, retry_in: Duration },
    Pause { retry_in: Duration },
    NotCounted,
}

// === impl Buckets ===

impl Buckets {
    pub(crate) fn count_in(&self, windows: Arc<dyn CallWindows>) {
        if self.windows.set(windows).is_err() {
            tracing::error!("requests are already counted in other windows");
        }
    }

    /// The bucket of the definition's credential.
    pub(crate) fn of(&self, config: &ServerConfig) -> Arc<Bucket> {
        let credential = self.keys.hash(config);
        let mut live = self.live.lock();
        if let Some(bucket) = live.get(&credential).and_then(Weak::upgrade) {
            return bucket;
        }
        live.retain(|_, bucket| bucket.strong_count() > 0);
        let bucket = Arc::new(Bucket {
            windows: Arc::clone(&self.windows),
            ..Bucket::default()
        });
        live.insert(credential, Arc::downgrade(&bucket));
        bucket
    }

    /// Gives each bucket the smallest limit of its servers.
    pub(crate) fn set_limits<'a>(servers: impl Iterator<Item = (&'a Arc<Bucket>, &'a ServerConfig)>) {
        let mut limits: Vec<(&Arc<Bucket>, SharedLimit)> = Vec::new();
        let mut places = HashMap::new();
        for (bucket, config) in servers {
            let place = *places.entry(Arc::as_ptr(bucket)).or_insert(limits.len());
            if place == limits.len() {
                let name = config.name.clone();
                limits.push((bucket, SharedLimit { name, most: None }));
            }
            let most = &mut limits[place].1.most;
            let own = config.max_calls_per_minute.map(NonZeroU32::get);
            *most = most.iter().copied().chain(own).min();
        }
        for (bucket, limit) in limits {
            *bucket.limit.lock() = limit;
        }
    }
}

// === impl Bucket ===

impl Bucket {
    /// Waits until one more request may be sent. Fails at once if that time is known to be after the deadline.
    pub(crate) async fn take(&self, deadline: Instant) -> Result<(), Refusal> {
        if self.limit.lock().most.is_none() && self.pause.left().is_none() {
            return Ok(());
        }
        let latest = deadline.checked_sub(MARGIN).unwrap_or(deadline);
        let Ok(mut window) = timeout_at(latest, self.queue.lock()).await else {
            return Err(self.refusal_in_queue());
        };
        loop {
            let refusal = match self.try_take(&mut window).await {
                Ok(()) => return Ok(()),
                Err(refusal) => refusal,
            };
            let wait = refusal.retry_in().filter(|wait| Instant::now() + *wait <= latest);
            let Some(wait) = wait else {
                return Err(refusal);
            };
            *self.next.lock() = Some(Instant::now() + wait);
            sleep(wait).await;
        }
    }

    async fn try_take(&self, window: &mut Window) -> Result<(), Refusal> {
        if let Some(retry_in) = self.pause.left() {
            return Err(Refusal::Pause { retry_in });
        }
        let SharedLimit { name, most } = self.limit.lock().clone();
        let Some(limit) = most else {
            return Ok(());
        };
        let wait = match self.windows.get() {
            Some(shared) => {
                let key = format!("upstream:{name}");
                let taken = shared.take(&key, limit, WINDOW);
                taken.await.map_err(|NotCounted| Refusal::NotCounted)?
            }
            None => window.take(limit),
        };
        wait.map_or(Ok(()), |retry_in| Err(Refusal::Limit { limit, retry_in }))
    }

    /// For a request whose deadline passed while it was queued.
    fn refusal_in_queue(&self) -> Refusal {
        if let Some(retry_in) = self.pause.left() {
            return Refusal::Pause { retry_in };
        }
        let (limit, next) = (self.limit.lock().most, *self.next.lock());
        let now = Instant::now();
        Refusal::Limit {
            limit: limit.unwrap_or_default(),
            retry_in: next.map_or(MARGIN, |next| next.saturating_duration_since(now)),
        }
    }
}

// === impl Window ===

impl Window {
    /// Grants one more request and returns `None`, or returns the time until the window has room.
    fn take(&mut self, most: u32) -> Option<Duration> {
        let now = Instant::now();
        while self.0.front().is_some_and(|sent| *sent + WINDOW <= now) {
            self.0.pop_front();
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if self.0.len() < most {
            self.0.push_back(now);
            return None;
        }
        // The limit may have shrunk: wait until the window holds fewer requests than the limit.
        let last = self.0.get(self.0.len() - most)?;
        Some(*last + WINDOW - now)
    }
}

// === impl Refusal ===

impl Refusal {
    /// `None` if waiting does not help.
    fn retry_in(self) -> Option<Duration> {
        match self {
            Refusal::Limit { retry_in, .. } | Refusal::Pause { retry_in } => Some(retry_in),
            Refusal::NotCounted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use proptest::prelude::*;

    use super::*;

    fn bucket(limit: u32) -> Bucket {
        let bucket = Bucket::default();
        bucket.limit.lock().most = Some(limit);
        bucket
    }

    fn after(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_or_is_refused_before_its_deadline() {
        let bucket = bucket(2);
        let start = Instant::now();
        assert_eq!(bucket.take(after(1)).await, Ok(()));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(bucket.take(after(1)).await, Ok(()));
        let refused = bucket.take(after(30)).await;
        let retry_in = Duration::from_secs(50);
        assert_eq!(refused, Err(Refusal::Limit { limit: 2, retry_in }));
        assert_eq!(
            start.elapsed(),
            Duration::from_secs(10),
            "it did not wait in vain"
        );
        // The first of these waits for room, and the time of the second ends meanwhile.
        let taken = tokio::join!(bucket.take(after(55)), bucket.take(after(20)));
        let retry_in = Duration::from_secs(30) + MARGIN;
        assert_eq!(taken, (Ok(()), Err(Refusal::Limit { limit: 2, retry_in })));
        assert_eq!(start.elapsed(), Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_stops_all_requests() {
        let bucket = Bucket::default();
        assert_eq!(bucket.take(after(0)).await, Ok(()));
        bucket.pause.begin(Duration::from_secs(5));
        let retry_in = Duration::from_secs(5);
        assert_eq!(bucket.take(after(2)).await, Err(Refusal::Pause { retry_in }));
        let start = Instant::now();
        assert_eq!(bucket.take(after(10)).await, Ok(()));
        assert_eq!(start.elapsed(), retry_in);
    }

    #[derive(Debug)]
    struct Unreachable;

    impl CallWindows for Unreachable {
        fn take<'a>(&'a self, _key: &'a str, _most: u32, _window: Duration) -> Taking<'a> {
            Box::pin(std::future::ready(Err(NotCounted)))
        }
    }

    #[tokio::test]
    async fn uncounted_requests_are_not_sent() {
        let bucket = bucket(2);
        bucket.windows.set(Arc::new(Unreachable)).expect("the first");
        assert_eq!(bucket.take(after(9)).await, Err(Refusal::NotCounted));
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_the_limit(
            limit in 1u32..5,
            requests in proptest::collection::vec((0u64..90, 0u64..200), 1..40),
        ) {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_time().start_paused(true).build();
            runtime.expect("a runtime").block_on(async {
                let bucket = bucket(limit);
                let start = Instant::now();
                let sent = join_all(requests.iter().map(async |(at, patience)| {
                    sleep(Duration::from_secs(*at)).await;
                    bucket.take(after(*patience)).await.is_ok().then(|| start.elapsed())
                }));
                let mut sent: Vec<Duration> = sent.await.into_iter().flatten().collect();
                sent.sort();
                let apart = usize::try_from(limit).expect("a small number");
                assert!(sent.windows(apart + 1).all(|window| window[apart] - window[0] >= WINDOW), "{sent:?}");
                assert!(!sent.is_empty());
            });
        }
    }
}
