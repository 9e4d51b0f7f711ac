//! The keys of one issuer, remembered while they are fresh, and for a while longer if the issuer is down.
//!
//! ```text
//! fresh (10 minutes) ──► stale (one request reads them again) ──► gone (an hour; refused until read)
//!      │                   ├─ that request waits, and uses the old keys only if they cannot be read
//!      │                   └─ the others go on with the old keys meanwhile
//!      └─ a key that is not among them: read again at once, at most every 5 seconds, one request at a time
//! ```
//!
//! INVARIANT: an attempt runs in a task of its own, so that a client that goes away does not end it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::fetch::Fetcher;
use crate::key::PublicKey;
use crate::{IssuerConfig, TokenError};

/// After this time, a request reads the keys again and waits for them, so that a withdrawn key is forgotten.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// Keys serve for this long while the issuer is down, and no longer.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Shortest time between two attempts, so that tokens with invented keys cannot flood the issuer.
const EVERY: Duration = Duration::from_secs(5);

/// An issuer with its keys.
#[derive(Debug)]
pub(crate) struct KeyCache {
    pub(crate) config: IssuerConfig,
    fetcher: Arc<Fetcher>,
    known: Mutex<Option<KnownKeys>>,
    /// Held while the issuer is asked; the time of the last attempt.
    asking: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

/// The right to ask the issuer, with the time of the last attempt.
type AskingGuard = OwnedMutexGuard<Option<Instant>>;

/// The keys of one answer.
#[derive(Debug, Clone)]
pub(crate) struct KnownKeys {
    pub(crate) keys: Arc<[PublicKey]>,
    read: Instant,
}

// === impl KeyCache ===

impl KeyCache {
    pub(crate) fn new(config: IssuerConfig, fetcher: Arc<Fetcher>) -> KeyCache {
        KeyCache {
            config,
            fetcher,
            known: Mutex::default(),
            asking: Arc::default(),
        }
    }

    /// The remembered keys, or those that the issuer has now.
    pub(crate) async fn keys(self: &Arc<Self>) -> Result<KnownKeys, TokenError> {
        match self.remembered() {
            Some(known) if known.read.elapsed() < FRESH => return Ok(known),
            Some(known) => {
                // Without the turn, somebody else asks just now.
                if let Ok(turn) = Arc::clone(&self.asking).try_lock_owned() {
                    self.ask(turn, Some(known.read)).await;
                }
            }
            None => self.read_again(None).await,
        }
        self.remembered().ok_or(TokenError::NoKeys)
    }

    /// Keys that are newer than these; `None` if the issuer was asked a moment ago or cannot be asked.
    pub(crate) async fn newer(self: &Arc<Self>, than: &KnownKeys) -> Option<KnownKeys> {
        self.read_again(Some(than.read)).await;
        self.remembered().filter(|known| known.read > than.read)
    }

    fn remembered(&self) -> Option<KnownKeys> {
        let known = self.known.lock();
        known.clone().filter(|known| known.read.elapsed() < KEPT)
    }

    /// Waits for the turn to ask.
    async fn read_again(self: &Arc<Self>, than: Option<Instant>) {
        let turn = Arc::clone(&self.asking).lock_owned().await;
        self.ask(turn, than).await;
    }

    /// Asks the issuer, unless somebody has read newer keys meanwhile or the last attempt is recent.
    async fn ask(self: &Arc<Self>, mut turn: AskingGuard, than: Option<Instant>) {
        let is_newer = self
            .remembered()
            .is_some_and(|known| than.is_none_or(|than| known.read > than));
        if is_newer || !is_due(*turn) {
            return;
        }
        *turn = Some(Instant::now());
        let cache = Arc::clone(self);
        let asked = tokio::spawn(async move {
            cache.fetch().await;
            drop(turn);
        });
        if let Err(error) = asked.await {
            tracing::warn!(issuer = %self.config.issuer, %error, "the reading of an issuer's keys broke off");
        }
    }

    /// Remembers the keys that the issuer has now.
    async fn fetch(&self) {
        match self.fetcher.keys(&self.config).await {
            Ok(keys) => {
                let read = Instant::now();
                *self.known.lock() = Some(KnownKeys {
                    keys: keys.into(),
                    read,
                });
            }
            Err(error) => {
                tracing::warn!(issuer = %self.config.issuer, %error, "an issuer's keys cannot be read")
            }
        }
    }
}

fn is_due(last: Option<Instant>) -> bool {
    last.is_none_or(|last| last.elapsed() >= EVERY)
}
