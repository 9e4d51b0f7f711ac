//! What the token of an issuer says beside who asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::PermissionSet;

/// What the token of an issuer says beside who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenContext {
    /// What each scope permits, for challenges; empty if scopes limit nothing.
    pub scopes: Arc<BTreeMap<String, PermissionSet>>,
    /// The paths that the token's audiences name, such as `/servers/a/mcp`; `None` for the whole gateway.
    pub paths: Option<Vec<String>>,
}

/// The part of an identity that API tokens lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedOn {
    pub(crate) agent: Option<String>,
    pub(crate) context: TokenContext,
}
