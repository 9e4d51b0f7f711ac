//! The isolation of sessions that the operator demands.

/// The weakest isolation that the operator accepts (`[sandbox] require`). A backend that cannot give it refuses to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequiredIsolation {
    /// All sessions belong to one tenant.
    #[default]
    SingleTenant,
    /// Sessions of different tenants: each session has its own kernel user and hard limits on memory and processes.
    TenantIsolation,
}
