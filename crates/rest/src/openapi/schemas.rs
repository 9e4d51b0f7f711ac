//! Schemas: derived for answers, built from the readers' tables for bodies.

mod accounts;
mod upstreams;

use std::collections::BTreeMap;

use serde_json::Value;
use types::{
    CodeSurface, Language, MountRules, PersonalData, PolicyNumber, Runtime, ServerKind, SkillsScope,
    Tokenization, Visibility,
};
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::audit::{
    AuditView, ReplayView, RunMetrics, RunStatus, RunView, SecurityEvent, SecurityEventKind,
    SecurityEventView, SessionView, ToolCallView,
};
use crate::body::{LANGUAGES, MAX_DESCRIPTION, MAX_ICON, MAX_ITEM, MAX_ITEMS, MAX_NAME, STUB_LANGUAGES};
use crate::error::{ErrorBody, FieldError};
use crate::logins::LoginView;
use crate::rpc::RpcId;
use crate::view::{Deleted, ServerPage, ServerView, ToolView};

type Named = RefOr<Schema>;

/// All schemas by name.
pub(super) fn all() -> BTreeMap<String, Named> {
    let derived = [
        of::<ErrorBody>(),
        of::<FieldError>(),
        of::<ServerView>(),
        of::<ServerPage>(),
        of::<Deleted>(),
        of::<ToolView>(),
        of::<RunView>(),
        of::<ReplayView>(),
        of::<RunStatus>(),
        of::<RunMetrics>(),
        of::<ToolCallView>(),
        of::<SecurityEvent>(),
        of::<SecurityEventKind>(),
        of::<SecurityEventView>(),
        of::<SessionView>(),
        of::<AuditView>(),
        of::<RpcId>(),
    ];
    let words = [
        ("ServerType", words(ServerKind::NAMES)),
        ("Visibility", words(Visibility::ALL.map(Visibility::name))),
        ("CodeSurface", words(CodeSurface::ALL.map(CodeSurface::name))),
        ("StubLanguage", words(STUB_LANGUAGES.map(Language::name))),
        ("Runtime", words(Runtime::ALL.map(Runtime::name))),
        ("PersonalData", words(PersonalData::ALL.map(PersonalData::name))),
    ];
    let objects = [
        ("CreateServer", create_server()),
        ("UpdateServer", update_server()),
        ("MountRules", mount_rules()),
        ("SandboxPolicy", sandbox_policy()),
        ("SandboxLimits", sandbox_limits()),
        ("SandboxPermissions", sandbox_permissions()),
        (
            "FilePermissions",
            lists("Globs on virtual paths; `deny` wins.", ["read", "write", "deny"]),
        ),
        (
            "ToolPermissions",
            lists("Globs on `server/tool`; `deny` wins.", ["allow", "deny"]),
        ),
        ("NetworkPermissions", network().into()),
        ("RuntimeRequirements", runtime_requirements()),
        ("Tokenization", tokenization()),
        ("Tag", tag()),
        ("ServerList", server_list()),
        ("RpcRequest", rpc_request()),
        ("RpcAnswer", rpc_answer()),
        ("RpcError", rpc_error()),
        ("McpMessage", mcp_message()),
        ("ErrorOrRpcAnswer", error_or_rpc_answer()),
        ("JsonObject", any_object()),
        ("JsonValue", any_value()),
    ];
    let written = words.into_iter().chain(objects);
    let written = written.map(|(name, schema)| (name.to_owned(), schema));
    let others = accounts::all().into_iter().chain(upstreams::all());
    derived.into_iter().chain(written).chain(others).collect()
}

fn of<T: ToSchema + PartialSchema>() -> (String, Named) {
    (T::name().into_owned(), T::schema())
}

pub(crate) fn named(name: &str) -> Named {
    RefOr::Ref(Ref::from_schema_name(name))
}

fn or_null(name: &str) -> Named {
    let null = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Null));
    OneOfBuilder::new().item(null).item(named(name)).into()
}

pub(crate) fn server_type() -> Named {
    named("ServerType")
}

pub(crate) fn visibility() -> Named {
    named("Visibility")
}

pub(crate) fn surface_or_null() -> Named {
    or_null("CodeSurface")
}

pub(crate) fn stub_language_or_null() -> Named {
    or_null("StubLanguage")
}

pub(crate) fn mount_rules_or_null() -> Named {
    or_null("MountRules")
}

pub(crate) fn sandbox_policy_or_null() -> Named {
    or_null("SandboxPolicy")
}

