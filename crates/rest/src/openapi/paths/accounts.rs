//! The routes of tokens, users, teams and members.

use utoipa::openapi::HttpMethod;

use super::route::Success::{List, One, Page};
use super::route::{Route, get};
use crate::page;

pub(super) fn routes() -> [Route; 19] {
    [
        Route {
            query: &page::TOKENS,
            refusals: &[422],
            ..get(
                "/tokens",
                "list_tokens",
                "Lists API tokens, without secrets: the caller's own, or those of all users for a platform admin.",
                Page("TokenPage"),
            )
        },
        Route {
            method: HttpMethod::Post,
            body: Some("CreateToken"),
            answer: (201, One("CreatedToken")),
            refusals: &[400, 404, 409, 422],
            ..get(
                "/tokens",
                "create_token",
                "Creates an API token and shows the secret once.",
                One("CreatedToken"),
            )
        },
        Route {
            method: HttpMethod::Delete,
            ..get(
                "/tokens/{id}",
                "revoke_token",
                "Revokes an API token and the tokens that its user created with it.",
                One("TokenView"),
            )
        },
        Route {
            query: &page::LOGINS,
            refusals: &[422],
            ..get(
                "/logins",
                "list_logins",
                "Lists logins to upstream servers: the caller's own, or those of all users for a platform admin.",
                List("LoginView"),
            )
        },
        Route {
            method: HttpMethod::Put,
            body: Some("SetLogin"),
            refusals: &[400, 404, 422],
            ..get(
                "/logins/{name}",
                "set_login",
                "Stores the caller's key for an upstream server whose users have their own logins.",
                One("LoginView"),
            )
        },
        Route {
            method: HttpMethod::Delete,
            query: &page::LOGINS,
            refusals: &[404, 422],
            ..get(
                "/logins/{name}",
                "revoke_login",
                "Revokes a login to an upstream server, there and here.",
                One("Deleted"),
            )
        },
        Route {
            query: &page::NAMES,
            refusals: &[422],
            ..get("/users", "list_users", "Lists users.", Page("UserPage"))
        },
        Route {
            method: HttpMethod::Post,
            body: Some("CreateUser"),
            answer: (201, One("UserView")),
            refusals: &[400, 409, 422],
            ..get("/users", "create_user", "Creates a user.", One("UserView"))
        },
        get("/users/{email}", "read_user", "Reads a user.", One("UserView")),
        Route {
            method: HttpMethod::Put,
            body: Some("UpdateUser"),
            refusals: &[400, 404, 409, 422],
            ..get(
                "/users/{email}",
                "update_user",
                "Changes a user's role, or disables a user.",
                One("UserView"),
            )
        },
        Route {
            method: HttpMethod::Delete,
            refusals: &[404, 409],
            ..get(
                "/users/{email}",
                "delete_user",
                "Removes a user with all tokens and memberships.",
                One("Deleted"),
            )
        },
        Route {
            query: &page::NAMES,
            refusals: &[422],
            ..get(
                "/teams",
                "list_teams",
                "Lists the teams that the caller sees.",
                Page("TeamPage"),
            )
        },
        Route {
            method: HttpMethod::Post,
            body: Some("CreateTeam"),
            answer: (201, One("TeamView")),
            refusals: &[400, 409, 422],
            ..get("/teams", "create_team", "Creates a team.", One("TeamView"))
        },
        get("/teams/{id}", "read_team", "Reads a team.", One("TeamView")),
        Route {
            method: HttpMethod::Put,
            body: Some("UpdateTeam"),
            refusals: &[400, 404, 422],
            ..get("/teams/{id}", "update_team", "Renames a team.", One("TeamView"))
        },
        Route {
            method: HttpMethod::Delete,
            ..get(
                "/teams/{id}",
                "delete_team",
                "Removes a team with its memberships.",
                One("Deleted"),
            )
        },
        Route {
            query: &page::NAMES,
            refusals: &[404, 422],
            ..get(
                "/teams/{id}/members",
                "list_members",
                "Lists the members of a team.",
                Page("MemberPage"),
            )
        },
        Route {
            method: HttpMethod::Put,
            body: Some("SetMember"),
            refusals: &[400, 404, 422],
            ..get(
                "/teams/{id}/members/{email}",
                "set_member",
                "Adds a member to a team, or changes a member's role.",
                One("MemberView"),
            )
        },
        Route {
            method: HttpMethod::Delete,
            ..get(
                "/teams/{id}/members/{email}",
                "remove_member",
                "Removes a member from a team.",
                One("Deleted"),
            )
        },
    ]
}
