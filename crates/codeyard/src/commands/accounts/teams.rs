//! `codeyard team`.

use identity::{Membership, Team};
use serde_json::json;
use store::Accounts;
use store::accounts::{AccountError, AccountKind, AccountPage};
use types::TeamId;

use super::operator::{ROWS, actor, failure, principal, team_id, tenant};
use crate::cli::{AddMember, CreateTeam, ListAccounts, Member, NamedTeam, TeamCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) async fn run(
    context: &Context,
    accounts: &Accounts,
    command: &TeamCommand,
) -> anyhow::Result<Exit> {
    match command {
        TeamCommand::Create(CreateTeam { team, name }) => {
            let id = team_id(team)?;
            let name = name.as_deref().unwrap_or(team);
            accounts
                .by(&actor())
                .create_team(&tenant(), &id, name)
                .await
                .map_err(failure)?;
            context.output.tell(&format!("created team {id}"));
        }
        TeamCommand::List(arguments) => list(context, accounts, arguments).await?,
        TeamCommand::Add(AddMember { member, role }) => {
            let (team, user) = (team_id(&member.team)?, principal(&member.user)?);
            accounts
                .by(&actor())
                .set_member(&team, &user, *role)
                .await
                .map_err(failure)?;
            context
                .output
                .tell(&format!("{} is {role} of team {team}", user.user()));
        }
        TeamCommand::Remove(Member { team, user }) => {
            let (team, member) = (team_id(team)?, principal(user)?);
            if !accounts
                .by(&actor())
                .remove_member(&team, &member)
                .await
                .map_err(failure)?
            {
                let message = format!("{user} is not a member of team {team}");
                return Err(Failure::new(Exit::ProgramFailed, message).into());
            }
            context.output.tell(&format!("removed {user} from team {team}"));
        }
        TeamCommand::Delete(NamedTeam { team }) => {
            let id = team_id(team)?;
            if !accounts
                .by(&actor())
                .delete_team(&tenant(), &id)
                .await
                .map_err(failure)?
            {
                let unknown = AccountError::Unknown {
                    kind: AccountKind::Team,
                    name: team.clone(),
                };
                return Err(failure(unknown).into());
            }
            context
                .output
                .tell(&format!("removed team {id} with its memberships"));
        }
    }
    Ok(Exit::Done)
}

async fn list(context: &Context, accounts: &Accounts, arguments: &ListAccounts) -> anyhow::Result<()> {
    let mut teams: Vec<(Team, Vec<Membership>)> = Vec::new();
    loop {
        let after = teams.last().map(|(team, _)| team.id.to_string());
        let page = accounts
            .teams(&tenant(), page(after.as_deref()))
            .await
            .map_err(failure)?;
        let is_last = page.len() < ROWS as usize;
        for team in page {
            let members = members(accounts, &team.id).await?;
            teams.push((team, members));
        }
        if is_last {
            break;
        }
    }
    if arguments.json {
        let teams: Vec<_> = teams
            .iter()
            .map(|(team, members)| {
                let members: Vec<_> = members
                    .iter()
                    .map(|member| json!({"user": member.user.user().as_str(), "role": member.role.name()}))
                    .collect();
                json!({"team": team.id.as_str(), "name": team.name, "members": members})
            })
            .collect();
        return context.output.json(&json!({ "teams": teams }));
    }
    let head = vec!["TEAM".to_owned(), "NAME".to_owned(), "MEMBERS".to_owned()];
    let rows = teams.iter().map(|(team, members)| {
        let members: Vec<String> = members
            .iter()
            .map(|member| format!("{} ({})", member.user.user(), member.role))
            .collect();
        vec![
            team.id.to_string(),
            output::one_line(&team.name),
            members.join(", "),
        ]
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    context.output.print(&output::table(&rows))
}

async fn members(accounts: &Accounts, team: &TeamId) -> Result<Vec<Membership>, Failure> {
    let mut members: Vec<Membership> = Vec::new();
    loop {
        let after = members.last().map(|member| member.user.user().to_string());
        let found = accounts
            .members(&tenant(), team, page(after.as_deref()))
            .await
            .map_err(failure)?;
        let is_last = found.len() < ROWS as usize;
        members.extend(found);
        if is_last {
            return Ok(members);
        }
    }
}

fn page(after: Option<&str>) -> AccountPage<'_> {
    AccountPage { after, limit: ROWS }
}
