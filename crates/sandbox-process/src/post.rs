//! A zygote with the sessions that stand ready for it.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sandbox::{Attachment, Conversation};
use types::Limits;

use crate::config::{self, Floor};
use crate::pool::{Pool, Ready, Shape};
use crate::provisions::Provisions;
use crate::selftest;
use crate::station::{Station, StationError};

/// A zygote and its pool. Dropping it ends what stands ready; the zygote ends with its last session.
#[derive(Debug)]
pub struct Post {
    station: Arc<Station>,
    pool: Arc<Pool>,
    provisions: Arc<Provisions>,
    renewing: AtomicBool,
}

impl Post {
    /// Takes over a zygote. `usual` is what most sessions will ask for, `owner` whose files they will be shown.
    pub fn new(
        station: Arc<Station>,
        provisions: Arc<Provisions>,
        pool: &config::Pool,
        usual: Shape,
        owner: Option<(u32, u32)>,
    ) -> Arc<Self> {
        Arc::new(Self {
            station,
            pool: Pool::new(pool.most, usual, owner),
            provisions,
            renewing: AtomicBool::new(false),
        })
    }

    /// A session of this shape that is to be shown these files: one that stands ready, else a fresh one.
    pub async fn start(
        &self,
        shape: &Shape,
        files: &[Attachment],
        floor: Floor,
    ) -> Result<Ready, StationError> {
        if floor == Floor::Refused
            && let Some(ready) = self.pool.take(shape, files)
        {
            return Ok(ready);
        }
        let (channels, leash) = match floor {
            Floor::Refused => {
                self.station
                    .start(&self.provisions, &shape.limits, shape.files)
                    .await?
            }
            Floor::Offered => self.station.start_floor(&self.provisions, &shape.limits).await?,
        };
        Ok(Conversation::new(
            channels,
            leash,
            shape.limits.clone(),
            String::new(),
        ))
    }

    /// Finds out whether sessions may skip the interpreter's after-fork hooks.
    pub async fn inspect(&self, limits: &Limits) {
        let (station, provisions) = (Arc::clone(&self.station), Arc::clone(&self.provisions));
        selftest::run(station, provisions, limits.clone()).await;
    }

    /// Keeps sessions ready for as long as this post is there.
    pub fn keep(&self) -> impl Future<Output = ()> + Send + use<> {
        let (pool, station) = (Arc::clone(&self.pool), Arc::downgrade(&self.station));
        pool.keep(station, Arc::clone(&self.provisions))
    }

    /// Sessions that stand ready now.
    pub fn ready(&self) -> usize {
        self.pool.ready()
    }

    /// Whether another zygote should be launched for this one; `true` only once.
    pub fn is_to_be_renewed(&self, pool: &config::Pool) -> bool {
        self.station.is_worn(pool) && !self.renewing.swap(true, Ordering::Relaxed)
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.pool.close();
    }
}
