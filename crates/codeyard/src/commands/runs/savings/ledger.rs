//! Adds up what runs cost, as it was counted or as it is estimated from their bytes; pure.

use std::collections::{BTreeMap, HashMap};

use chrono::DateTime;
use serde_json::{Value, json};
use server::store::CostView;
use tokens::difference;

use crate::cli::By;
use crate::commands::runs::estimates;

/// What definitions cost a session of which none were counted. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Remembered {
    /// Of the tools and the instructions of the surface `code`.
    pub(super) own: u64,
    /// Of the servers that are configured now.
    pub(super) servers: Vec<Listed>,
}

/// The definitions of one server, as they are remembered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) server: String,
    pub(super) tokens: u64,
}

/// Everything that is added up.
#[derive(Debug)]
pub(super) struct Ledger {
    costs: Vec<CostView>,
    listed: Vec<Listed>,
    /// What one session pays for definitions, by the number of its process.
    sessions: HashMap<i64, Session>,
}

#[derive(Debug, Clone, Copy)]
struct Session {
    definitions: u64,
    direct: u64,
    estimated: bool,
    /// The place of its first run.
    first: usize,
}

/// The sums of a day or of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) runs: usize,
    /// How many of them have a receipt.
    pub(super) counted: usize,
    own: u64,
    direct: u64,
    sessions: u64,
    definitions: u64,
    direct_definitions: u64,
}

/// The sums of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerLine {
    pub(super) server: String,
    pub(super) calls: u64,
    /// How many of them a receipt counted.
    pub(super) counted: u64,
    pub(super) written: u64,
    pub(super) read: u64,
    /// Of one session; `None` if its tools are not remembered.
    pub(super) definitions: Option<u64>,
}

// === impl Ledger ===

impl Ledger {
    pub(super) fn of(costs: Vec<CostView>, remembered: Remembered) -> Ledger {
        let listed = remembered.servers;
        let direct: u64 = listed.iter().map(|listed| listed.tokens).sum();
        let mut sessions: HashMap<i64, Session> = HashMap::new();
        for (place, cost) in costs.iter().enumerate() {
            let session = sessions.entry(cost.process).or_insert(Session {
                definitions: remembered.own,
                direct,
                estimated: true,
                first: place,
            });
            if let Some(receipt) = &cost.receipt {
                // Servers list their tools as they are needed: the last that was counted is the fullest.
                session.definitions = receipt.definitions;
                session.direct = receipt.direct_definitions;
                session.estimated = false;
            }
        }
        Ledger {
            costs,
            listed,
            sessions,
        }
    }

    pub(super) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Sessions of which no definitions were counted.
    pub(super) fn estimated_sessions(&self) -> usize {
        self.sessions.values().filter(|session| session.estimated).count()
    }

    pub(super) fn lines(&self, by: By) -> Vec<Line> {
        let mut lines: BTreeMap<String, Line> = BTreeMap::new();
        for (place, cost) in self.costs.iter().enumerate() {
            let name = name(cost, by);
            let line = lines.entry(name.clone()).or_insert_with(|| Line {
                name,
                ..Line::default()
            });
            line.runs += 1;
            line.counted += usize::from(cost.receipt.is_some());
            line.own += own(cost);
            line.direct += direct(cost);
            if let Some(session) = self.sessions.get(&cost.process)
                && session.first == place
            {
                line.sessions += 1;
                line.definitions += session.definitions;
                line.direct_definitions += session.direct;
            }
        }
        lines.into_values().collect()
    }

    /// Every server that was called or is remembered; the most expensive first.
    pub(super) fn servers(&self) -> Vec<ServerLine> {
        let mut lines: BTreeMap<String, ServerLine> = BTreeMap::new();
        for listed in &self.listed {
            line_of(&mut lines, &listed.server).definitions = Some(listed.tokens);
        }
        for cost in &self.costs {
            match &cost.receipt {
                Some(receipt) => {
                    for calls in &receipt.calls {
                        let line = line_of(&mut lines, &calls.server);
                        line.calls += calls.calls;
                        line.counted += calls.calls;
                        line.written += calls.written;
                        line.read += calls.read;
                    }
                }
                None => {
                    for calls in &cost.calls {
                        let line = line_of(&mut lines, &calls.server);
                        line.calls += calls.calls;
                        line.written += estimates::arguments(calls.arguments_bytes);
                        line.read += estimates::answers(calls.answer_bytes);
                    }
                }
            }
        }
        let mut lines: Vec<ServerLine> = lines.into_values().collect();
        lines.sort_by_key(|line| {
            std::cmp::Reverse(line.written + line.read + line.definitions.unwrap_or_default())
        });
        lines
    }
}

fn line_of<'l>(lines: &'l mut BTreeMap<String, ServerLine>, server: &str) -> &'l mut ServerLine {
    lines.entry(server.to_owned()).or_insert_with(|| ServerLine {
        server: server.to_owned(),
        ..ServerLine::default()
    })
}

fn name(cost: &CostView, by: By) -> String {
    match by {
        By::Client => cost.client.clone().unwrap_or_else(|| "(unnamed)".to_owned()),
        By::Day | By::Server => DateTime::from_timestamp_millis(cost.asked_ms).map_or_else(
            || cost.asked_ms.to_string(),
            |time| time.format("%Y-%m-%d").to_string(),
        ),
    }
}

/// What the model wrote, was sent and searched.
fn own(cost: &CostView) -> u64 {
    match &cost.receipt {
        Some(receipt) => receipt.written + receipt.read + receipt.searched,
        None => {
            estimates::program(cost.code_bytes)
                + estimates::shown(cost.shown_bytes)
                + estimates::searched(cost.search_bytes)
        }
    }
}

