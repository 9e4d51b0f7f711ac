//! Confinement of a process without namespaces of its own, which executes its program next.

use super::{
    CHANNEL, Descriptors, OtherDescriptors, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG, RULESET, SIGKILL, Step, become_user, capabilities, drop_bounding_set, place, report,
    seccomp, set_rlimits,
};
use crate::session::arch::number;
use crate::session::landlock;
use crate::session::sys::{self, EXIT_UNCONFINED, Errno, Filter, fd};
use crate::session::wire::{self, Request};

/// Confines the calling process; on failure reports the step on its channel and ends the process.
///
/// # Safety
/// Both filters, the large one first, are valid; the caller is a freshly forked child with one thread.
pub unsafe fn confine(request: &Request, descriptors: Descriptors, ruleset: i32, filters: [Filter; 2]) {
    if let Err(errno) = place(descriptors, Some(ruleset), OtherDescriptors::Close) {
        report(descriptors.channel, Step::Descriptors, errno);
        sys::exit(EXIT_UNCONFINED);
    }
    // SAFETY: the caller vouches for the filters.
    if let Err((step, errno)) = unsafe { steps(request, filters) } {
        fail(step, errno);
    }
}

pub fn fail(step: Step, errno: Errno) -> ! {
    report(CHANNEL, step, errno);
    sys::exit(EXIT_UNCONFINED)
}

/// Everything after the descriptors. INVARIANT: no code of the tenant runs before the last step.
///
/// # Safety
/// As `confine`.
unsafe fn steps(request: &Request, [large, small]: [Filter; 2]) -> Result<(), (Step, Errno)> {
    let at = |step: Step| move |errno: Errno| (step, errno);
    // SAFETY: setsid takes no argument.
    unsafe { sys::call(number::SETSID, &[]) }.map_err(at(Step::ProcessGroup))?;
    if request.flags & wire::SET_USER != 0 {
        become_user(request.user).map_err(at(Step::User))?;
    }
    set_rlimits(request).map_err(at(Step::Rlimits))?;
    sys::prctl(PR_SET_NO_NEW_PRIVS, 1, 0).map_err(at(Step::Capabilities))?;
    // SAFETY: the caller vouches for the filter.
    unsafe { seccomp(large) }.map_err(at(Step::Seccomp))?;
    // SAFETY: landlock_restrict_self takes numbers.
    unsafe { sys::call(number::LANDLOCK_RESTRICT_SELF, &[fd(RULESET), 0]) }.map_err(at(Step::Landlock))?;
    sys::close(RULESET);
    drop_bounding_set();
    sys::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0).map_err(at(Step::Capabilities))?;
    capabilities(0).map_err(at(Step::Capabilities))?;
    // Set the signal after the change of user, because that change would clear the signal.
    sys::prctl(PR_SET_PDEATHSIG, SIGKILL, 0).map_err(at(Step::ParentDeath))?;
    // SAFETY: as above.
    unsafe { seccomp(small) }.map_err(at(Step::Seccomp))
}

/// Confines the calling process, which then executes a server's program. The process keeps its user and its
/// descriptors. Allocates nothing.
///
/// # Safety
/// `filter` is valid.
pub unsafe fn server(ruleset: i32, filter: Filter) -> Result<(), Errno> {
    sys::prctl(PR_SET_NO_NEW_PRIVS, 1, 0)?;
    landlock::enforce(ruleset)?;
    drop_bounding_set();
    sys::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    capabilities(0)?;
    // SAFETY: the caller vouches for the filter.
    unsafe { seccomp(filter) }
}
