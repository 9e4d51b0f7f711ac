//! Arguments of `codeyard token`, `codeyard user` and `codeyard team`.

use clap::{Args, Subcommand};
use identity::{Permission, Role};

use super::values::{Expiry, parse_expiry, parse_permission, parse_role};

pub(super) const TOKEN_HELP: &str = "\
A token is shown once. Codeyard stores its hash.

Examples:
  codeyard token create --user me@example.com --role platform_admin
  codeyard token create --user ana@example.com --role developer --team billing --expires 30d
  codeyard token list
  codeyard token revoke 3f9c2b7a1d5e8f6a0b4c7d21";

pub(super) const USER_HELP: &str = "\
Examples:
  codeyard user list
  codeyard user create ana@example.com --role developer
  codeyard user disable ana@example.com";

pub(super) const TEAM_HELP: &str = "\
Examples:
  codeyard team create billing --name \"Billing\"
  codeyard team add billing ana@example.com --role developer
  codeyard team list";

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token, and print it
    Create(CreateToken),
    /// List tokens, without their texts
    List(ListTokens),
    /// Revoke a token, and those that its owner created with it
    Revoke(RevokeToken),
}

#[derive(Debug, Args)]
pub struct CreateToken {
    /// Owner of the token; created if unknown
    #[arg(long, value_name = "EMAIL")]
    pub user: String,
    /// Role of the token, limited by the owner's: platform_admin, team_admin, developer, viewer or platform_viewer
    #[arg(long, value_name = "ROLE", value_parser = parse_role)]
    pub role: Role,
    /// Team of the token; created if unknown; may be given more than once [default: none, or all for platform_admin]
    #[arg(long, value_name = "TEAM")]
    pub team: Vec<String>,
    /// Limits the token to this permission; may be given more than once [default: all of the role]
    #[arg(long, value_name = "PERMISSION", value_parser = parse_permission)]
    pub scope: Vec<Permission>,
    /// 30d, or a time such as 2027-01-31T00:00:00Z [default: never]
    #[arg(long, value_name = "TIME", value_parser = parse_expiry)]
    pub expires: Option<Expiry>,
    /// Description of the token in lists
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListTokens {
    /// Only those of this user
    #[arg(long, value_name = "EMAIL")]
    pub user: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RevokeToken {
    /// The token's id, as `codeyard token list` shows it
    #[arg(value_name = "ID")]
    pub id: String,
}

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user
    Create(CreateUser),
    /// List users
    List(ListAccounts),
    /// Refuse all tokens of a user
    Disable(NamedUser),
    /// Accept the tokens of a disabled user again
    Enable(NamedUser),
    /// Remove a user, with all tokens and memberships
    Delete(NamedUser),
}

#[derive(Debug, Args)]
pub struct CreateUser {
    /// The user's address
    #[arg(value_name = "EMAIL")]
    pub user: String,
    /// Role outside of teams
    #[arg(long, value_name = "ROLE", value_parser = parse_role)]
    pub role: Role,
}

#[derive(Debug, Args)]
pub struct NamedUser {
    /// The user's address
    #[arg(value_name = "EMAIL")]
    pub user: String,
}

#[derive(Debug, Args)]
pub struct ListAccounts {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// Create a team
    Create(CreateTeam),
    /// List teams with their members
    List(ListAccounts),
    /// Add a user to a team, or change a member's role
    Add(AddMember),
    /// End a membership
    Remove(Member),
    /// Remove a team with its memberships
    Delete(NamedTeam),
}

#[derive(Debug, Args)]
pub struct CreateTeam {
    /// The team's id, as in addresses and tokens
    #[arg(value_name = "TEAM")]
    pub team: String,
    /// Name for people [default: the id]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct NamedTeam {
    /// The team
    #[arg(value_name = "TEAM")]
    pub team: String,
}

#[derive(Debug, Args)]
pub struct Member {
    /// The team
    #[arg(value_name = "TEAM")]
    pub team: String,
    /// The user's address
    #[arg(value_name = "EMAIL")]
    pub user: String,
}

#[derive(Debug, Args)]
pub struct AddMember {
    #[command(flatten)]
    pub member: Member,
    /// Role in the team: team_admin, developer or viewer
    #[arg(long, value_name = "ROLE", value_parser = parse_role)]
    pub role: Role,
}
