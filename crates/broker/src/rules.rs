//! The policy on calls: the operator's rules with the current servers' rules, narrowed by a virtual server.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use policy::Policy;
use types::ToolGlobs;
use upstream::ServerConfig;

/// A virtual server's policy on calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallRules {
    /// Programs cannot call tools.
    Off,
    /// Programs can call the tools that match these globs.
    Narrowed(ToolGlobs),
}

/// The policy of one view. All views follow the same servers.
#[derive(Debug)]
pub(crate) struct Rules {
    host: Arc<RwLock<Arc<Policy>>>,
    narrowed: Option<Narrowed>,
}

/// The additional policy of a virtual server.
#[derive(Debug)]
struct Narrowed {
    calls: CallRules,
    /// The last narrowed policy, with the host's policy that it was derived from.
    made: Mutex<Option<(Arc<Policy>, Arc<Policy>)>>,
}

// === impl Rules ===

impl Rules {
    pub(crate) fn new(policy: Arc<Policy>) -> Self {
        Self {
            host: Arc::new(RwLock::new(policy)),
            narrowed: None,
        }
    }

    /// Combines these rules with the virtual server's: a call needs both.
    pub(crate) fn narrowed(&self, calls: CallRules) -> Self {
        Self {
            host: self.host.clone(),
            narrowed: Some(Narrowed {
                calls,
                made: Mutex::default(),
            }),
        }
    }

    /// Whether programs may call tools at all.
    pub(crate) fn allow_calls(&self) -> bool {
        let calls = self.narrowed.as_ref().map(|narrowed| &narrowed.calls);
        calls != Some(&CallRules::Off)
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        let host = Arc::clone(&self.host.read().unwrap_or_else(PoisonError::into_inner));
        match &self.narrowed {
            Some(narrowed) => narrowed.policy(host),
            None => host,
        }
    }

    /// Replaces the rules from the servers' definitions.
    pub(crate) fn follow(&self, servers: &[ServerConfig]) {
        let mut host = self.host.write().unwrap_or_else(PoisonError::into_inner);
        *host = Arc::new(host.with_servers(servers.iter().map(ServerConfig::rules)));
    }
}

// === impl Narrowed ===

impl Narrowed {
    fn policy(&self, host: Arc<Policy>) -> Arc<Policy> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((from, policy)) = &*made
            && Arc::ptr_eq(from, &host)
        {
            return policy.clone();
        }
        let policy = match &self.calls {
            // The globs were validated when the server was created; invalid ones allow nothing.
            CallRules::Narrowed(globs) => host.for_virtual_server(globs).ok(),
            CallRules::Off => None,
        };
        let policy = Arc::new(policy.unwrap_or_else(|| host.without_tools()));
        *made = Some((host, policy.clone()));
        policy
    }
}
