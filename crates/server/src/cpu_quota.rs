//! Quotas of CPU time: what the programs of a user and of a tenant make guests and the host spend.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use session::{CpuMeter, CpuTimes};
use store::Trouble;
use store::accounts::Moment;
use store::cpu_debts::{CpuDebts, CpuQuota};
use tokio::runtime::Handle;
use types::Principal;

/// The quotas of all users, and what was used. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct CpuQuotas {
    debts: CpuDebts,
    limits: CpuLimits,
    seconds: CpuSeconds,
}

/// CPU seconds in a minute; `None` for any number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuLimits {
    pub(crate) of_user: Option<u32>,
    pub(crate) of_tenant: Option<u32>,
}

/// For `/metrics`.
pub(crate) type CpuSeconds = Family<PlaceLabels, Counter<f64, AtomicU64>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct PlaceLabels {
    place: &'static str,
}

/// A quota that has nothing left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted {
    /// The key in `[gateway]`.
    pub(crate) setting: &'static str,
    pub(crate) seconds_per_minute: u32,
    pub(crate) used: Duration,
    pub(crate) retry_in: Duration,
}

// === impl CpuQuotas ===

impl CpuQuotas {
    pub(crate) fn new(debts: CpuDebts, limits: CpuLimits) -> Self {
        Self {
            debts,
            limits,
            seconds: CpuSeconds::default(),
        }
    }

    /// The counters, as a registry takes them.
    pub(crate) fn seconds(&self) -> CpuSeconds {
        self.seconds.clone()
    }

    /// The first quota of the user that is used up.
    pub(crate) async fn exhausted(&self, user: &Principal) -> Result<Option<Exhausted>, Trouble> {
        for (setting, quota) in self.quotas_of(user) {
            let used = self.debts.used(&quota, Moment::Database).await?;
            if let Some(exhausted) = exhausted(setting, quota.seconds_per_minute, used) {
                return Ok(Some(exhausted));
            }
        }
        Ok(None)
    }

    /// A meter for the work of one run. The user is charged for what [`CpuQuotas::add`] has not been given when nobody
    /// works for the run any more.
    pub(crate) fn meter(&self, user: &Principal) -> CpuMeter {
        let (quotas, user) = (self.clone(), user.clone());
        CpuMeter::new(move |times| {
            // Without a runtime the process is ending.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move { quotas.add(&user, times).await });
            }
        })
    }

    /// Charges the user.
    pub(crate) async fn add(&self, user: &Principal, times: CpuTimes) {
        for (place, time) in [("host", times.host), ("guest", times.guest)] {
            let labels = PlaceLabels { place };
            self.seconds.get_or_create(&labels).inc_by(time.as_secs_f64());
        }
        for (_, quota) in self.quotas_of(user) {
            if let Err(trouble) = self.debts.add(&quota, times.total(), Moment::Database).await {
                tracing::warn!(%trouble, "CPU time of a run could not be charged");
            }
        }
    }

    fn quotas_of(&self, user: &Principal) -> impl Iterator<Item = (&'static str, CpuQuota)> {
        let of_user = self.limits.of_user.map(|seconds_per_minute| {
            let key = format!("user:{user}");
            (
                "cpu_seconds_per_minute_of_user",
                CpuQuota {
                    key,
                    seconds_per_minute,
                },
            )
        });
        let of_tenant = self.limits.of_tenant.map(|seconds_per_minute| {
            let key = format!("tenant:{}", user.tenant());
            (
                "cpu_seconds_per_minute_of_tenant",
                CpuQuota {
                    key,
                    seconds_per_minute,
                },
            )
        });
        of_user.into_iter().chain(of_tenant)
    }
}

/// `None` while less than a minute's worth is used.
fn exhausted(setting: &'static str, seconds_per_minute: u32, used: Duration) -> Option<Exhausted> {
    let excess = used.checked_sub(Duration::from_secs(seconds_per_minute.into()))?;
    // A little more, because a quota that is exactly used up is exhausted.
    let retry_in = excess * 60 / seconds_per_minute + Duration::from_millis(1);
    Some(Exhausted {
        setting,
        seconds_per_minute,
        used,
        retry_in,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_run_that_nobody_waits_for_is_charged_too() {
        let directory = tempfile::tempdir().expect("a directory");
        let debts = CpuDebts::new(directory.path().join("records.db").into());
        let limits = CpuLimits {
            of_user: Some(10),
            of_tenant: None,
        };
        let quotas = CpuQuotas::new(debts, limits);
        let ann: Principal = "ann".parse().expect("a principal");
        let meter = quotas.meter(&ann);
        meter.add_guest(Duration::from_secs(30));
        drop(meter);
        let exhausted = loop {
            if let Some(exhausted) = quotas.exhausted(&ann).await.expect("a database") {
                break exhausted;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(exhausted.setting, "cpu_seconds_per_minute_of_user");
        assert!(exhausted.retry_in > Duration::from_secs(60), "{exhausted:?}");
        let bob: Principal = "bob".parse().expect("a principal");
        assert_eq!(quotas.exhausted(&bob).await, Ok(None));
    }

    #[test]
    fn a_quota_is_free_again_when_the_excess_has_drained() {
        let check = |used_ms: u64, expected_ms: Option<u64>| {
            let found = exhausted("s", 30, Duration::from_millis(used_ms));
            let retry_in = found.map(|exhausted| exhausted.retry_in);
            assert_eq!(retry_in, expected_ms.map(Duration::from_millis), "{used_ms}");
        };
        check(0, None);
        check(29_999, None);
        check(30_000, Some(1));
        check(31_000, Some(2001));
        check(90_000, Some(120_001));
    }
}
