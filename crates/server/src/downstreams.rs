//! Routes upstreams' questions to the client of the surface `standard` whose call is active.
//!
//! All clients of a host share its upstreams, and a question does not name the call that caused it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use surfaces::LOG_LEVELS;
use upstream_wire::{ClientResponse, DownstreamClient, JsonRpcError};

const METHOD_NOT_FOUND: i32 = -32601;

/// Connected clients with their open calls.
#[derive(Debug, Default)]
pub(crate) struct Downstreams {
    state: Mutex<Connected>,
}

#[derive(Debug, Default)]
struct Connected {
    last: u64,
    clients: Vec<Arc<dyn DownstreamClient>>,
    /// Oldest first.
    calls: Vec<OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    number: u64,
    server: String,
    client: Arc<dyn DownstreamClient>,
}

#[derive(Debug)]
pub(crate) struct OpenCallGuard<'a> {
    downstreams: &'a Downstreams,
    number: u64,
}

impl Downstreams {
    pub(crate) fn connect(&self, client: Arc<dyn DownstreamClient>) {
        self.lock().clients.push(client);
    }

    pub(crate) fn disconnect(&self, client: &Arc<dyn DownstreamClient>) {
        self.lock().clients.retain(|known| !Arc::ptr_eq(known, client));
    }

    pub(crate) fn open(&self, server: &str, client: &Arc<dyn DownstreamClient>) -> OpenCallGuard<'_> {
        let mut connected = self.lock();
        connected.last += 1;
        let number = connected.last;
        connected.calls.push(OpenCall {
            number,
            server: server.to_owned(),
            client: Arc::clone(client),
        });
        OpenCallGuard {
            downstreams: self,
            number,
        }
    }

    /// The client of the newest call to this server, or the only client.
    fn asked_by(&self, server: &str) -> Option<Arc<dyn DownstreamClient>> {
        let connected = self.lock();
        let call = connected.calls.iter().rev().find(|call| call.server == server);
        match (call, connected.clients.as_slice()) {
            (Some(call), _) => Some(Arc::clone(&call.client)),
            (None, [only]) => Some(Arc::clone(only)),
            (None, _) => None,
        }
    }

    fn clients(&self) -> Vec<Arc<dyn DownstreamClient>> {
        self.lock().clients.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Connected> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenCallGuard<'_> {
    fn drop(&mut self) {
        let number = self.number;
        self.downstreams.lock().calls.retain(|call| call.number != number);
    }
}

impl DownstreamClient for Downstreams {
    /// The union of the clients' capabilities, because one server process serves all of them.
    fn capabilities(&self) -> Map<String, Value> {
        self.clients()
            .iter()
            .flat_map(|client| client.capabilities())
            .collect()
    }

    fn ask(&self, server: &str, method: String, params: Option<Value>) -> ClientResponse<'_> {
        let client = self.asked_by(server);
        let server = server.to_owned();
        Box::pin(async move {
            match client {
                Some(client) => client.ask(&server, method, params).await,
                None => Err(JsonRpcError {
                    code: METHOD_NOT_FOUND,
                    message: format!(
                        "{method}: no call to this server is under way, and there are several clients"
                    ),
                    data: None,
                }),
            }
        })
    }

    /// The most verbose level that any client requested.
    fn log_level(&self) -> Option<String> {
        let levels = self.clients().into_iter().filter_map(|client| client.log_level());
        levels.min_by_key(|level| LOG_LEVELS.iter().position(|known| known == level))
    }

    /// A log message is sent to the client that would receive a question; other notifications are sent to every
    /// client.
    fn tell(&self, server: &str, method: &str, params: &Value) {
        let clients = match method {
            "notifications/message" => self.asked_by(server).into_iter().collect(),
            _ => self.clients(),
        };
        for client in clients {
            client.tell(server, method, params);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// A client for tests that answers with its name and logs its notifications.
    #[derive(Debug, Default)]
    struct Named {
        name: &'static str,
        level: Option<&'static str>,
        told: Mutex<Vec<String>>,
    }

    impl DownstreamClient for Named {
        fn capabilities(&self) -> Map<String, Value> {
            Map::from_iter([(self.name.to_owned(), json!({}))])
        }

        fn ask(&self, _: &str, _: String, _: Option<Value>) -> ClientResponse<'_> {
            Box::pin(async { Ok(json!(self.name)) })
        }

        fn log_level(&self) -> Option<String> {
            self.level.map(str::to_owned)
        }

        fn tell(&self, _: &str, method: &str, _: &Value) {
            self.told.lock().unwrap().push(method.to_owned());
        }
    }

    fn client(name: &'static str, level: &'static str) -> Arc<Named> {
        Arc::new(Named {
            name,
            level: Some(level),
            ..Named::default()
        })
    }

    #[tokio::test]
    async fn a_question_goes_to_the_client_whose_call_is_under_way() {
        let downstreams = Downstreams::default();
        let (a, b) = (client("a", "error"), client("b", "info"));
        let dynamic = |client: &Arc<Named>| client.clone() as Arc<dyn DownstreamClient>;
        let asked = async || downstreams.ask("s", "roots/list".to_owned(), None).await.ok();
        let (first, second) = (dynamic(&a), dynamic(&b));
        assert_eq!(asked().await, None);
        downstreams.connect(first.clone());
        assert_eq!(asked().await, Some(json!("a")), "the only client");
        downstreams.connect(second.clone());
        assert_eq!(asked().await, None, "nobody knows whose it is");
        let older = downstreams.open("s", &first);
        let _elsewhere = downstreams.open("other", &second);
        assert_eq!(asked().await, Some(json!("a")));
        let newer = downstreams.open("s", &second);
        assert_eq!(asked().await, Some(json!("b")));
        downstreams.tell("s", "notifications/message", &json!({}));
        downstreams.tell("s", "notifications/tools/list_changed", &json!({}));
        assert_eq!(*a.told.lock().unwrap(), ["notifications/tools/list_changed"]);
        assert_eq!(b.told.lock().unwrap().len(), 2);
        drop(newer);
        assert_eq!(asked().await, Some(json!("a")));
        drop(older);
        assert_eq!(downstreams.log_level().as_deref(), Some("info"));
        assert_eq!(downstreams.capabilities().len(), 2);
        downstreams.disconnect(&second);
        assert_eq!(asked().await, Some(json!("a")));
    }
}
