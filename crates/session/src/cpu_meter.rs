//! Measures the CPU time of a run: of its processes, and of the host's threads that work for the run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use sandbox::BoxFuture;

/// Sums CPU time. Clones share the sums. The default discards all time.
#[derive(Clone, Default)]
pub struct CpuMeter {
    sums: Option<Arc<Sums>>,
}

/// Sums in nanoseconds.
struct Sums {
    host: AtomicU64,
    guest: AtomicU64,
    /// Receives the rest that was not taken.
    rest: Option<Box<dyn FnOnce(CpuTimes) + Send + Sync>>,
}

/// CPU time by place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Time of the host's threads.
    pub host: Duration,
    /// Time of the session's processes.
    pub guest: Duration,
}

// === impl CpuMeter ===

impl CpuMeter {
    /// A meter whose last clone passes the rest that was not taken to `rest`, for example after a client disconnected.
    pub fn new(rest: impl FnOnce(CpuTimes) + Send + Sync + 'static) -> CpuMeter {
        let sums = Sums {
            host: AtomicU64::new(0),
            guest: AtomicU64::new(0),
            rest: Some(Box::new(rest)),
        };
        CpuMeter {
            sums: Some(Arc::new(sums)),
        }
    }

    /// Counts the CPU time of the thread that polls the work. Excludes work on other threads or in other tasks.
    ///
    /// The work is boxed, because a run's future is large, and each move would copy the future on the stack.
    pub async fn around<T>(&self, mut work: BoxFuture<'_, T>) -> T {
        if self.sums.is_none() {
            return work.await;
        }
        std::future::poll_fn(|context| {
            let before = thread_time();
            let polled = work.as_mut().poll(context);
            self.add_host(thread_time().saturating_sub(before));
            polled
        })
        .await
    }

    /// Adds time of the host that was measured elsewhere.
    pub fn add_host(&self, time: Duration) {
        if let Some(sums) = &self.sums {
            add(&sums.host, time);
        }
    }

    /// Adds time of the session's processes.
    pub fn add_guest(&self, time: Duration) {
        if let Some(sums) = &self.sums {
            add(&sums.guest, time);
        }
    }

    /// The sums since the last call of `take`.
    pub fn take(&self) -> CpuTimes {
        self.sums.as_deref().map(Sums::take).unwrap_or_default()
    }
}

impl fmt::Debug for CpuMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuMeter").finish_non_exhaustive()
    }
}

// === impl Sums ===

impl Sums {
    fn take(&self) -> CpuTimes {
        let taken = |sum: &AtomicU64| Duration::from_nanos(sum.swap(0, Ordering::Relaxed));
        CpuTimes {
            host: taken(&self.host),
            guest: taken(&self.guest),
        }
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        let left = self.take();
        if let Some(rest) = self.rest.take().filter(|_| left != CpuTimes::default()) {
            rest(left);
        }
    }
}

fn add(sum: &AtomicU64, time: Duration) {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    sum.fetch_add(nanos, Ordering::Relaxed);
}

// === impl CpuTimes ===

impl CpuTimes {
    /// Host and guest together.
    pub fn total(self) -> Duration {
        self.host + self.guest
    }
}

/// CPU time that this thread has used.
pub fn thread_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(used.tv_sec).unwrap_or_default(),
        u32::try_from(used.tv_nsec).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn work_is_counted_and_waiting_is_not() {
        let rest = Arc::new(Mutex::new(CpuTimes::default()));
        let received = Arc::clone(&rest);
        let meter = CpuMeter::new(move |times| *received.lock().expect("a lock") = times);
        let answer = meter.around(Box::pin(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let begun = thread_time();
            while thread_time() - begun < Duration::from_millis(20) {}
            7
        }));
        assert_eq!(answer.await, 7);
        meter.add_guest(Duration::from_secs(2));
        let taken = meter.clone().take();
        assert!(
            taken.host >= Duration::from_millis(20) && taken.host < Duration::from_millis(45),
            "{taken:?}"
        );
        assert_eq!(taken.guest, Duration::from_secs(2));
        assert_eq!(meter.take(), CpuTimes::default());
        meter.add_host(Duration::from_secs(3));
        drop(meter);
        assert_eq!(rest.lock().expect("a lock").host, Duration::from_secs(3));
    }
}
