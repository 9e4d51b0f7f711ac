//! The schemas of tokens, users, teams and members.

use identity::{MAX_NAME, Permission, Role};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::{Named, closed, list_or_null, named, nullable, of, text, text_or_null, words};
use crate::accounts::{
    CreatedToken, MemberPage, MemberView, TeamPage, TeamView, TokenPage, TokenView, UserPage, UserView,
    team_roles,
};
use crate::body::MAX_KEY;
use crate::logins::LoginView;

/// Maximum bytes of an address, as `identity` checks.
const MAX_EMAIL: usize = 254;
/// Maximum bytes of a team's id.
const MAX_TEAM: usize = 64;
const TEAM: &str = "^[a-z0-9][a-z0-9._-]*$";

/// All schemas by name.
pub(super) fn all() -> Vec<(String, Named)> {
    let derived = [
        of::<TokenView>(),
        of::<CreatedToken>(),
        of::<TokenPage>(),
        of::<UserView>(),
        of::<UserPage>(),
        of::<TeamView>(),
        of::<TeamPage>(),
        of::<MemberView>(),
        of::<MemberPage>(),
        of::<LoginView>(),
    ];
    let written = [
        ("Role", words(Role::ALL.iter().map(|role| role.name()))),
        ("TeamRole", words(team_roles().map(Role::name))),
        ("Permission", words(Permission::ALL.iter().map(|one| one.name()))),
        ("CreateToken", create_token()),
        ("CreateUser", create_user()),
        ("UpdateUser", update_user()),
        ("CreateTeam", create_team()),
        ("UpdateTeam", update_team()),
        ("SetMember", set_member()),
        ("SetLogin", set_login()),
    ];
    let written = written.map(|(name, schema)| (name.to_owned(), schema));
    derived.into_iter().chain(written).collect()
}

fn create_token() -> Named {
    let expires = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("Time of expiry; absent or null for a token without expiry."));
    closed("The body of `POST /tokens`. A new token has at most the rights of the token in use.")
        .property(
            "user",
            text_or_null(MAX_EMAIL).description(Some("Absent or null for the caller.")),
        )
        .property("name", text_or_null(MAX_NAME).min_length(Some(1)))
        .property("role", named("Role"))
        .property("teams", teams())
        .property("scopes", list_or_null(named("Permission")))
        .property("expires", expires)
        .required("role")
        .into()
}

fn teams() -> RefOr<Schema> {
    let about =
        "Without `teams`, a platform admin's token is unrestricted; other tokens reach public objects only.";
    list_or_null(team()).description(Some(about)).into()
}

fn team() -> ObjectBuilder {
    text(MAX_TEAM).min_length(Some(1)).pattern(Some(TEAM))
}

fn create_user() -> Named {
    closed("The body of `POST /users`.")
        .property("user", text(MAX_EMAIL).min_length(Some(3)))
        .property("role", named("Role"))
        .required("user")
        .required("role")
        .into()
}

fn update_user() -> Named {
    closed(
        "The body of `PUT /users/{email}`. Absent members stay unchanged. Clients may send back the object that they \
        read.",
    )
    .property("role", named("Role"))
    .property(
        "disabled",
        ObjectBuilder::new().schema_type(SchemaType::Type(Type::Boolean)),
    )
    .property("user", text(MAX_EMAIL))
    .property("created_at", text(MAX_TEAM))
    .property("disabled_at", text_or_null(MAX_TEAM))
    .into()
}

fn name() -> ObjectBuilder {
    text(MAX_NAME).min_length(Some(1))
}

fn create_team() -> Named {
    closed("The body of `POST /teams`. The default name is the id.")
        .property("id", team())
        .property("name", text_or_null(MAX_NAME).min_length(Some(1)))
        .required("id")
        .into()
}

fn update_team() -> Named {
    let description = "The body of `PUT /teams/{id}`. Absent members stay unchanged. Clients may send back the \
    object that they read.";
    closed(description)
        .property("name", name())
        .property("id", team())
        .property("created_at", text(MAX_TEAM))
        .into()
}

fn set_login() -> Named {
    let key = text(MAX_KEY).min_length(Some(1));
    let key = key.description(Some("Sent to the server as a bearer token."));
    closed("The body of `PUT /logins/{name}`.")
        .property("key", key)
        .required("key")
        .into()
}

fn set_member() -> Named {
    closed("The body of `PUT /teams/{id}/members/{email}`.")
        .property("role", named("TeamRole"))
        .required("role")
        .into()
}
