//! The promises of SPECIFICATION.md that have a figure, and the figures that decide them.

use anyhow::{Result, bail};

use crate::figures::{Figure, Report};

/// A row of SPECIFICATION.md.
struct Promise {
    /// The row's first cell.
    row: &'static str,
    /// The row's goal cell; empty if the row is in another section.
    goal: &'static str,
    /// Prefixes of the figures' names; several if the row states several.
    figures: &'static [&'static str],
    /// The goal of each of these figures in this crate.
    bound: &'static str,
}

/// Rows that need other programs, with the command that measures them.
const ELSEWHERE: [(&str, &str, &str); 1] = [(
    "faster than others over MCP, in session start, live run and host call",
    "more than 1 x",
    "cargo xtask bench rivals",
)];

const PROMISES: &[Promise] = &[
    Promise {
        row: "fresh jailed session, plain, no pool, to first output",
        goal: "at most 1.3 x F",
        figures: &["fresh session, plain"],
        bound: "<= 1.3 x",
    },
    Promise {
        row: "the same with numpy and pandas loaded",
        goal: "at most 1.25 x F",
        figures: &["fresh session, numpy and pandas"],
        bound: "<= 1.25 x",
    },
    Promise {
        row: "fresh session of TypeScript, no pool, to first output",
        goal: "at most 0.5 x F of Python, plain",
        figures: &["fresh session, TypeScript"],
        bound: "<= 0.5 x",
    },
    Promise {
        row: "fresh session of bash, no pool, to first output",
        goal: "at most 0.7 x F of Python, plain",
        figures: &["fresh session, shell"],
        bound: "<= 0.7 x",
    },
    Promise {
        row: "the same, three directories attached, a file of two of them read",
        goal: "at most 0.5 ms, p99 1.5",
        figures: &["session from the pool, files attached and read, plain"],
        bound: "<= 500 us, p99 <= 1.50 ms",
    },
    Promise {
        row: "the same with numpy and pandas loaded",
        goal: "at most 0.5 ms, p99 1.5",
        figures: &["session from the pool, files attached and read, numpy and pandas"],
        bound: "<= 500 us, p99 <= 1.50 ms",
    },
    Promise {
        row: "run in a live session, host side",
        goal: "at most P + 60 us",
        figures: &["run in a live session, host side"],
        bound: "<= P + 60 us",
    },
    Promise {
        row: "run in a live session, over MCP stdio",
        goal: "at most 0.5 ms",
        figures: &["run in a live session, over MCP stdio"],
        bound: "<= 500 us",
    },
    Promise {
        row: "`run_python` of the surface `bridge`, over `execute_code`, over MCP stdio",
        goal: "at most 0.1 ms more",
        figures: &["run_python in a live session, over MCP stdio"],
        bound: "<= 100 us more",
    },
    Promise {
        row: "a program in TypeScript in a live session, over Python, over MCP stdio",
        goal: "at most 1.2 x",
        figures: &["TypeScript in a live session, over MCP stdio"],
        bound: "<= 1.2 x",
    },
    Promise {
        row: "a tool call awaited in TypeScript, over Python",
        goal: "at most 1.2 x",
        figures: &["awaited call of a tool from TypeScript"],
        bound: "<= 1.2 x",
    },
    Promise {
        row: "a command of bash in a live session, over MCP stdio",
        goal: "at most 1 ms",
        figures: &["shell in a live session, over MCP stdio"],
        bound: "<= 1.00 ms",
    },
    Promise {
        row: "run in a new session from the pool, over MCP stdio",
        goal: "at most 1 ms",
        figures: &["run in a new session, over MCP stdio"],
        bound: "<= 1.00 ms",
    },
    Promise {
        row: "host call, awaited, answered at once by the host",
        goal: "at most P + 60 us",
        figures: &["host call, awaited, answered at once"],
        bound: "<= P + 60 us",
    },
    Promise {
        row: "100 gathered calls of a server",
        goal: "at most 1.2 x the slowest",
        figures: &["100 gathered calls"],
        bound: "<= 1.2 x",
    },
    Promise {
        row: "host call with 1, 10, 46, 100 servers configured",
        goal: "flat",
        figures: &[
            "host call of a real server, 10 servers",
            "host call of a real server, 46 servers",
            "host call of a real server, 100 servers",
        ],
        bound: "<= 1.2 x",
    },
    Promise {
        row: "start of `codeyard mcp` to its first answer, no server / 100 servers",
        goal: "at most 20 ms",
        figures: &[
            "start of `codeyard mcp` to its first answer",
            "start of `codeyard mcp` to its first answer, 100 servers",
        ],
        bound: "<= 20.00 ms",
    },
    Promise {
        row: "resident memory of the idle server, no server / 46 servers with 2,040 tools",
        goal: "at most 30 MB",
        figures: &["resident memory of `codeyard mcp` after its first answer"],
        bound: "<= 30.00 MB",
    },
    Promise {
        row: "idle session, plain / numpy and pandas, charged to its control group",
        goal: "at most 2 MB",
        figures: &["idle session, plain: ", "idle session, numpy and pandas: "],
        bound: "<= 2.00 MB",
    },
    Promise {
        row: "idle session of TypeScript, charged to its control group",
        goal: "at most 2 MB",
        figures: &["idle session, TypeScript: "],
        bound: "<= 2.00 MB",
    },
    Promise {
        row: "sessions opened, run and closed a second, two zygotes, plain / numpy and pandas",
        goal: "at least 500 / 350",
        figures: &["sessions opened, run and closed, 2 zygotes, plain"],
        bound: ">= 500 / s",
    },
    Promise {
        row: "sessions opened, run and closed a second, two zygotes, plain / numpy and pandas",
        goal: "at least 500 / 350",
        figures: &["sessions opened, run and closed, 2 zygotes, numpy and pandas"],
        bound: ">= 350 / s",
    },
    Promise {
        row: "`/tools` of 46 servers with 2,040 tools: built",
        goal: "at most 1 s",
        figures: &["/tools of 2,040 tools, built"],
        bound: "<= 1.00 s",
    },
    Promise {
        row: "the same, refreshed for one changed tool",
        goal: "at most 20 ms",
        figures: &["/tools of 2,040 tools, refreshed for one changed tool"],
        bound: "<= 20.00 ms",
    },
    Promise {
        row: "the same, listed by `fs_browse`",
        goal: "at most 5 ms",
        figures: &["fs_browse /tools of 2,040 tools"],
        bound: "<= 5.00 ms",
    },
    Promise {
        row: "a record costs at most 50 us of a run or a call",
        goal: "",
        figures: &[
            "live run over MCP stdio, recorded",
            "host call of a real server, recorded",
        ],
        bound: "<= 50 us more",
    },
    Promise {
        row: "a live run over HTTP takes at most 150 us more than over stdio",
        goal: "",
        figures: &["live run over HTTP"],
        bound: "<= 150 us more",
    },
    Promise {
        row: "a live run over the gateway, with token, policy, rate and record, takes at most 200 us more than over stdio",
        goal: "",
        figures: &["live run over the gateway"],
        bound: "<= 200 us more",
    },
    Promise {
        row: "`codeyard serve` listens within 100 ms",
        goal: "",
        figures: &["start of `codeyard serve` until it listens"],
        bound: "<= 100.00 ms",
    },
    Promise {
        row: "a page of a million recorded runs takes at most 200 ms",
        goal: "",
        figures: &["page of a million runs: "],
        bound: "<= 200.00 ms",
    },
    Promise {
        row: "runs of 49 sessions beside a hostile one",
        goal: "",
        figures: &[
            "runs of 49 sessions beside one CPU burner",
            "runs of 49 sessions beside one forker",
            "runs of 49 sessions beside one disk writer",
            "runs of 49 sessions beside one memory filler",
            "runs of 49 sessions beside one frame flooder",
            "runs of 49 sessions beside one output flooder",
            "runs of 49 sessions beside one thread maker",
        ],
        bound: "p99 <= 1.5 x",
    },
];

