//! What a server says unasked: progress, changes of its tool list, and noise that is kept for messages.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use crate::client::ClientSlot;
use crate::secrets::Secrets;

/// Warnings kept for one life of a server.
const MAX_WARNINGS: usize = 16;
/// Warnings of one life that reach the log: a server that writes nothing but noise must not fill it.
const MAX_LOGGED: u32 = 64;
/// Longest excerpt of a line in a warning.
const MAX_EXCERPT: usize = 160;

/// Shared by the transport, which writes, and the connection, which reads.
#[derive(Debug)]
pub(crate) struct Traffic {
    server: String,
    /// What no word of the server may show.
    pub(crate) secrets: Arc<Secrets>,
    /// Wakes whoever keeps the tool list.
    pub(crate) list_changed: Notify,
    client: ClientSlot,
    watchers: Mutex<HashMap<i64, Watcher>>,
    warnings: Mutex<Warnings>,
}

#[derive(Debug, Default)]
struct Warnings {
    kept: VecDeque<String>,
    logged: u32,
}

/// Who hears of the progress of one request.
#[derive(Debug)]
struct Watcher {
    notify: Arc<Notify>,
    /// Where it is passed on.
    sink: Option<mpsc::Sender<Value>>,
}

/// Wakes at each progress of one request; forgets it when dropped.
#[derive(Debug)]
pub(crate) struct ProgressWatch {
    traffic: Arc<Traffic>,
    token: i64,
    notify: Arc<Notify>,
}

impl Traffic {
    pub(crate) fn new(server: String, client: ClientSlot, secrets: Secrets) -> Traffic {
        Traffic {
            server,
            secrets: Arc::new(secrets),
            client,
            list_changed: Notify::new(),
            watchers: Mutex::default(),
            warnings: Mutex::default(),
        }
    }

    /// Watches the progress of the request with this token; `sink` is sent what is said of it, as far as it has room.
    pub(crate) fn watch_progress(
        self: &Arc<Self>,
        token: i64,
        sink: Option<mpsc::Sender<Value>>,
    ) -> ProgressWatch {
        let notify = Arc::new(Notify::new());
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        let watcher = Watcher {
            notify: Arc::clone(&notify),
            sink,
        };
        watchers.insert(token, watcher);
        drop(watchers);
        ProgressWatch {
            traffic: Arc::clone(self),
            token,
            notify,
        }
    }

    /// Gives every request under way as much time again as after its progress.
    pub(crate) fn hold(&self) {
        let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        for watcher in watchers.values() {
            watcher.notify.notify_one();
        }
    }

    /// Remembers something odd, for messages and for `states`.
    pub(crate) fn warn(&self, warning: String) {
        let warning = self.secrets.hide(&warning);
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if warnings.kept.back() == Some(&warning) {
            return;
        }
        if warnings.logged < MAX_LOGGED {
            warnings.logged += 1;
            tracing::warn!(server = %self.server, "{warning}");
        }
        if warnings.kept.len() == MAX_WARNINGS {
            warnings.kept.pop_front();
        }
        warnings.kept.push_back(warning);
    }

    /// What was odd, oldest first.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .kept
            .iter()
            .cloned()
            .collect()
    }

    /// The last oddity, ready to be appended to a message about a missing answer.
    pub(crate) fn seen(&self) -> String {
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings
            .kept
            .back()
            .map(|warning| format!("; {warning}"))
            .unwrap_or_default()
    }

    pub(super) fn noise(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        // What is cut is hidden with its end, see `warn`.
        let excerpt = &line[..self.secrets.cut(line, MAX_EXCERPT)];
        let text: String = String::from_utf8_lossy(excerpt)
            .chars()
            .filter(|character| !character.is_control())
            .collect();
        let more = if excerpt.len() < line.len() { "…" } else { "" };
        self.warn(format!(
            "it wrote to stdout what is no message of the protocol: {text}{more}"
        ));
    }

    pub(super) fn notice(&self, method: &str, mut params: Value) {
        match method {
            "notifications/progress" => {
                let token = params.get("progressToken").and_then(|token| match token {
                    Value::String(text) => text.parse().ok(),
                    other => other.as_i64(),
                });
                if let Some(Value::String(message)) = params.get_mut("message") {
                    *message = self.secrets.hide(message);
                }
                let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(watcher) = token.and_then(|token| watchers.get(&token)) {
                    watcher.notify.notify_one();
                    // Progress that is not taken fast enough is out of date anyway.
                    let _ = watcher.sink.as_ref().map(|sink| sink.try_send(params));
                }
            }
            "notifications/tools/list_changed" => self.list_changed.notify_one(),
            _ => match self.client.get() {
                // What is no message for people may be compared with other answers.
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
    pub(crate) async fn progress(&self) {
        self.notify.notified().await;
    }
}

impl Drop for ProgressWatch {
    fn drop(&mut self) {
        let mut watchers = self
            .traffic
            .watchers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        watchers.remove(&self.token);
    }
}
