//! The mailbox: stores sent mail, delivers nothing.

use std::sync::{Mutex, PoisonError};

use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::server::{CallError, Service, arguments, length, within};

const MAX_MAILS: usize = 1_000;
const MAX_RECIPIENTS: usize = 50;
const MAX_SUBJECT: usize = 200;
const MAX_BODY: usize = 100_000;
const MAX_LISTED: usize = 100;

/// Oldest first.
pub(crate) struct Mailbox {
    sent: Mutex<Vec<Sent>>,
}

#[derive(Serialize)]
struct Sent {
    message_id: String,
    #[serde(flatten)]
    mail: Mail,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mail {
    to: Vec<String>,
    subject: String,
    body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListSent {
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    20
}

impl Mailbox {
    pub(crate) fn new() -> Mailbox {
        Mailbox {
            sent: Mutex::default(),
        }
    }

    fn send(&self, mail: Mail) -> Result<Value, CallError> {
        let accepted = length("to", mail.to.len(), 1..=MAX_RECIPIENTS)?;
        length("subject", mail.subject.len(), 1..=MAX_SUBJECT)?;
        length("body", mail.body.len(), 0..=MAX_BODY)?;
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() == MAX_MAILS {
            return Err(CallError::Full(MAX_MAILS));
        }
        let message_id = format!("<{}@yard.example>", sent.len() + 1);
        let answer = json!({"message_id": message_id, "accepted": accepted});
        sent.push(Sent { message_id, mail });
        Ok(answer)
    }

    fn list(&self, limit: usize) -> Result<Value, CallError> {
        let limit = within("limit", limit, MAX_LISTED)?;
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let newest: Vec<&Sent> = sent.iter().rev().take(limit).collect();
        Ok(json!({"total": sent.len(), "messages": newest}))
    }
}

impl Service for Mailbox {
    const NAME: &'static str = "mailbox";
    const DEFINITIONS: &'static str = include_str!("../tools/mailbox.json");
    const INSTRUCTIONS: &'static str = "An outbox for the demonstration: it keeps mails and delivers none.";

    fn call(&self, tool: &str, given: JsonObject) -> Result<Value, CallError> {
        match tool {
            "send_mail" => self.send(arguments(given)?),
            "list_sent" => {
                let ListSent { limit } = arguments(given)?;
                self.list(limit)
            }
            _ => Err(CallError::UnknownTool(tool.to_owned())),
        }
    }
}
