//! One request on its way through: to a server, its progress back, and what the server wants to know first, in either era.

use rmcp::RoleServer;
use rmcp::model::{CustomNotification, ErrorCode, ErrorData, ServerNotification};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use types::Limits;
use upstream::{Client as _, Question, Refusal};

use super::client::{declared, meta};
use super::desk::Terms;
use super::flight::{Event, Flight};
use super::handler::{Answer, StandardHandler};
use super::parked::Call;
use super::results;
use super::service::StandardService;
use crate::running::is_modern;

/// Rounds in which a server may ask for input before it answers, and questions that it may ask in one call.
const MOST_ROUNDS: usize = 10;
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Requests whose answer may be a question.
const MAY_ASK: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

impl<S: StandardService> StandardHandler<S> {
    /// Passes a request on to a server.
    pub(super) async fn relay(
        &self,
        server: &str,
        method: &str,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        let question = self.question(server, method, params, context);
        if is_modern(context) {
            self.relay_modern(question, context).await
        } else {
            self.relay_legacy(question, context).await
        }
    }

    /// The client is asked by requests, whatever era the server is of.
    async fn relay_legacy(&self, mut question: Question, context: &RequestContext<RoleServer>) -> Answer {
        for _ in 0..MOST_ROUNDS {
            let mut flight = Flight::start(&self.service, question.clone(), None);
            let raw = loop {
                match flight.next().await {
                    Event::Progress(notice) => report(notice, context).await,
                    // It has no seat at the desk.
                    Event::Question(_) => {}
                    Event::Answer(answer) => break answer.map_err(error)?,
                }
            };
            let Some(wanted) = results::wanted(raw.get()) else {
                return Ok(raw.get().to_owned());
            };
            let mut responses = Map::new();
            for (key, request) in wanted.requests {
                let asked = request["method"].as_str().unwrap_or_default().to_owned();
                let params = request.get("params").cloned();
                let answer = self.client.put(&question.server, asked, params).await;
                responses.insert(key, answer.map_err(error)?);
            }
            question
                .params
                .insert("inputResponses".to_owned(), Value::Object(responses));
            if let Some(state) = wanted.state {
                question.params.insert("requestState".to_owned(), state);
            }
        }
        Err(too_curious(&question.server))
    }

    /// What a server of the modern era asks goes through as it is. A server of the legacy era asks by a request while it is
    /// called: the call waits until the client comes again with the answer.
    async fn relay_modern(&self, question: Question, context: &RequestContext<RoleServer>) -> Answer {
        let server = question.server.clone();
        let mut call = match self.parked.resume(&question.method, &question.params)? {
            Some((call, true)) => call,
            Some((call, false)) => return self.parked.park(call),
            None => {
                let seat = self
                    .client
                    .desk
                    .seat(&server, terms(&question.method, &question.meta));
                let (method, params) = (question.method.clone(), question.params.clone());
                let flight = Flight::start(&self.service, question, Some(seat));
                Call::new(flight, method, params)
            }
        };
        loop {
            let mut asked = match call.flight.next().await {
                Event::Progress(notice) => {
                    report(notice, context).await;
                    continue;
                }
                Event::Answer(answer) => return answer.map(|raw| raw.get().to_owned()).map_err(error),
                Event::Question(posed) => call.take_up(posed),
            };
            while let Some(posed) = call.flight.question() {
                asked = call.take_up(posed);
            }
            if asked > MOST_ROUNDS {
                return Err(too_curious(&server));
            }
            return self.parked.park(call);
        }
    }

    pub(super) fn question(
        &self,
        server: &str,
        method: &str,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Question {
        let mut meta = meta(context);
        if let Some(level) = self.client.log_level() {
            meta.entry(LOG_LEVEL).or_insert(json!(level));
        }
        Question {
            server: server.to_owned(),
            method: method.to_owned(),
            params,
            meta,
            progress: None,
            // A person may think for long; the server's own `timeout` stands still meanwhile.
            deadline: Instant::now() + Limits::MAX_WALL_TIME,
        }
    }
}

/// Tells the client of progress, if it wants to hear of it.
async fn report(mut notice: Value, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    notice["progressToken"] = json!(token);
    let notice = CustomNotification::new("notifications/progress", Some(notice));
    // A client that is gone ends the call in another way.
    let _ = context
        .peer
        .send_notification(ServerNotification::CustomNotification(notice))
        .await;
}

fn terms(method: &str, meta: &Map<String, Value>) -> Terms {
    let capabilities = match declared(meta) {
        Value::Object(declared) if MAY_ASK.contains(&method) => declared,
        _ => Map::new(),
    };
    Terms {
        capabilities,
        wants_logs: meta.contains_key(LOG_LEVEL),
    }
}

fn too_curious(server: &str) -> ErrorData {
    let message = format!("server '{server}' asked for input more than {MOST_ROUNDS} times");
    ErrorData::internal_error(message, None)
}

fn error(Refusal { code, message, data }: Refusal) -> ErrorData {
    ErrorData::new(ErrorCode(code), message, data)
}
