//! What enforces the quotas of `/workspace` and `/results`, for `codeyard doctor`.

use sandbox_host::doctor::{Check, CheckState, Guard, Report, Strength};
use workspace::{Enforce, Keeping, Quota, Workspaces};

/// The enforcement that sessions require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredQuota {
    /// Any enforcement that the settings allow.
    Any,
    /// Enforcement by the kernel, so that one tenant cannot fill another tenant's disk.
    Kernel,
}

/// Adds the row `quota` and its consequences; adds nothing if sessions keep no files.
pub(super) fn examine(files: workspace::WorkspaceConfig, needed: RequiredQuota, report: &mut Report) {
    if files.keeping == Keeping::Own {
        return;
    }
    let enforce = files.enforce;
    let workspaces = Workspaces::new(files);
    let weaker = workspaces.why_no_kernel_quota();
    if let Some(guard) = report.guards.iter_mut().find(|guard| guard.name == "disk") {
        promise(guard, weaker.as_deref());
    }
    let enforced = workspaces.check_enforced();
    let required = match workspaces.check() {
        Ok(()) if needed == RequiredQuota::Kernel => enforced.as_ref().map(drop).map_err(ToString::to_string),
        checked => checked.map_err(|refusal| refusal.to_string()),
    };
    let (state, detail, remedy) = match (required, weaker) {
        (Err(refusal), _) => (CheckState::Missing, refusal, ""),
        (Ok(()), None) => (CheckState::Ok, enforcement_text(enforce, workspaces.quota()), ""),
        (Ok(()), Some(cause)) => (
            CheckState::Weaker,
            format!("the host measures workspaces before, during and after runs: {cause}"),
            "as root, `[workspace] enforce = \"image\"` has the kernel enforce it",
        ),
    };
    if let (Err(refusal), true) = (enforced, super::is_root()) {
        withdraw(&mut report.checks, refusal.to_string());
    }
    report.serves &= state != CheckState::Missing;
    report.checks.push(Check {
        name: "quota",
        state,
        detail,
        remedy: remedy.to_owned(),
    });
}

/// Reports `tenant-isolation` as unmet if only the quota is missing.
fn withdraw(checks: &mut [Check], refusal: String) {
    let require = checks.iter_mut().find(|check| check.name == "require");
    if let Some(check) = require.filter(|check| check.state == CheckState::Ok) {
        check.state = CheckState::Weaker;
        check.detail = "single-tenant is met; tenant-isolation is not".to_owned();
        check.remedy = refusal;
    }
}

fn promise(guard: &mut Guard, weaker: Option<&str>) {
    let quota = match weaker {
        None => ", and so is the quota of /workspace and /results".to_owned(),
        Some(cause) => {
            guard.strength = Strength::Weaker;
            format!("; the quota of /workspace and /results is watched by the host: {cause}")
        }
    };
    guard.promise.push_str(&quota);
}

fn enforcement_text(enforce: Enforce, quota: Quota) -> String {
    let how = match enforce {
        Enforce::Image => "an ext4 image for each workspace",
        Enforce::Auto | Enforce::Kernel => "project quotas",
    };
    let bytes = match quota.bytes {
        0 => "no quota".to_owned(),
        bytes => types::units::show_size(bytes),
    };
    format!("the kernel enforces it by {how}: {bytes}")
}
