//! The isolation of sessions that the operator requires.

/// The weakest isolation that the operator accepts (`[sandbox] require`). A weaker backend refuses to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequiredIsolation {
    /// All sessions belong to one tenant.
    #[default]
    SingleTenant,
    /// Sessions of different tenants: each has its own kernel user and hard limits on memory and processes.
    TenantIsolation,
}
