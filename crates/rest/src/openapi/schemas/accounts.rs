//! The schemas of tokens, users, teams and members.

use identity::{MAX_NAME, Permission, Role};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::{Named, closed, list_or_null, named, nullable, of, text, text_or_null, words};
use crate::accounts::{
    CreatedToken, MemberPage, MemberView, TeamPage, TeamView, TokenPage, TokenView, UserPage, UserView,
    team_roles,
};

/// Bytes of an address, which `identity` checks.
const MAX_EMAIL: usize = 254;
/// Bytes of a team's id.
const MAX_TEAM: usize = 64;
const TEAM: &str = "^[a-z0-9][a-z0-9._-]*$";

/// All of them by name.
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
    ];
    let written = written.map(|(name, schema)| (name.to_owned(), schema));
    derived.into_iter().chain(written).collect()
}

fn create_token() -> Named {
    let expires = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("When the token ends; absent or null for never."));
    closed("The body of `POST /tokens`. Nobody gives more than the token in use has.")
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
        "Without it, a platform admin's token is unrestricted and any other reaches only what is public.";
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
        "The body of `PUT /users/{email}`: what is absent stays. A body that was read may be written back.",
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
    closed("The body of `POST /teams`. A team without a name is called by its id.")
        .property("id", team())
        .property("name", text_or_null(MAX_NAME).min_length(Some(1)))
        .required("id")
        .into()
}

fn update_team() -> Named {
    closed("The body of `PUT /teams/{id}`: what is absent stays. A body that was read may be written back.")
        .property("name", name())
        .property("id", team())
        .property("created_at", text(MAX_TEAM))
        .into()
}

fn set_member() -> Named {
    closed("The body of `PUT /teams/{id}/members/{email}`.")
        .property("role", named("TeamRole"))
        .required("role")
        .into()
}
