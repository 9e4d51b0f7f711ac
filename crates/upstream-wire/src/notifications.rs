//! What a server sends unasked: progress, changes of its tool list, logs, and output that is not a message.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use crate::client::ClientSlot;
use crate::secrets::Secrets;

/// Per connection.
const MAX_WARNINGS: usize = 16;
/// Logged warnings per connection: a server that writes only noise must not fill the log.
const MAX_LOGGED: u32 = 64;
/// Bytes of a line that a warning shows.
const MAX_EXCERPT: usize = 160;

/// What one server has sent unasked: written by the transport, read by the hub.
#[derive(Debug)]
pub struct Notifications {
    server: String,
    /// No text of the server may show these.
    pub secrets: Arc<Secrets>,
    /// Notified when the server's tool list may have changed.
    pub list_changed: Notify,
    client: ClientSlot,
    watchers: Mutex<HashMap<i64, Watcher>>,
    warnings: Mutex<Warnings>,
}

#[derive(Debug, Default)]
struct Warnings {
    texts: VecDeque<String>,
    logged: u32,
}

#[derive(Debug)]
struct Watcher {
    notify: Arc<Notify>,
    sink: Option<mpsc::Sender<Value>>,
}

/// Watches the progress of one request until it is dropped.
#[derive(Debug)]
pub struct ProgressWatch {
    notifications: Arc<Notifications>,
    token: i64,
    notify: Arc<Notify>,
}

impl Notifications {
    pub(crate) fn new(server: String, client: ClientSlot, secrets: Secrets) -> Notifications {
        Notifications {
            server,
            secrets: Arc::new(secrets),
            client,
            list_changed: Notify::new(),
            watchers: Mutex::default(),
            warnings: Mutex::default(),
        }
    }

    /// Watches the request with this token. `sink` receives the parameters of each notification, while it has
    /// room.
    pub fn watch_progress(self: &Arc<Self>, token: i64, sink: Option<mpsc::Sender<Value>>) -> ProgressWatch {
        let notify = Arc::new(Notify::new());
        let mut watchers = self.watchers.lock();
        let watcher = Watcher {
            notify: Arc::clone(&notify),
            sink,
        };
        watchers.insert(token, watcher);
        drop(watchers);
        ProgressWatch {
            notifications: Arc::clone(self),
            token,
            notify,
        }
    }

    /// Restarts the idle limit of every pending request, as progress does.
    pub(crate) fn extend_idle_limits(&self) {
        let watchers = self.watchers.lock();
        for watcher in watchers.values() {
            watcher.notify.notify_one();
        }
    }

    /// Stores a warning for error messages and the server's state.
    pub fn warn(&self, warning: String) {
        let warning = self.secrets.hide(&warning);
        let mut warnings = self.warnings.lock();
        if warnings.texts.back() == Some(&warning) {
            return;
        }
        if warnings.logged < MAX_LOGGED {
            warnings.logged += 1;
            tracing::warn!(server = %self.server, "{warning}");
        }
        if warnings.texts.len() == MAX_WARNINGS {
            warnings.texts.pop_front();
        }
        warnings.texts.push_back(warning);
    }

    /// The last warnings, oldest first.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().texts.iter().cloned().collect()
    }

    /// The last warning, as a suffix for a message about a missing answer.
    pub fn last_warning(&self) -> String {
        let warnings = self.warnings.lock();
        warnings
            .texts
            .back()
            .map(|warning| format!("; {warning}"))
            .unwrap_or_default()
    }

    /// Warns about output that is not a message.
    pub(crate) fn receive_noise(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        // The cut never splits a secret, so `warn` can hide it.
        let excerpt = &line[..self.secrets.cut(line, MAX_EXCERPT)];
        let text: String = String::from_utf8_lossy(excerpt)
            .chars()
            .filter(|character| !character.is_control())
            .collect();
        let more = if excerpt.len() < line.len() { "…" } else { "" };
        self.warn(format!(
            "it wrote something other than a protocol message to stdout: {text}{more}"
        ));
    }

    pub(crate) fn receive(&self, method: &str, mut params: Value) {
        match method {
            "notifications/progress" => {
                let token = params.get("progressToken").and_then(|token| match token {
                    Value::String(text) => text.parse().ok(),
                    other => other.as_i64(),
                });
                if let Some(Value::String(message)) = params.get_mut("message") {
                    *message = self.secrets.hide(message);
                }
                let watchers = self.watchers.lock();
                if let Some(watcher) = token.and_then(|token| watchers.get(&token)) {
                    watcher.notify.notify_one();
                    // If there is no room, the progress is out of date.
                    let _ = watcher.sink.as_ref().map(|sink| sink.try_send(params));
                }
            }
            "notifications/tools/list_changed" => self.list_changed.notify_one(),
            _ => match self.client.get() {
                // Hide secrets only in log messages, which people read. In others, such as a changed
                // resource, a client compares values.
                Some(client) if method != "notifications/message" => {
                    client.tell(&self.server, method, &params)
                }
                Some(client) => client.tell(&self.server, method, &self.secrets.hide_value(params)),
                None => {
                    let params = self.secrets.hide_value(params).to_string();
                    tracing::debug!(server = %self.server, method, params, "notification");
                }
            },
        }
    }
}

impl ProgressWatch {
    /// Waits for the next progress.
    pub async fn progress(&self) {
        self.notify.notified().await;
    }
}

impl Drop for ProgressWatch {
    fn drop(&mut self) {
        let mut watchers = self.notifications.watchers.lock();
        watchers.remove(&self.token);
    }
}
