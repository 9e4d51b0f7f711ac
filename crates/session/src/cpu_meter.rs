//! Measures the CPU time of a run: of its processes, and of the host's threads that work for it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Adds up CPU time. Clones share the sums. The default counts nothing.
#[derive(Debug, Clone, Default)]
pub struct CpuMeter {
    sums: Option<Arc<Sums>>,
}

/// In nanoseconds.
#[derive(Debug, Default)]
struct Sums {
    host: AtomicU64,
    guest: AtomicU64,
}

/// Where CPU time was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// By threads of the host.
    pub host: Duration,
    /// By processes of the session.
    pub guest: Duration,
}

// === impl CpuMeter ===

impl CpuMeter {
    /// A meter that counts.
    pub fn counting() -> CpuMeter {
        CpuMeter {
            sums: Some(Arc::default()),
        }
    }

    /// Does the work, and counts the CPU time of the thread that polls it. Work that moves to other threads or tasks
    /// is not counted.
    pub async fn around<F: Future>(&self, work: F) -> F::Output {
        if self.sums.is_none() {
            return work.await;
        }
        let mut work = pin!(work);
        std::future::poll_fn(|context| {
            let before = thread_time();
            let polled: Poll<F::Output> = work.as_mut().poll(context);
            self.add_host(thread_time().saturating_sub(before));
            polled
        })
        .await
    }

    /// Counts time of the host that was measured elsewhere.
    pub fn add_host(&self, time: Duration) {
        if let Some(sums) = &self.sums {
            add(&sums.host, time);
        }
    }

    /// Counts time of the session's processes.
    pub fn add_guest(&self, time: Duration) {
        if let Some(sums) = &self.sums {
            add(&sums.guest, time);
        }
    }

    /// The sums since the last call of this function.
    pub fn take(&self) -> CpuTimes {
        let taken = |sum: &AtomicU64| Duration::from_nanos(sum.swap(0, Ordering::Relaxed));
        let times = self.sums.as_ref().map(|sums| CpuTimes {
            host: taken(&sums.host),
            guest: taken(&sums.guest),
        });
        times.unwrap_or_default()
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
    use super::*;

    #[tokio::test]
    async fn work_is_counted_and_waiting_is_not() {
        let meter = CpuMeter::counting();
        let answer = meter.around(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let begun = thread_time();
            while thread_time() - begun < Duration::from_millis(20) {}
            7
        });
        assert_eq!(answer.await, 7);
        meter.add_guest(Duration::from_secs(2));
        let taken = meter.clone().take();
        assert!(taken.host >= Duration::from_millis(20) && taken.host < Duration::from_millis(45), "{taken:?}");
        assert_eq!(taken.guest, Duration::from_secs(2));
        assert_eq!(meter.take(), CpuTimes::default());
    }
}
