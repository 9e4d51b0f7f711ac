//! What the demo prints.

use std::time::Duration;

use server::RecordedCall;
use types::numbers::grouped;

use super::peer::{Exchange, Introduction};
use super::steps::processed;
use super::tokens::{Cost, answer_text};
use crate::output::{Output, Tone, harmless, table};

/// Most characters of a long text.
const GLIMPSE: usize = 72;

#[derive(Debug, Clone, Copy)]
pub struct Show<'o> {
    output: &'o Output,
}

impl<'o> Show<'o> {
    pub fn new(output: &'o Output) -> Self {
        Self { output }
    }

    pub fn opening(&self, introduction: &Introduction) -> anyhow::Result<()> {
        let names: Vec<&str> = introduction
            .tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        self.output.line(&format!(
            "Three MCP servers stand behind codeyard: {}.\nThe model sees {} tools: {}.",
            demo_servers::names().join(", "),
            names.len(),
            names.join(", ")
        ))
    }

    pub fn step(&self, number: usize, title: &str, program: &str) -> anyhow::Result<()> {
        self.output.line("")?;
        self.output
            .line(&self.output.paint(Tone::Title, &format!("{number}. {title}")))?;
        let lines: Vec<String> = program.lines().map(|line| format!("   | {line}")).collect();
        self.output
            .line(&self.output.paint(Tone::Faint, &lines.join("\n")))
    }

    pub fn left_out(&self, number: usize, title: &str) -> anyhow::Result<()> {
        self.output.line("")?;
        self.output
            .line(&self.output.paint(Tone::Title, &format!("{number}. {title}")))?;
        self.output.line(&self.output.paint(
            Tone::Weak,
            "   left out: it needs pandas and matplotlib, which `codeyard python sync` adds; the other steps use the standard library",
        ))
    }

    pub fn result(&self, exchange: &Exchange) -> anyhow::Result<()> {
        for line in harmless(exchange.read.trim_end()).lines() {
            self.output.line(&format!("   {line}"))?;
        }
        self.output.line(
            &self
                .output
                .paint(Tone::Faint, &format!("   {}", ms(exchange.took))),
        )
    }

    pub fn saved(&self, file: &str) -> anyhow::Result<()> {
        self.output
            .line(&self.output.paint(Tone::Good, &format!("   saved {file}")))
    }

    /// The first program's calls, as a model would have made them.
    pub fn direct_calls(&self, calls: &[RecordedCall]) -> anyhow::Result<()> {
        self.output.line("")?;
        let title = "What the first program did for the model, as direct tool calls";
        self.output.line(&self.output.paint(Tone::Title, title))?;
        for call in calls {
            let arguments = glimpse(&call.arguments.to_string());
            let answer = answer_text(call);
            self.output
                .line(&format!("   {}.{} {arguments}", call.server, call.tool))?;
            let answer = format!(
                "      -> {} ({} characters)",
                glimpse(&answer),
                answer.chars().count()
            );
            self.output.line(&self.output.paint(Tone::Faint, &answer))?;
        }
        Ok(())
    }

    /// Both costs, in tokens.
    pub fn costs(&self, joined: &Exchange, ours: Cost, direct: Cost) -> anyhow::Result<()> {
        let row = |name: &str, one: u64, other: u64| {
            vec![
                format!("   {name}"),
                format!("{:>9}", grouped(one)),
                format!("{:>12}", grouped(other)),
            ]
        };
        let rows = [
            vec![
                "   tokens (o200k)".to_owned(),
                " codeyard".to_owned(),
                "direct calls".to_owned(),
            ],
            row("definitions of tools", ours.definitions, direct.definitions),
            row("written by the model", ours.written, direct.written),
            row("read by the model", ours.read, direct.read),
            row("together", ours.total(), direct.total()),
        ];
        self.output.line("")?;
        self.output.print(&table(&rows))?;
        let rows = processed(joined);
        let times = direct.total() / ours.total().max(1);
        let summary = format!(
            "   {} rows processed with {} tokens instead of {}: {times} times fewer",
            grouped(rows),
            grouped(ours.total()),
            grouped(direct.total())
        );
        self.output.line(&self.output.paint(Tone::Good, &summary))
    }

    pub fn times(
        &self,
        introduction: &Introduction,
        joined: &Exchange,
        others: &[Exchange],
        hostile: &Exchange,
    ) -> anyhow::Result<()> {
        let others: Vec<String> = others.iter().map(|exchange| ms(exchange.took)).collect();
        self.output.line("")?;
        self.output.line(&format!(
            "   times: first answers {}, first program {} (its servers started with it), later ones {}, hostile session {}",
            ms(introduction.took),
            ms(joined.took),
            others.join(" and "),
            ms(hostile.took)
        ))
    }
}

fn ms(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}

fn glimpse(text: &str) -> String {
    let line = harmless(text).replace(['\n', '\t'], " ");
    if line.chars().count() <= GLIMPSE {
        return line;
    }
    let start: String = line.chars().take(GLIMPSE).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(glimpse("a\nb"), "a b");
        assert_eq!(glimpse(&"x".repeat(80)).len(), GLIMPSE + 3);
    }
}
