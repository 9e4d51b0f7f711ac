//! `/teams`: teams are listed, made, read, renamed and removed, and so are their members.

use gateway::{ApiReply, ApiRequest};
use identity::{Identity, Permission, Team};
use rest::{Deleted, MemberPage, MemberView, NamesQuery, RestError, TeamPage, TeamView};
use store::audit::AuditActor;
use types::TeamId;

use super::errors::{mistake, of_account, refused_as};
use super::users::named_user;
use super::{GatewayApi, json, names_page, query};

impl GatewayApi {
    pub(super) async fn list_teams(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let query = query(request, NamesQuery::read)?;
        let (accounts, tenant) = (&self.parts.tables.accounts, identity.principal().tenant());
        if identity.sees_all_teams() {
            let found = accounts
                .teams(tenant, names_page(&query))
                .await
                .map_err(of_account)?;
            let last = found.last().filter(|_| found.len() >= query.limit);
            return json(200, &TeamPage::of(&found, last.map(|team| &team.id)));
        }
        let is_after = |team: &&TeamId| query.after.as_deref().is_none_or(|after| team.as_str() > after);
        let own: Vec<&TeamId> = identity.teams().filter(is_after).take(query.limit).collect();
        let found = accounts.teams_among(tenant, &own).await.map_err(of_account)?;
        let last = own.last().filter(|_| own.len() >= query.limit);
        json(200, &TeamPage::of(&found, last.copied()))
    }

    pub(super) async fn create_team(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let new = rest::create_team(&request.body)?;
        let tenant = identity.principal().tenant();
        let created = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .create_team(tenant, &new.id, &new.name)
            .await;
        json(201, &TeamView::of(&created.map_err(of_account)?))
    }

    pub(super) async fn read_team(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let team = self.team(identity, Permission::TeamsRead, request).await?;
        json(200, &TeamView::of(&team))
    }

    pub(super) async fn update_team(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let team = self.team(identity, Permission::TeamsUpdate, request).await?;
        let name = rest::update_team(&request.body, &team)?;
        let renamed = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .rename_team(&team.tenant, &team.id, &name)
            .await;
        json(200, &TeamView::of(&renamed.map_err(of_account)?))
    }

    pub(super) async fn delete_team(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let team = self.team(identity, Permission::TeamsDelete, request).await?;
        let deleted = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .delete_team(&team.tenant, &team.id)
            .await;
        match deleted.map_err(of_account)? {
            true => json(200, &Deleted::team(&team.id)),
            false => Err(no_team()),
        }
    }

    pub(super) async fn list_members(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let team = self.team(identity, Permission::TeamsRead, request).await?;
        let query = query(request, NamesQuery::read)?;
        let accounts = &self.parts.tables.accounts;
        let found = accounts.members(&team.tenant, &team.id, names_page(&query)).await;
        json(200, &MemberPage::of(&found.map_err(of_account)?, query.limit))
    }

    pub(super) async fn set_member(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let team = self.team(identity, Permission::TeamsUpdate, request).await?;
        let role = rest::set_member(&request.body)?;
        identity
            .may_appoint(role, Some(&team.id))
            .map_err(|refusal| mistake(&refusal))?;
        let user = named_user(identity, request)?;
        let set = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .set_member(&team.id, &user, role)
            .await;
        json(200, &MemberView::of(&set.map_err(of_account)?))
    }

    pub(super) async fn remove_member(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let team = self.team(identity, Permission::TeamsUpdate, request).await?;
        let user = named_user(identity, request)?;
        let removed = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .remove_member(&team.id, &user)
            .await;
        match removed.map_err(of_account)? {
            true => json(200, &Deleted::member(user.user())),
            false => Err(RestError::NotFound("Member not found".to_owned())),
        }
    }

    /// The team that the path names, if the caller sees it and may do this to it.
    async fn team(
        &self,
        identity: &Identity,
        permission: Permission,
        request: &ApiRequest,
    ) -> Result<Team, RestError> {
        let tenant = identity.principal().tenant();
        // A text that is no id is the id of no team.
        let id = identity::team_id(request.parameter("id")).map_err(|_| no_team())?;
        identity
            .decide_team(permission, tenant, &id)
            .map_err(|refusal| refused_as(refusal, no_team))?;
        let found = self
            .parts
            .tables
            .accounts
            .team(tenant, &id)
            .await
            .map_err(of_account)?;
        found.ok_or_else(no_team)
    }
}

fn no_team() -> RestError {
    RestError::NotFound("Team not found".to_owned())
}