pub(crate) fn tokenization_or_null() -> Named {
    or_null("Tokenization")
}

pub(crate) fn role() -> Named {
    named("Role")
}

pub(crate) fn login_state() -> Named {
    words(LoginView::STATES)
}

pub(crate) fn team_role() -> Named {
    named("TeamRole")
}

pub(crate) fn permissions_or_null() -> Named {
    ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .items(named("Permission"))
        .into()
}

pub(crate) fn json_object() -> Named {
    named("JsonObject")
}

pub(crate) fn json_object_or_null() -> Named {
    or_null("JsonObject")
}

pub(crate) fn upstream_source() -> Named {
    named("UpstreamSource")
}

pub(crate) fn upstream_transport() -> Named {
    named("UpstreamTransport")
}

pub(crate) fn upstream_state() -> Named {
    named("UpstreamState")
}

/// An object that allows no members beyond its schema.
fn closed(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Named {
    let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    let words: Vec<&str> = words.into_iter().collect();
    text.enum_values(Some(words)).into()
}

fn nullable(plain: Type) -> SchemaType {
    SchemaType::from_iter([plain, Type::Null])
}

fn text(most: usize) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .max_length(Some(most))
}

fn text_or_null(most: usize) -> ObjectBuilder {
    text(most).schema_type(nullable(Type::String))
}

fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(nullable(Type::Boolean))
}

fn list_or_null(items: impl Into<RefOr<Schema>>) -> ArrayBuilder {
    ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .items(items.into())
        .max_items(Some(MAX_ITEMS))
}

fn lists<const N: usize>(description: &str, names: [&str; N]) -> Named {
    let texts = || list_or_null(text(MAX_ITEM).min_length(Some(1)));
    let object = closed(description);
    names
        .into_iter()
        .fold(object, |object, name| object.property(name, texts()))
        .into()
}

/// The members of both bodies of servers.
fn settings(description: &str) -> ObjectBuilder {
    closed(description)
        .property("name", text(MAX_NAME).min_length(Some(1)))
        .property("description", text_or_null(MAX_DESCRIPTION))
        .property("type", named("ServerType"))
        .property(
            "icon",
            text_or_null(MAX_ICON).pattern(Some("^(https?://|data:image/)")),
        )
        .property("tags", list_or_null(named("Tag")))
        .property("visibility", named("Visibility"))
        .property("team_id", text_or_null(MAX_ITEM))
        .property("surface", or_null("CodeSurface"))
        .property("stub_language", or_null("StubLanguage"))
        .property("mount_rules", or_null("MountRules"))
        .property("sandbox_policy", or_null("SandboxPolicy"))
        .property("tokenization", or_null("Tokenization"))
        .property(
            "skills_scope",
            text_or_null(SkillsScope::MAX_BYTES).pattern(Some("^(team:.+|user:.+@.*|user:.*@.+)$")),
        )
        .property("skills_require_approval", flag())
}

fn create_server() -> Named {
    let object = settings("The body of `POST /servers`. Names may be in camelCase.");
    let id = text(64).min_length(Some(1)).schema_type(nullable(Type::String));
    object
        .property("id", id.pattern(Some("^[A-Za-z0-9_-]+$")))
        .required("name")
        .into()
}

fn update_server() -> Named {
    let object = settings(
        "The body of `PUT /servers/{id}`. Absent members stay unchanged, null clears. Names may be in camelCase. \
        Clients may send back the object that they read.",
    );
    let read_only = ["id", "owner_email", "created_at", "updated_at"];
    let object = read_only
        .into_iter()
        .fold(object, |object, name| object.property(name, text(MAX_ITEM)));
    object.into()
}

fn mount_rules() -> Named {
    let object = closed("The tools that the server mounts. An empty list sets no condition.");
    let lists = MountRules::NAMES.into_iter().fold(object, |object, name| {
        let items = if name.ends_with("_tags") {
            named("Tag")
        } else {
            text(MAX_ITEM).min_length(Some(1)).into()
        };
        object.property(name, list_or_null(items))
    });
    lists.into()
}

fn tag() -> Named {
    let object = closed("A tag as an object.");
    let text = || text(MAX_ITEM).min_length(Some(1));
    let object = object.property("name", text()).required("name");
    OneOfBuilder::new().item(text()).item(object).into()
}

