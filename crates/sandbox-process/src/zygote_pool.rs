//! A zygote with its pool of idle sessions.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sandbox::{Attachment, Conversation};
use types::Limits;

use crate::config::PoolConfig;
use crate::resources::ResourcePool;
use crate::selftest;
use crate::session_pool::{IdleSession, SessionPool, SessionSpec};
use crate::zygote::{Zygote, ZygoteError};
use crate::zygote_spec::ZygoteKind;

/// Dropping the value ends the idle sessions; the zygote ends with its last session.
#[derive(Debug)]
pub struct ZygotePool {
    zygote: Arc<Zygote>,
    sessions: Arc<SessionPool>,
    resources: Arc<ResourcePool>,
    is_renewing: AtomicBool,
}

impl ZygotePool {
    /// An empty pool. `usual` is what most launches will request, `owner` the owner of the files that they will attach.
    pub fn new(
        zygote: Arc<Zygote>,
        resources: Arc<ResourcePool>,
        config: &PoolConfig,
        usual: SessionSpec,
        owner: Option<(u32, u32)>,
    ) -> Arc<Self> {
        Arc::new(Self {
            zygote,
            sessions: SessionPool::new(config.max_idle, usual, owner),
            resources,
            is_renewing: AtomicBool::new(false),
        })
    }

    /// Takes an idle session from the pool, or starts one. `files` are the directories that the session will see.
    pub async fn take_or_start(
        &self,
        spec: &SessionSpec,
        files: &[Attachment],
    ) -> Result<IdleSession, ZygoteError> {
        if let Some(session) = self.sessions.take(spec, files) {
            return Ok(session);
        }
        let started = self.zygote.start(&self.resources, &spec.limits, spec.storage);
        let (channels, processes) = started.await?;
        Ok(Conversation::new(
            channels,
            processes,
            spec.limits.clone(),
            String::new(),
        ))
    }

    /// Tests a Python interpreter; other zygotes have nothing to test.
    pub async fn run_self_test(&self, kind: ZygoteKind, limits: &Limits) {
        if matches!(kind, ZygoteKind::TypeScript | ZygoteKind::Shell) {
            return;
        }
        let (zygote, resources) = (Arc::clone(&self.zygote), Arc::clone(&self.resources));
        selftest::run(zygote, resources, limits.clone()).await;
    }

    /// Keeps the pool filled until it is dropped.
    pub fn keep_filled(&self) -> impl Future<Output = ()> + Send + use<> {
        let (sessions, zygote) = (Arc::clone(&self.sessions), Arc::downgrade(&self.zygote));
        sessions.keep_filled(zygote, Arc::clone(&self.resources))
    }

    pub fn idle(&self) -> usize {
        self.sessions.idle()
    }

    #[cfg(feature = "unconfined-guests")]
    pub fn zygote(&self) -> &Arc<Zygote> {
        &self.zygote
    }

    /// Whether the caller must launch a replacement for this zygote; `true` only once.
    pub fn must_renew(&self, config: &PoolConfig) -> bool {
        self.zygote.is_expired(config) && !self.is_renewing.swap(true, Ordering::Relaxed)
    }
}

impl Drop for ZygotePool {
    fn drop(&mut self) {
        self.sessions.close();
    }
}
