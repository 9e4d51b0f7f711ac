//! Which process runs the sessions of a user at a virtual server.

use std::convert::Infallible;

use gateway::{OtherProcess, Place};
use identity::Identity;
use rest::RestError;
use store::session_leases::{GatewayProcess, LeaseKey};
use types::ServerId;

use super::GatewayApi;
use super::errors::unavailable;
use crate::cluster::{self, Cluster, Placed};

impl GatewayApi {
    pub(super) async fn place_of(
        &self,
        identity: &Identity,
        server: &ServerId,
        gone: Option<&str>,
    ) -> Result<Place, RestError> {
        let Some(cluster) = &self.parts.admission.cluster else {
            return Ok(Place::Here);
        };
        let key = LeaseKey {
            server: server.clone(),
            principal: identity.principal().clone(),
        };
        let placed = cluster.place(&key, gone).await;
        match placed.map_err(|error| unavailable(&error))? {
            Placed::Here => {}
            Placed::Elsewhere(process) => return Ok(Place::At(other(process))),
            Placed::Inherited(lost) => {
                for host in self.parts.live.known(server) {
                    cluster::inherit(&host.shared.sessions, &key.principal, &lost);
                }
            }
        }
        Ok(Place::Here)
    }

    pub(super) async fn other_processes(&self) -> Result<Vec<OtherProcess>, RestError> {
        let Some(cluster) = &self.parts.admission.cluster else {
            return Ok(Vec::new());
        };
        let others = cluster.others().await.map_err(|error| unavailable(&error))?;
        Ok(others.into_iter().map(other).collect())
    }

    /// Keeps the leases of this process while it serves, and ends sessions that another process has taken over. Never
    /// returns.
    pub async fn keep_leases(&self) -> Infallible {
        let Some(cluster) = &self.parts.admission.cluster else {
            return std::future::pending().await;
        };
        // Neither waits for the other: a late renewal would lose every lease.
        tokio::select! {
            never = self.renew_leases(cluster) => never,
            never = self.release_leases(cluster) => never,
        }
    }

    async fn renew_leases(&self, cluster: &Cluster) -> Infallible {
        loop {
            for lost in cluster.next_renewal().await {
                for host in self.parts.live.known(&lost.server) {
                    let principal = lost.principal.clone();
                    tokio::spawn(async move { host.hand_over_sessions(&principal).await });
                }
            }
        }
    }

    async fn release_leases(&self, cluster: &Cluster) -> Infallible {
        loop {
            cluster.release_unused(|key| self.has_sessions(key)).await;
        }
    }

    fn has_sessions(&self, key: &LeaseKey) -> bool {
        let hosts = self.parts.live.known(&key.server);
        let mut sessions = hosts.iter().flat_map(|host| host.shared.sessions.list());
        sessions.any(|open| open.principal == key.principal)
    }
}

fn other(process: GatewayProcess) -> OtherProcess {
    OtherProcess {
        id: process.id,
        url: process.url,
    }
}
