//! The schemas of upstream servers.

use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::{
    MAX_DESCRIPTION, MAX_ITEM, Named, closed, flag, list_or_null, named, nullable, of, or_null, text,
    text_or_null, words,
};
use crate::body::upstream::{MAX_NAME, READ_ONLY};
use crate::upstreams::{UpstreamHealth, UpstreamPage, UpstreamTest, UpstreamTool, UpstreamView};

/// Characters of an address or of a program's path.
const MAX_PLACE: usize = 8192;

/// All schemas by name.
pub(super) fn all() -> Vec<(String, Named)> {
    let derived = [
        of::<UpstreamView>(),
        of::<UpstreamHealth>(),
        of::<UpstreamPage>(),
        of::<UpstreamTest>(),
        of::<UpstreamTool>(),
    ];
    let written = [
        ("UpstreamSource", words(["rest", "file"])),
        ("UpstreamTransport", words(["http", "sse", "stdio"])),
        ("UpstreamState", words(STATES)),
        ("CreateUpstream", create_upstream()),
        ("UpdateUpstream", update_upstream()),
    ];
    let written = written.map(|(name, schema)| (name.to_owned(), schema));
    derived.into_iter().chain(written).collect()
}

const STATES: [&str; 7] = [
    "idle",
    "starting",
    "running",
    "suspended",
    "needs_login",
    "failed",
    "disabled",
];

fn number(least: usize) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(nullable(Type::Integer))
        .minimum(Some(least))
}

fn patterns() -> RefOr<Schema> {
    list_or_null(text(MAX_ITEM).min_length(Some(1))).into()
}

fn definition(description: &str) -> ObjectBuilder {
    closed(description)
        .property("visibility", named("Visibility"))
        .property("team_id", text_or_null(MAX_ITEM))
        .property("url", text_or_null(MAX_PLACE))
        .property("type", text_or_null(MAX_ITEM))
        .property("headers", or_null("JsonObject"))
        .property("command", text_or_null(MAX_PLACE))
        .property("args", list_or_null(text(MAX_PLACE)))
        .property("env", or_null("JsonObject"))
        .property("cwd", text_or_null(MAX_PLACE))
        .property("sandbox", or_null("JsonObject"))
        .property("limits", or_null("JsonObject"))
        .property("description", text_or_null(MAX_DESCRIPTION))
        .property("disabled", flag())
        .property("timeout", number(1))
        .property("allow", patterns())
        .property("deny", patterns())
        .property("tags", list_or_null(named("Tag")))
        .property("trusted", flag())
        .property("max_calls", number(1))
        .property("max_calls_per_minute", number(1))
        .property("idle_stop", number(0))
        .property("login", text_or_null(MAX_ITEM))
}

fn create_upstream() -> Named {
    let name = text(MAX_NAME)
        .min_length(Some(1))
        .pattern(Some("^[A-Za-z][A-Za-z0-9_-]*$"));
    definition("The body of `POST /upstreams`, with `url` or `command`. Names may be in camelCase.")
        .property("name", name)
        .required("name")
        .into()
}

fn update_upstream() -> Named {
    let object = definition(
        "The body of `PUT /upstreams/{name}`. Absent members stay unchanged, null clears. Names may be in camelCase. \
        Clients may send back the object that they read.",
    );
    let texts = READ_ONLY
        .into_iter()
        .filter(|name| *name != "health")
        .chain(["name"]);
    let object = texts.fold(object, |object, name| {
        object.property(name, text_or_null(MAX_ITEM))
    });
    object.property("health", or_null("UpstreamHealth")).into()
}
