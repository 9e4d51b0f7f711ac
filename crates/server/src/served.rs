//! What the parts of a virtual server know of it.

use std::sync::Arc;

use session::SessionQuota;
use store::RateWindows;
use tokio_util::sync::CancellationToken;
use types::{ServerId, SessionName};
use workspace::virtual_files::FilePolicy;

use crate::cluster::Cluster;
use crate::cpu_quota::CpuQuotas;
use crate::fair_turns::FairTurns;

/// Separates the server's id from the session's name; neither contains it.
const SEPARATOR: char = ':';

/// Decides whether and when programs run, over all virtual servers of the process.
#[derive(Clone)]
pub(crate) struct RunAdmission {
    /// Counts the runs of a minute, over all processes on the database.
    pub(crate) windows: RateWindows,
    /// CPU time of users and tenants.
    pub(crate) cpu: CpuQuotas,
    /// Whose program runs next.
    pub(crate) turns: FairTurns,
    /// Bounds the sessions of all virtual servers together.
    pub(crate) sessions: SessionQuota,
    /// `None` if no other process serves the database.
    pub(crate) cluster: Option<Arc<Cluster>>,
}

/// The virtual server that parts belong to.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) server: ServerId,
    /// Which virtual paths requests for files reach.
    pub(crate) files: FilePolicy,
    /// Runs of one user in a minute.
    pub(crate) runs_per_minute: u32,
    pub(crate) admission: RunAdmission,
    /// Triggered when the server was changed or removed, or when the process ends.
    pub(crate) ended: CancellationToken,
}

// === impl Served ===

impl Served {
    /// The name under which files of a session are kept: sessions of two servers may have one name.
    pub(crate) fn kept_name(server: Option<&ServerId>, session: &SessionName) -> SessionName {
        match server {
            Some(server) => SessionName::new(format!("{server}{SEPARATOR}{session}")),
            None => session.clone(),
        }
    }

    /// Reverses [`Served::kept_name`]; `None` for a session of another server.
    pub(crate) fn session_of(server: Option<&ServerId>, kept: &SessionName) -> Option<SessionName> {
        let name = kept.as_str();
        match (server, name.split_once(SEPARATOR)) {
            (None, None) => Some(kept.clone()),
            (Some(server), Some((of, name))) if of == server.as_str() => Some(SessionName::new(name)),
            _ => None,
        }
    }
}