fn numbers(object: ObjectBuilder) -> ObjectBuilder {
    PolicyNumber::ALL.into_iter().fold(object, |object, number| {
        let range = number.range();
        let bound = |bound: &u64| usize::try_from(*bound).ok();
        let schema = ObjectBuilder::new()
            .schema_type(nullable(Type::Integer))
            .minimum(bound(range.start()))
            .maximum(bound(range.end()));
        object.property(number.name(), schema)
    })
}

fn network() -> ObjectBuilder {
    closed("Access of programs to the network and to tools.")
        .property("allow_raw_http", flag())
        .property("allow_tool_calls", flag())
}

fn sandbox_policy() -> Named {
    let object = closed(
        "Limits and permissions of programs. An absent key has the operator's value. A flat key overrides the same \
        key below `limits`, `permissions` and `runtime_requirements`.",
    );
    numbers(object.property("runtime", or_null("Runtime")))
        .property("allow_raw_http", flag())
        .property("allow_tool_calls", flag())
        .property("limits", or_null("SandboxLimits"))
        .property("permissions", or_null("SandboxPermissions"))
        .property("runtime_requirements", or_null("RuntimeRequirements"))
        .into()
}

fn sandbox_limits() -> Named {
    numbers(closed("The numbers of a sandbox policy.")).into()
}

fn sandbox_permissions() -> Named {
    closed("Permissions of programs.")
        .property("filesystem", or_null("FilePermissions"))
        .property("tools", or_null("ToolPermissions"))
        .property("network", or_null("NetworkPermissions"))
        .into()
}

fn runtime_requirements() -> Named {
    let names: Vec<Value> = LANGUAGES
        .iter()
        .map(|(name, _)| (*name).into())
        .chain([Value::Null])
        .collect();
    let language = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .enum_values(Some(names));
    closed("The runtime by its language.")
        .property("language", language)
        .into()
}

fn tokenization() -> Named {
    let strategy = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .enum_values(Some([Value::from(Tokenization::STRATEGY), Value::Null]));
    closed("Replacement of personal data. An absent key has the operator's value.")
        .property("enabled", flag())
        .property("types", list_or_null(named("PersonalData")))
        .property("strategy", strategy)
        .into()
}

fn server_list() -> Named {
    let list = ArrayBuilder::new().items(named("ServerView"));
    OneOfBuilder::new().item(list).item(named("ServerPage")).into()
}

fn version() -> Named {
    words(["2.0"])
}

fn rpc_request() -> Named {
    closed("A request of JSON-RPC, or a notification without `id`.")
        .property("jsonrpc", version())
        .property("id", named("RpcId"))
        .property("method", text(255).min_length(Some(1)))
        .property("params", named("JsonObject"))
        .required("jsonrpc")
        .required("method")
        .into()
}

fn rpc_answer() -> Named {
    closed("An answer of JSON-RPC with `result` or `error`.")
        .property("jsonrpc", version())
        .property("id", or_null("RpcId"))
        .property("result", named("JsonObject"))
        .property("error", named("RpcError"))
        .required("jsonrpc")
        .required("id")
        .into()
}

fn rpc_error() -> Named {
    closed("An error of JSON-RPC.")
        .property(
            "code",
            ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer)),
        )
        .property(
            "message",
            ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)),
        )
        .property("data", named("JsonObject"))
        .required("code")
        .required("message")
        .into()
}

fn mcp_message() -> Named {
    OneOfBuilder::new()
        .description(Some("A message of the Model Context Protocol."))
        .item(named("RpcRequest"))
        .item(named("RpcAnswer"))
        .into()
}

fn error_or_rpc_answer() -> Named {
    OneOfBuilder::new()
        .description(Some("A refusal, of HTTP or of JSON-RPC."))
        .item(named("ErrorBody"))
        .item(named("RpcAnswer"))
        .into()
}

fn any_object() -> Named {
    ObjectBuilder::new()
        .description(Some(
            "An object whose members another document describes, such as a tool's schema.",
        ))
        .additional_properties(Some(named("JsonValue")))
        .into()
}

fn any_value() -> Named {
    let plain = [Type::String, Type::Number, Type::Boolean, Type::Null].map(SchemaType::Type);
    let choices = OneOfBuilder::new().description(Some("Any value of JSON."));
    let choices = plain.into_iter().fold(choices, |choices, plain| {
        choices.item(ObjectBuilder::new().schema_type(plain))
    });
    choices
        .item(ArrayBuilder::new().items(named("JsonValue")))
        .item(named("JsonObject"))
        .into()
}
