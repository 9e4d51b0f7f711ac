//! Concludes a command: records a refusal, or waits until a change takes effect.

use identity::AuditAction;
use store::audit::RefusedAct;
use store::{Accounts, Audit, Trouble};

use super::operator::{actor, tenant};
use crate::cli::{AddMember, Member, TeamCommand, TokenCommand, UserCommand};
use crate::exit::{self, Exit, Failure};

/// The action of a command and its object's name as written; `None` for a read.
pub(super) struct Attempt(Option<(AuditAction, String)>);

impl Attempt {
    pub(super) fn of_token(command: &TokenCommand) -> Attempt {
        Attempt(match command {
            // The id of the token does not exist yet.
            TokenCommand::Create(_) => Some((AuditAction::TokenCreate, String::new())),
            TokenCommand::Revoke(token) => Some((AuditAction::TokenRevoke, token.id.clone())),
            TokenCommand::List(_) => None,
        })
    }

    pub(super) fn of_user(command: &UserCommand) -> Attempt {
        Attempt(match command {
            UserCommand::Create(user) => Some((AuditAction::UserCreate, user.user.clone())),
            UserCommand::Disable(user) | UserCommand::Enable(user) => {
                Some((AuditAction::UserUpdate, user.user.clone()))
            }
            UserCommand::Delete(user) => Some((AuditAction::UserDelete, user.user.clone())),
            UserCommand::List(_) => None,
        })
    }

    pub(super) fn of_team(command: &TeamCommand) -> Attempt {
        let member = |Member { team, user }: &Member| format!("{team}/{user}");
        Attempt(match command {
            TeamCommand::Create(team) => Some((AuditAction::TeamCreate, team.team.clone())),
            TeamCommand::Delete(team) => Some((AuditAction::TeamDelete, team.team.clone())),
            TeamCommand::Add(AddMember { member: added, .. }) => {
                Some((AuditAction::MemberSet, member(added)))
            }
            TeamCommand::Remove(removed) => Some((AuditAction::MemberRemove, member(removed))),
            TeamCommand::List(_) => None,
        })
    }

    /// Records a refusal, but does not create a missing database for it. After a change, waits until each `serve` has
    /// seen the change.
    pub(super) async fn conclude(
        self,
        accounts: &Accounts,
        done: anyhow::Result<Exit>,
    ) -> anyhow::Result<Exit> {
        let Some((action, id)) = self.0 else {
            return done;
        };
        match &done {
            Ok(_) => tokio::time::sleep(server::CHANGES_SEEN_AFTER).await,
            Err(error) if exit::of(error) == Exit::Broken => {}
            Err(error) => {
                let act = RefusedAct::by_command(action, &tenant(), &id, &error.to_string());
                let audit = Audit::new(accounts.database().clone());
                let recorded = record(&audit, act).await;
                audit.close().await;
                recorded.map_err(|trouble| Failure::new(Exit::Broken, trouble))?;
            }
        }
        done
    }
}

async fn record(audit: &Audit, act: RefusedAct) -> Result<(), Trouble> {
    match audit.exists().await? {
        true => audit.refused(&actor(), act).await,
        false => Ok(()),
    }
}