/// What the calls would have cost if the model had made them.
fn direct(cost: &CostView) -> u64 {
    match &cost.receipt {
        Some(receipt) => receipt.calls.iter().map(|calls| calls.written + calls.read).sum(),
        None => {
            let calls = cost.calls.iter();
            calls
                .map(|calls| {
                    estimates::arguments(calls.arguments_bytes) + estimates::answers(calls.answer_bytes)
                })
                .sum()
        }
    }
}

// === impl Line ===

impl Line {
    pub(super) fn total(lines: &[Line]) -> Line {
        let mut total = Line {
            name: "total".to_owned(),
            ..Line::default()
        };
        for line in lines {
            total.runs += line.runs;
            total.counted += line.counted;
            total.own += line.own;
            total.direct += line.direct;
            total.sessions += line.sessions;
            total.definitions += line.definitions;
            total.direct_definitions += line.direct_definitions;
        }
        total
    }

    fn saved(&self) -> i64 {
        difference(self.direct, self.own)
    }

    fn saved_with_definitions(&self) -> i64 {
        self.saved() + difference(self.direct_definitions, self.definitions)
    }

    /// In the order of the table.
    pub(super) fn numbers(&self) -> [i128; 9] {
        [
            self.runs as i128,
            self.counted as i128,
            self.own.into(),
            self.direct.into(),
            self.saved().into(),
            self.sessions.into(),
            self.definitions.into(),
            self.direct_definitions.into(),
            self.saved_with_definitions().into(),
        ]
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "runs": self.runs,
            "counted": self.counted,
            "estimated": self.runs - self.counted,
            "tokens": self.own,
            "direct": self.direct,
            "saved": self.saved(),
            "sessions": self.sessions,
            "definitions": self.definitions,
            "direct_definitions": self.direct_definitions,
            "saved_with_definitions": self.saved_with_definitions(),
        })
    }
}

// === impl ServerLine ===

impl ServerLine {
    pub(super) fn json(&self) -> Value {
        json!({
            "server": self.server,
            "calls": self.calls,
            "counted": self.counted,
            "estimated": self.calls - self.counted,
            "arguments": self.written,
            "answers": self.read,
            "definitions": self.definitions,
        })
    }
}

#[cfg(test)]
mod tests {
    use server::store::{CallBytes, CallsTaken, ReceiptTaken};

    use super::*;

    fn cost(process: i64, day: i64, receipt: Option<ReceiptTaken>) -> CostView {
        CostView {
            run: format!("r-{process}-{day}"),
            process,
            client: Some(format!("client {process}")),
            front: "mcp".to_owned(),
            asked_ms: day * 24 * 60 * 60 * 1000,
            completed: true,
            code_bytes: 303,
            shown_bytes: 293,
            search_bytes: 0,
            receipt,
            calls: vec![CallBytes {
                server: "crm".to_owned(),
                tool: "list".to_owned(),
                calls: 2,
                arguments_bytes: 315,
                answer_bytes: 6510,
                answered: 1,
            }],
            aside: 0,
        }
    }

    fn receipt() -> ReceiptTaken {
        ReceiptTaken {
            definitions: 190,
            written: 50,
            read: 20,
            own: Some(15),
            searched: 5,
            direct_definitions: 4000,
            direct_tools: 30,
            calls: vec![CallsTaken {
                server: "crm".to_owned(),
                tool: "list".to_owned(),
                calls: 2,
                written: 8,
                read: 700,
            }],
        }
    }

    fn ledger() -> Ledger {
        let listed = Listed {
            server: "mail".to_owned(),
            tokens: 900,
        };
        let costs = vec![
            cost(1, 0, None),
            cost(1, 0, Some(receipt())),
            cost(1, 1, Some(receipt())),
            cost(2, 1, None),
        ];
        let remembered = Remembered {
            own: 170,
            servers: vec![listed],
        };
        Ledger::of(costs, remembered)
    }

    #[test]
    fn definitions_count_once_a_session_and_runs_as_they_were_counted_or_estimated() {
        let ledger = ledger();
        let shown = |by| -> Vec<String> {
            let lines = ledger.lines(by);
            lines
                .iter()
                .map(|line| format!("{} {:?}", line.name, line.numbers()))
                .collect()
        };
        assert_eq!(
            shown(By::Day),
            [
                "1970-01-01 [2, 1, 275, 1808, 1533, 1, 190, 4000, 5343]",
                "1970-01-02 [2, 1, 275, 1808, 1533, 1, 170, 900, 2263]"
            ]
        );
        assert_eq!(
            shown(By::Client),
            [
                "client 1 [3, 2, 350, 2516, 2166, 1, 190, 4000, 5976]",
                "client 2 [1, 0, 200, 1100, 900, 1, 170, 900, 1630]"
            ]
        );
        let total = Line::total(&ledger.lines(By::Day));
        assert_eq!(total.numbers(), [4, 2, 550, 3616, 3066, 2, 360, 4900, 7606]);
        assert_eq!((ledger.sessions(), ledger.estimated_sessions()), (2, 1));
    }

    #[test]
    fn servers_are_those_that_were_called_and_those_that_are_remembered() {
        let servers = ledger().servers();
        let shown: Vec<String> = servers
            .iter()
            .map(|line| {
                format!(
                    "{} {} {} {} {} {:?}",
                    line.server, line.calls, line.counted, line.written, line.read, line.definitions
                )
            })
            .collect();
        assert_eq!(shown, ["crm 8 4 216 3400 None", "mail 0 0 0 0 Some(900)"]);
    }
}
