//! A client that acts as several users in turn and checks every answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::marker::crossings;
use super::memory::Memory;
use super::world::{Member, ModelServer, World};
use crate::gateway::{HttpAnswer, HttpConnection, HttpRequest};

/// Violations stored in full; further ones are only counted.
const MOST_WRONG: usize = 20;

/// Counts of a client's operations, and the violations found.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Operations by name.
    pub(super) operations: BTreeMap<&'static str, u32>,
    /// Answers by status.
    pub(super) statuses: BTreeMap<u16, u32>,
    /// Comparisons of an answer about a foreign id with an answer about an unknown id.
    pub(super) compared: u32,
    /// Comparisons prevented by a rate limit.
    pub(super) throttled: u32,
    /// Values that programs read back unchanged.
    pub(super) read_back: u32,
    pub(super) wrong_count: usize,
    pub(super) wrong: Vec<String>,
}

/// A client with one connection to each gateway.
pub(super) struct Actor {
    pub(super) world: Arc<World>,
    pub(super) rng: Rng,
    pub(super) tally: Tally,
    /// Number of each member that this client plays, with the member's sessions in the model.
    pub(super) played: Vec<(usize, Memory)>,
    connections: Vec<HttpConnection>,
    next_call: u32,
}

// === impl Tally ===

impl Tally {
    pub(super) fn complain(&mut self, of: String) {
        self.wrong_count += 1;
        if self.wrong.len() < MOST_WRONG {
            self.wrong.push(of.chars().take(1500).collect());
        }
    }

    pub(super) fn add(&mut self, other: Tally) {
        for (name, count) in other.operations {
            *self.operations.entry(name).or_default() += count;
        }
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.compared += other.compared;
        self.throttled += other.throttled;
        self.read_back += other.read_back;
        self.wrong_count += other.wrong_count;
        self.wrong.extend(other.wrong);
        self.wrong.truncate(MOST_WRONG);
    }
}

// === impl Actor ===

impl Actor {
    pub(super) fn new(world: &Arc<World>, rng: Rng, members: Vec<usize>) -> Actor {
        let connections = world.addresses.iter().map(|address| HttpConnection::to(address));
        Actor {
            world: Arc::clone(world),
            rng,
            tally: Tally::default(),
            played: members
                .into_iter()
                .map(|number| (number, Memory::default()))
                .collect(),
            connections: connections.collect(),
            next_call: 0,
        }
    }

    /// A connection that no other request of this client uses.
    pub(super) fn connect(&mut self) -> HttpConnection {
        let address = self.rng.choice(&self.world.addresses);
        HttpConnection::to(address.map_or("", String::as_str))
    }

    /// An id for a call, unique to this client and member.
    pub(super) fn call_id(&mut self, member: &Member) -> String {
        self.next_call += 1;
        format!("call-{}-{}", member.reader.member, self.next_call)
    }

    /// Sends a request to a random gateway.
    pub(super) async fn ask(&mut self, member: &Member, request: HttpRequest) -> Result<HttpAnswer> {
        let gateway = self.rng.usize(..self.connections.len());
        self.ask_at(gateway, member, &request).await
    }

    async fn ask_at(&mut self, gateway: usize, member: &Member, request: &HttpRequest) -> Result<HttpAnswer> {
        let answer = self.connections[gateway].ask(request).await?;
        *self.tally.statuses.entry(answer.status).or_default() += 1;
        self.judge(member, request, &answer);
        Ok(answer)
    }

    /// Searches an answer for words that the member must not see.
    pub(super) fn judge(&mut self, member: &Member, request: &HttpRequest, answer: &HttpAnswer) {
        let sent = format!("{} {:?} {}", request.line, request.headers, request.body);
        let headers: Vec<String> = answer
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let shown = format!("{}\n{}", headers.join("\n"), answer.body);
        let found = crossings(&shown, &sent, member.reader);
        if !found.is_empty() {
            let who = &member.email;
            self.tally.complain(format!(
                "{found:?} crossed to {who}: {sent}\n{} {shown}",
                answer.status
            ));
        }
        if answer.status >= 500 {
            self.tally
                .complain(format!("status {}: {sent}\n{}", answer.status, answer.body));
        }
    }

