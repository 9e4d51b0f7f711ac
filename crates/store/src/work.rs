//! Work on a connection, each within a bounded time.

use std::time::Duration;

use crate::connection::Connection;
use crate::slot::{ConnectionSlot, Held};
use crate::trouble::{Trouble, TroubleKind};

/// Longest wait for the database.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a piece of work stopped: the request was refused, or the database failed.
pub(crate) trait WorkFault: From<sqlx::Error> {
    type Error: From<Trouble>;

    /// The refusal, which leaves the connection usable.
    ///
    /// # Errors
    /// If the database failed.
    fn refusal(self) -> Result<Self::Error, sqlx::Error>;

    /// Whether the request was refused without a failure.
    fn is_refusal(&self) -> bool;
}

/// The fault of work that may refuse a request.
#[derive(Debug)]
pub(crate) enum StoreFault<E> {
    Refused(Box<E>),
    Database(sqlx::Error),
}

impl<E> From<sqlx::Error> for StoreFault<E> {
    fn from(error: sqlx::Error) -> Self {
        StoreFault::Database(error)
    }
}

impl<E: From<Trouble>> WorkFault for StoreFault<E> {
    type Error = E;

    fn refusal(self) -> Result<E, sqlx::Error> {
        match self {
            StoreFault::Refused(error) => Ok(*error),
            StoreFault::Database(error) => Err(error),
        }
    }

    fn is_refusal(&self) -> bool {
        matches!(self, StoreFault::Refused(_))
    }
}

/// The fault of work that never refuses a request.
impl WorkFault for sqlx::Error {
    type Error = Trouble;

    fn refusal(self) -> Result<Trouble, sqlx::Error> {
        Err(self)
    }

    fn is_refusal(&self) -> bool {
        false
    }
}

impl ConnectionSlot {
    pub(crate) async fn write<T, F: WorkFault>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, F>,
    ) -> Result<T, F::Error> {
        self.within(async {
            let mut held = self.hold_to_write().await?;
            let done = work(held.connection()).await;
            conclude(held, done)
        })
        .await
    }

    /// The default if nothing was ever written.
    pub(crate) async fn read<T: Default, F: WorkFault>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, F>,
    ) -> Result<T, F::Error> {
        self.within(async {
            let Some(mut held) = self.hold_to_read().await? else {
                return Ok(T::default());
            };
            let done = work(held.connection()).await;
            conclude(held, done)
        })
        .await
    }

    /// Closes the database, and so merges the journal into the file. Later work opens the database again.
    pub(crate) async fn close_soon(&self) {
        // All work is committed. If closing fails, some of it stays in the journal.
        let _ = tokio::time::timeout(PATIENCE, self.close()).await;
    }

    /// Fails if the work takes longer than `PATIENCE`, for example because other processes hold the database.
    async fn within<T, E: From<Trouble>>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| {
            let waited = format!("no answer within {} s", PATIENCE.as_secs());
            Err(Trouble::new(self.database(), TroubleKind::Locked, waited).into())
        })
    }
}

/// Returns the connection to its slot, unless the database failed.
fn conclude<T, F: WorkFault>(held: Held<'_>, done: Result<T, F>) -> Result<T, F::Error> {
    match done.map_err(WorkFault::refusal) {
        Ok(done) => Ok(held.done(Ok(done))?),
        Err(Ok(refusal)) => {
            held.done(Ok(()))?;
            Err(refusal)
        }
        Err(Err(error)) => Ok(held.done(Err(error))?),
    }
}
