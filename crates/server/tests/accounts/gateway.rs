//! The gateway in this process, without upstream servers, on a database of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use environment::Machine;
use gateway::{Api as _, ApiReply, ApiRequest};
use identity::{Grant, Identity, Role, Route, RouteRefusal, TokenId, TokenSecret, TokenTeams};
use registry::Sources;
use rest::RestError;
use serde_json::Value;
use server::{GatewayApi, GatewayTables, Host};
use settings::{Arguments, Program};
use store::Accounts;
use store::accounts::NewToken;
use store::audit::AuditActor;
use tempfile::TempDir;
use types::{Principal, TeamId, TenantId};

/// Whoever makes what a test begins with.
pub fn actor() -> &'static AuditActor {
    static ACTOR: LazyLock<AuditActor> = LazyLock::new(AuditActor::command_line);
    &ACTOR
}

pub struct Gateway {
    pub api: GatewayApi,
    pub accounts: Accounts,
    _directory: TempDir,
}

/// An answer, as a client sees it.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Gateway {
    /// Teams `team-a` and `team-b`, and nobody.
    pub async fn new() -> Gateway {
        let directory = tempfile::tempdir().unwrap();
        let servers = directory.path().join("mcp.json");
        let settings = directory.path().join("codeyard.toml");
        fs::write(&servers, r#"{"mcpServers": {}}"#).unwrap();
        fs::write(&settings, "[pool]\nsize = 0\n").unwrap();
        let arguments = Arguments {
            sources: Sources {
                files: vec![servers],
                data: Some(directory.path().join("data")),
            },
            settings: Some(settings),
            ..Arguments::default()
        };
        let (loaded, settings) = settings::load_gateway(&arguments, &Machine).unwrap();
        let tables = GatewayTables::new(&loaded.database);
        let accounts = tables.accounts.clone();
        let program = Program {
            // No program runs here.
            executable: PathBuf::from("codeyard"),
            principal: Principal::local(),
        };
        let host = Host::new(loaded.into_parts(program, &Machine)).unwrap();
        for team in ["team-a", "team-b"] {
            let id = TeamId::new(team);
            accounts
                .by(actor())
                .create_team(&tenant(), &id, team)
                .await
                .unwrap();
        }
        Gateway {
            api: GatewayApi::new(
                host,
                tables,
                settings,
                settings::Gateway::default(),
                (Vec::new(), None),
            ),
            accounts,
            _directory: directory,
        }
    }

    /// Makes a user with this role, in these teams too, and a token of the user for all of it.
    pub async fn person(&self, name: &str, role: Role, teams: &[&str]) -> String {
        self.accounts
            .by(actor())
            .create_user(&user(name), role)
            .await
            .unwrap();
        for team in teams {
            let id = TeamId::new(*team);
            self.accounts
                .by(actor())
                .set_member(&id, &user(name), role)
                .await
                .unwrap();
        }
        self.token(&grant(name, role, teams)).await.0
    }

    /// A token as the command line makes it, with its id.
    pub async fn token(&self, grant: &Grant) -> (String, String) {
        let secret = TokenSecret::new(random());
        let id = TokenId::new(random());
        let token = NewToken {
            hash: &secret.hash(),
            id: &id,
            grant,
            made_by: None,
        };
        self.accounts.by(actor()).create_token(token).await.unwrap();
        (secret.reveal(), id.to_string())
    }

    /// Asks as the transport does: the token, the route's permission, then the answer. `asked` is a method and a path.
    pub async fn ask(&self, token: &str, asked: &str, body: Value) -> Answer {
        match self.answered(token, asked, &body).await {
            Ok(reply) => Answer {
                status: reply.status(),
                body: serde_json::from_slice(reply.body()).unwrap(),
            },
            Err(problem) => Answer {
                status: problem.status(),
                body: serde_json::to_value(problem.body()).unwrap(),
            },
        }
    }

    /// As [`Gateway::ask`], for an answer that is text.
    pub async fn text(&self, token: &str, asked: &str) -> (u16, String) {
        match self.answered(token, asked, &Value::Null).await {
            Ok(reply) => (reply.status(), String::from_utf8(reply.body().to_vec()).unwrap()),
            Err(problem) => (problem.status(), problem.to_string()),
        }
    }

    async fn answered(&self, token: &str, asked: &str, body: &Value) -> Result<ApiReply, RestError> {
        let (route, parameters, query) = find(asked);
        let identity = self.api.identify(token).await?;
        admit(route, identity.as_ref())?;
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = ApiRequest {
            route,
            identity,
            parameters,
            query,
            accept: String::new(),
            body,
        };
        self.api.answer(request).await
    }

    /// As [`Gateway::ask`], for a request without a body.
    pub async fn get(&self, token: &str, asked: &str) -> Answer {
        self.ask(token, asked, Value::Null).await
    }

    /// Whether the token is valid.
    pub async fn admits(&self, token: &str) -> bool {
        self.api.identify(token).await.unwrap().is_some()
    }
}

impl Answer {
    /// The status and the text for people.
    pub fn told(&self) -> (u16, &str) {
        (self.status, self.body["detail"].as_str().unwrap_or_default())
    }

    /// The words of a list.
    pub fn each(&self, list: &str, member: &str) -> Vec<String> {
        let items = self.body[list].as_array().unwrap_or_else(|| panic!("{self:?}"));
        let word = |item: &Value| item[member].as_str().unwrap().to_owned();
        items.iter().map(word).collect()
    }
}

fn admit(route: Route, identity: Option<&Identity>) -> Result<(), RestError> {
    route.admit(identity).map_err(|refusal| match refusal {
        RouteRefusal::NoToken => RestError::Unauthenticated,
        RouteRefusal::Denied(denied) => RestError::Forbidden(denied.0.to_string()),
    })
}

/// The row of `PUT /users/ann@example.com?limit=1`, with the parameters of the path, and the query.
fn find(asked: &str) -> (Route, BTreeMap<String, String>, String) {
    let (method, address) = asked.split_once(' ').unwrap();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let rows = Route::ALL.iter().filter(|route| route.method().name() == method);
    let (route, parameters) = rows
        .filter_map(|route| Some((*route, parameters(route.path(), path)?)))
        .next()
        .unwrap_or_else(|| panic!("no route {asked}"));
    (route, parameters, query.to_owned())
}

fn parameters(pattern: &str, path: &str) -> Option<BTreeMap<String, String>> {
    let (wanted, found): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    let mut parameters = BTreeMap::new();
    for (wanted, found) in wanted.iter().zip(&found) {
        match wanted.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => drop(parameters.insert(name.to_owned(), (*found).to_owned())),
            None if wanted == found => {}
            None => return None,
        }
    }
    (wanted.len() == found.len()).then_some(parameters)
}

pub fn tenant() -> TenantId {
    TenantId::new("local")
}

pub fn user(name: &str) -> Principal {
    identity::user(&tenant(), &format!("{name}@example.com")).unwrap()
}

/// All that a user may have.
pub fn grant(name: &str, role: Role, teams: &[&str]) -> Grant {
    Grant {
        owner: user(name),
        name: None,
        role,
        teams: TokenTeams::chosen(role, teams.iter().map(|team| TeamId::new(*team))),
        scopes: None,
        expires_ms: None,
    }
}

fn random<const N: usize>() -> [u8; N] {
    std::array::from_fn(|_| fastrand::u8(..))
}
