//! Sums of recorded runs' costs and savings, by day, client and server.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::DateTime;

use crate::difference;
use crate::estimates;
use crate::recorded::RunCost;

/// Key of [`Ledger::lines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Day in UTC.
    Day,
    /// Client.
    Client,
}

/// Definitions of a session without a receipt. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDefinitions {
    /// Tools and instructions of the surface `code`.
    pub surface: u64,
    /// Tools of each configured server, as last listed.
    pub servers: BTreeMap<String, u64>,
}

/// Recorded runs with their sessions.
#[derive(Debug)]
pub struct Ledger {
    costs: Vec<RunCost>,
    servers: BTreeMap<String, u64>,
    /// Definitions that a session pays for, by the process number.
    sessions: HashMap<i64, SessionDefinitions>,
}

#[derive(Debug, Clone, Copy)]
struct SessionDefinitions {
    definitions: u64,
    direct_definitions: u64,
    is_estimated: bool,
    first_run: usize,
}

/// Sums of a day, of a client, or of all lines. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavingsLine {
    /// The day as `2026-01-31`, or the client.
    pub name: String,
    /// Number of runs.
    pub runs: usize,
    /// Runs with a receipt.
    pub counted: usize,
    /// Tokens written, read and searched by the model.
    pub tokens: u64,
    /// Cost of the calls without codeyard.
    pub direct: u64,
    /// Sessions whose first run is in this line.
    pub sessions: u64,
    /// Codeyard's definitions in these sessions.
    pub definitions: u64,
    /// All servers' definitions in these sessions.
    pub direct_definitions: u64,
}

/// Sums of a server. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerLine {
    /// Name of the server.
    pub server: String,
    /// Number of calls.
    pub calls: u64,
    /// Calls that a receipt counted.
    pub counted: u64,
    /// Arguments of the calls.
    pub written: u64,
    /// Answers of the calls.
    pub read: u64,
    /// Definitions per session; `None` if the server never listed its tools.
    pub definitions: Option<u64>,
}

// === impl Ledger ===

impl Ledger {
    /// Whether a session lacks a receipt, so that [`Ledger::new`] needs known definitions.
    pub fn lacks_definitions(costs: &[RunCost]) -> bool {
        let with_receipt = costs.iter().filter(|cost| cost.receipt.is_some());
        let counted: HashSet<i64> = with_receipt.map(|cost| cost.process).collect();
        costs.iter().any(|cost| !counted.contains(&cost.process))
    }

    /// `costs` in the order of the runs.
    pub fn new(costs: Vec<RunCost>, known: KnownDefinitions) -> Ledger {
        let direct_definitions: u64 = known.servers.values().sum();
        let mut sessions: HashMap<i64, SessionDefinitions> = HashMap::new();
        for (index, cost) in costs.iter().enumerate() {
            let session = sessions.entry(cost.process).or_insert(SessionDefinitions {
                definitions: known.surface,
                direct_definitions,
                is_estimated: true,
                first_run: index,
            });
            if let Some(receipt) = &cost.receipt {
                // Servers list their tools on demand, so the last receipt covers most tools.
                session.definitions = receipt.definitions;
                session.direct_definitions = receipt.direct_definitions;
                session.is_estimated = false;
            }
        }
        Ledger {
            costs,
            servers: known.servers,
            sessions,
        }
    }

    /// Number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Sessions without a receipt, counted with the known definitions.
    pub fn estimated_sessions(&self) -> usize {
        self.sessions
            .values()
            .filter(|session| session.is_estimated)
            .count()
    }

    /// Sums by day or client, sorted by name.
    pub fn lines(&self, by: GroupBy) -> Vec<SavingsLine> {
        let mut lines: BTreeMap<String, SavingsLine> = BTreeMap::new();
        for (index, cost) in self.costs.iter().enumerate() {
            let name = name(cost, by);
            let line = lines.entry(name.clone()).or_insert_with(|| SavingsLine {
                name,
                ..SavingsLine::default()
            });
            line.runs += 1;
            line.counted += usize::from(cost.receipt.is_some());
            line.tokens += cost.tokens();
            line.direct += cost.direct_tokens();
            if let Some(session) = self.sessions.get(&cost.process)
                && session.first_run == index
            {
                line.sessions += 1;
                line.definitions += session.definitions;
                line.direct_definitions += session.direct_definitions;
            }
        }
        lines.into_values().collect()
    }

    /// Sums of each called or known server, most expensive first.
    pub fn servers(&self) -> Vec<ServerLine> {
        let mut lines: BTreeMap<String, ServerLine> = BTreeMap::new();
        for (server, definitions) in &self.servers {
            line_of(&mut lines, server).definitions = Some(*definitions);
        }
        for cost in &self.costs {
            match &cost.receipt {
                Some(receipt) => {
                    for (tool, calls) in &receipt.calls {
                        let line = line_of(&mut lines, &tool.server);
                        line.calls += calls.calls;
                        line.counted += calls.calls;
                        line.written += calls.written;
                        line.read += calls.read;
                    }
                }
                None => {
                    for calls in &cost.calls {
                        let line = line_of(&mut lines, &calls.tool.server);
                        line.calls += calls.calls;
                        line.written += estimates::arguments(calls.arguments_bytes);
                        line.read += estimates::answers(calls.answer_bytes);
                    }
                }
            }
        }
        let mut lines: Vec<ServerLine> = lines.into_values().collect();
        lines.sort_by_key(|line| Reverse(line.written + line.read + line.definitions.unwrap_or_default()));
        lines
    }
}