/// Prints the promises that this run broke or did not measure; returns the number of broken ones.
///
/// A promise without a figure is an error: its part no longer measures it.
pub fn judge(report: &Report) -> Result<usize> {
    let mut broken = Vec::new();
    for promise in PROMISES {
        for name in promise.figures {
            let figures = promise.shown_by(report, name);
            if figures.is_empty() {
                bail!(
                    "no figure {name:?} with the goal {:?} was measured",
                    promise.bound
                );
            }
            let missed = figures.into_iter().filter(|figure| !figure.is_met());
            broken.extend(missed.map(|figure| promise.line(figure)));
        }
    }
    println!(
        "\npromises of SPECIFICATION.md that this run did not keep: {}",
        broken.len()
    );
    for line in &broken {
        println!("  {line}");
    }
    for (row, goal, command) in ELSEWHERE {
        println!("not measured here: {row}, {goal}: `{command}`");
    }
    Ok(broken.len())
}

impl Promise {
    /// One figure for each placement.
    fn shown_by<'a>(&self, report: &'a Report, name: &str) -> Vec<&'a Figure> {
        let is_meant = |figure: &&Figure| {
            let is_bound = figure
                .goal
                .as_ref()
                .is_some_and(|goal| goal.promise == self.bound);
            let is_named = figure.name == name || (name.ends_with(": ") && figure.name.starts_with(name));
            is_bound && is_named
        };
        report.figures.iter().filter(is_meant).collect()
    }

    fn line(&self, figure: &Figure) -> String {
        let goal = if self.goal.is_empty() {
            self.bound
        } else {
            self.goal
        };
        let ratio = match (figure.ratio, &figure.beside) {
            (Some(ratio), Some(floor)) => format!(", {ratio:.2} x {floor}"),
            _ => String::new(),
        };
        format!(
            "{} ({}): goal {goal}, reached {}, p99 {}{ratio} (row: {})",
            figure.name,
            figure.placement.describe(),
            figure.unit.show(figure.p50),
            figure.unit.show(figure.p99),
            self.row,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECIFICATION: &str = include_str!("../../../SPECIFICATION.md");

    /// First cells and goals of the tables under "Speed", without rows that promise nothing.
    fn rows() -> Vec<(&'static str, &'static str)> {
        let speed = SPECIFICATION
            .split("\n## ")
            .find(|section| section.starts_with("Speed"));
        let lines = speed.expect("a section on speed").lines();
        let cells = lines.filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" |").map(str::trim);
            Some((cells.next()?, cells.next()?))
        });
        cells
            .filter(|(row, goal)| !goal.is_empty() && *goal != "goal" && !row.starts_with("---"))
            .collect()
    }

    #[test]
    fn every_row_on_speed_is_measured_and_every_promise_is_a_row() {
        let mut promised: Vec<_> = PROMISES
            .iter()
            .map(|promise| (promise.row, promise.goal))
            .collect();
        promised.dedup();
        let (elsewhere, mut promised): (Vec<_>, Vec<_>) =
            promised.into_iter().partition(|(_, goal)| goal.is_empty());
        promised.extend(ELSEWHERE.map(|(row, goal, _)| (row, goal)));
        assert_eq!(promised, rows());
        for (row, _) in elsewhere {
            assert!(SPECIFICATION.contains(&format!("| {row}")), "{row}");
        }
    }
}
