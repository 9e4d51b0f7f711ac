//! Virtual servers: what clients of the gateway connect to.

mod code;
mod mount_rules;
mod sandbox_policy;

use crate::{ServerId, TeamId, TenantId, UserId};

pub use code::{BadScope, CodeDefaults, CodeSettings, CodeSurface, PersonalData, SkillsScope, Tokenization};
pub use mount_rules::{MountRules, MountableTool};
pub use sandbox_policy::{FileGlobs, PolicyNumber, Runtime, SandboxPolicy, ToolGlobs};

/// A server of the gateway, at `/servers/{id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualServer {
    /// Unique in the deployment.
    pub id: ServerId,
    /// Users of other tenants never see it.
    pub tenant: TenantId,
    /// The user who created it.
    pub owner: UserId,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// Milliseconds since 1970, in UTC.
    pub updated_ms: i64,
    /// What its users may change.
    pub settings: ServerSettings,
}

/// The part of a virtual server that a request sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Unique in the tenant.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// What it shows to clients.
    pub kind: ServerKind,
    /// Without duplicates, in the order given.
    pub tags: Vec<String>,
    /// Who may see it.
    pub visibility: Visibility,
    /// Present if `visibility` is [`Visibility::Team`].
    pub team: Option<TeamId>,
    /// An address or an image as `data:` text.
    pub icon: Option<String>,
}

/// What a virtual server shows to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerKind {
    /// The tools of upstream servers, passed through.
    Standard,
    /// Tools that run programs.
    CodeExecution(Box<CodeSettings>),
}

/// Who may see something, within its tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Visibility {
    /// Every user of the tenant.
    Public,
    /// The members of its team, and its owner.
    Team,
    /// Its owner.
    Private,
}

// === impl ServerKind ===

impl ServerKind {
    /// Both names, in the order of the variants.
    pub const NAMES: [&str; 2] = ["standard", "code_execution"];

    /// As in the field `type`.
    pub fn name(&self) -> &'static str {
        match self {
            ServerKind::Standard => "standard",
            ServerKind::CodeExecution(_) => "code_execution",
        }
    }

    /// The settings of a server that runs programs.
    pub fn code(&self) -> Option<&CodeSettings> {
        match self {
            ServerKind::Standard => None,
            ServerKind::CodeExecution(code) => Some(code),
        }
    }
}

// === impl Visibility ===

impl Visibility {
    /// From the widest to the narrowest.
    pub const ALL: [Visibility; 3] = [Visibility::Public, Visibility::Team, Visibility::Private];

    /// The word in requests and records.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Team => "team",
            Visibility::Private => "private",
        }
    }
}