fn line_of<'l>(lines: &'l mut BTreeMap<String, ServerLine>, server: &str) -> &'l mut ServerLine {
    lines.entry(server.to_owned()).or_insert_with(|| ServerLine {
        server: server.to_owned(),
        ..ServerLine::default()
    })
}

fn name(cost: &RunCost, by: GroupBy) -> String {
    match by {
        GroupBy::Client => cost.client.clone().unwrap_or_else(|| "(unnamed)".to_owned()),
        GroupBy::Day => DateTime::from_timestamp_millis(cost.asked_ms).map_or_else(
            || cost.asked_ms.to_string(),
            |time| time.format("%Y-%m-%d").to_string(),
        ),
    }
}

// === impl SavingsLine ===

impl SavingsLine {
    /// The sum, under the name `total`.
    pub fn total(lines: &[SavingsLine]) -> SavingsLine {
        let mut total = SavingsLine {
            name: "total".to_owned(),
            ..SavingsLine::default()
        };
        for line in lines {
            total.runs += line.runs;
            total.counted += line.counted;
            total.tokens += line.tokens;
            total.direct += line.direct;
            total.sessions += line.sessions;
            total.definitions += line.definitions;
            total.direct_definitions += line.direct_definitions;
        }
        total
    }

    /// Tokens saved by the runs alone; negative if they cost more.
    pub fn saved(&self) -> i64 {
        difference(self.direct, self.tokens)
    }

    /// Tokens saved by runs and definitions; negative if they cost more.
    pub fn saved_with_definitions(&self) -> i64 {
        self.saved() + difference(self.direct_definitions, self.definitions)
    }
}

#[cfg(test)]
mod tests {
    use types::ToolRef;

    use super::*;
    use crate::direct::ToolTokens;
    use crate::recorded::{CallBytes, RecordedReceipt};

    fn list() -> ToolRef {
        ToolRef::new("crm", "list")
    }

    fn cost(process: i64, day: i64, receipt: Option<RecordedReceipt>) -> RunCost {
        RunCost {
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
                tool: list(),
                calls: 2,
                arguments_bytes: 315,
                answer_bytes: 6510,
                answered: 1,
            }],
            other_calls: 0,
        }
    }

    fn receipt() -> RecordedReceipt {
        RecordedReceipt {
            definitions: 190,
            written: 50,
            read: 20,
            receipt_text: Some(15),
            searched: 5,
            direct_definitions: 4000,
            direct_tools: 30,
            calls: BTreeMap::from([(
                list(),
                ToolTokens {
                    calls: 2,
                    written: 8,
                    read: 700,
                },
            )]),
        }
    }

    fn ledger() -> Ledger {
        let costs = vec![
            cost(1, 0, None),
            cost(1, 0, Some(receipt())),
            cost(1, 1, Some(receipt())),
            cost(2, 1, None),
        ];
        let known = KnownDefinitions {
            surface: 170,
            servers: BTreeMap::from([("mail".to_owned(), 900)]),
        };
        Ledger::new(costs, known)
    }

    fn numbers(line: &SavingsLine) -> [i128; 9] {
        [
            line.runs as i128,
            line.counted as i128,
            line.tokens.into(),
            line.direct.into(),
            line.saved().into(),
            line.sessions.into(),
            line.definitions.into(),
            line.direct_definitions.into(),
            line.saved_with_definitions().into(),
        ]
    }

    #[test]
    fn definitions_count_once_per_session_and_runs_by_receipt_or_estimate() {
        let ledger = ledger();
        let shown = |by| -> Vec<String> {
            let lines = ledger.lines(by);
            lines
                .iter()
                .map(|line| format!("{} {:?}", line.name, numbers(line)))
                .collect()
        };
        assert_eq!(
            shown(GroupBy::Day),
            [
                "1970-01-01 [2, 1, 275, 1808, 1533, 1, 190, 4000, 5343]",
                "1970-01-02 [2, 1, 275, 1808, 1533, 1, 170, 900, 2263]"
            ]
        );
        assert_eq!(
            shown(GroupBy::Client),
            [
                "client 1 [3, 2, 350, 2516, 2166, 1, 190, 4000, 5976]",
                "client 2 [1, 0, 200, 1100, 900, 1, 170, 900, 1630]"
            ]
        );
        let total = SavingsLine::total(&ledger.lines(GroupBy::Day));
        assert_eq!(numbers(&total), [4, 2, 550, 3616, 3066, 2, 360, 4900, 7606]);
        assert_eq!((ledger.sessions(), ledger.estimated_sessions()), (2, 1));
    }

    #[test]
    fn lines_cover_called_and_known_servers() {
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