    /// Reports an answer whose status differs from the model.
    pub(super) fn expect(&mut self, request: &str, answer: &HttpAnswer, expected: u16) {
        if answer.status != expected && answer.status != 429 {
            let wrong = format!(
                "{request}: {} instead of {expected}: {}",
                answer.status, answer.body
            );
            self.tally.complain(wrong);
        }
    }

    /// Requests a foreign id and an unknown id of the same form. Both answers must be refusals and equal.
    pub(super) async fn ask_alike(
        &mut self,
        member: &Member,
        id: &str,
        make: impl Fn(&str) -> HttpRequest,
    ) -> Result<()> {
        self.ask_alike_while(member, id, make, None).await
    }

    /// Like [`Actor::ask_alike`], but counts the answers only while this server is unchanged.
    pub(super) async fn ask_alike_while(
        &mut self,
        member: &Member,
        id: &str,
        make: impl Fn(&str) -> HttpRequest,
        server: Option<&(usize, ModelServer)>,
    ) -> Result<()> {
        let unknown = shuffled(id, &mut self.rng);
        let gateway = self.rng.usize(..self.connections.len());
        let mut answers = Vec::new();
        let mut ids = [id, unknown.as_str()];
        self.rng.shuffle(&mut ids);
        for id in ids {
            let request = make(id);
            let answer = self.ask_at(gateway, member, &request).await?;
            let is_refused = answer.status >= 400 || is_rpc_error(&answer) || is_empty_list(&answer);
            // Another client may just have reused a removed server's id.
            if !self.world.is_hidden(id, member) {
                return Ok(());
            }
            if !is_refused {
                let wrong = format!("{} was answered: {} {}", request.line, answer.status, answer.body);
                self.tally.complain(wrong);
            }
            answers.push((request, answer.status, alike(&answer, id)));
        }
        if server.is_some_and(|(number, before)| !self.world.is_unchanged(*number, before)) {
            return Ok(());
        }
        if answers.iter().any(|(_, status, _)| *status == 429) {
            self.tally.throttled += 1;
            return Ok(());
        }
        self.tally.compared += 1;
        if let [(request, _, one), (_, _, other)] = answers.as_slice()
            && one != other
        {
            let wrong = format!(
                "{} {}: answers differ\n{one}\n{other}",
                request.line, request.body
            );
            self.tally.complain(wrong);
        }
        Ok(())
    }
}

/// An answer without the requested id and without the `date` header.
fn alike(answer: &HttpAnswer, id: &str) -> String {
    let mut headers: Vec<String> = answer
        .headers
        .iter()
        .filter(|(name, _)| name != "date")
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    headers.sort();
    let shown = format!("{} {}\n{}", answer.status, headers.join(", "), answer.body);
    shown.replace(id, "ID")
}

/// A random permutation of the characters; an email address keeps its host.
pub(super) fn shuffled(id: &str, rng: &mut Rng) -> String {
    let (local, host) = id.split_at(id.find('@').unwrap_or(id.len()));
    loop {
        let mut letters: Vec<char> = local.chars().collect();
        rng.shuffle(&mut letters);
        let text: String = letters.iter().collect();
        let is_plain = !text.starts_with('-') && !text.ends_with('-');
        if text != local && is_plain {
            return format!("{text}{host}");
        }
    }
}

fn is_rpc_error(answer: &HttpAnswer) -> bool {
    let message = answer.json().unwrap_or_default();
    message["error"].is_object() || message["result"]["isError"] == true
}

/// An empty list of users' objects, as a filter returns it.
fn is_empty_list(answer: &HttpAnswer) -> bool {
    match answer.json() {
        Ok(Value::Array(list)) => list.is_empty(),
        Ok(Value::Object(page)) => page.values().any(|list| *list == json!([])),
        // An empty export has at most a header line.
        _ => answer.body.lines().count() <= 1,
    }
}
