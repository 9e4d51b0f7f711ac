//! Prints a task: its output, or all steps from discovery to the end.

use offline_task::ToolNames;
use server::{TaskReport, TaskResult};
use types::numbers::counted;

use crate::cli::TaskArguments;
use crate::output::{Output, harmless};

pub(super) fn report(output: &Output, report: &TaskReport, arguments: &TaskArguments) -> anyhow::Result<()> {
    match (arguments.verbose, arguments.plan) {
        (true, _) => verbose(output, report, arguments)?,
        (false, true) => output.foreign(report.code.as_deref().unwrap_or_default())?,
        (false, false) => text(output, report.output.as_deref())?,
    }
    if !arguments.verbose {
        for note in &report.notes {
            output.tell(&harmless(&format!("note: {note}")));
        }
        if let Some(error) = &report.error {
            output.tell(&harmless(error));
        }
    }
    if let Some(notice) = &report.notice {
        output.tell(&format!("notice: {notice}"));
    }
    Ok(())
}

fn text(output: &Output, text: Option<&str>) -> anyhow::Result<()> {
    match text {
        Some(text) => output.foreign(&format!("{text}\n")),
        None => Ok(()),
    }
}

fn verbose(output: &Output, report: &TaskReport, arguments: &TaskArguments) -> anyhow::Result<()> {
    let (all, selected) = report.counts();
    output.line(&format!(
        "1. Discover: {}, {}",
        counted(report.discovered.len(), "server"),
        counted(all, "tool")
    ))?;
    tools(output, &report.discovered)?;
    match report.tools_were_given {
        true => output.line(&format!(
            "2. Select: {} given by the caller, none selected",
            counted(selected, "tool")
        ))?,
        false => output.line(&format!(
            "2. Select: {} for {}",
            counted(selected, "tool"),
            counted(report.steps.len(), "step")
        ))?,
    }
    tools(output, &report.selected)?;
    for (at, step) in report.steps.iter().enumerate() {
        let what = match (&step.problem, &step.call) {
            (Some(problem), _) => problem.clone(),
            (None, Some(call)) => format!("{:?} calls {call}", step.text),
            (None, None) => format!("{:?} runs the caller's code", step.text),
        };
        output.line(&harmless(&format!("   step {}: {what}", at + 1)))?;
    }
    for note in &report.notes {
        output.line(&harmless(&format!("   note: {note}")))?;
    }
    match &report.code {
        Some(code) => program(output, code)?,
        None => output.line("3. Generate: nothing, because the task cannot be run as it is worded")?,
    }
    if !arguments.plan && report.code.is_some() {
        execution(output, report)?;
    }
    if let (Some(error), None) = (&report.error, &report.code) {
        output.line(&harmless(&format!("Error:\n{}", indented(error))))?;
    }
    output.line(&efficiency(all, selected))
}

fn tools(output: &Output, tools: &ToolNames) -> anyhow::Result<()> {
    let width = tools
        .keys()
        .map(|server| server.chars().count())
        .max()
        .unwrap_or_default();
    for (server, tools) in tools {
        output.line(&harmless(&format!("   {server:width$}  {}", tools.join(", "))))?;
    }
    Ok(())
}

fn program(output: &Output, code: &str) -> anyhow::Result<()> {
    output.line(&format!(
        "3. Generate: a program of {}",
        counted(code.lines().count(), "line")
    ))?;
    for (at, line) in code.lines().enumerate() {
        output.line(harmless(&format!("   {:3} | {line}", at + 1)).trim_end())?;
    }
    Ok(())
}

fn execution(output: &Output, report: &TaskReport) -> anyhow::Result<()> {
    let result = match report.result {
        TaskResult::Success => "success",
        TaskResult::Failure => "failure",
        TaskResult::Blocked => "blocked",
        TaskResult::Timeout => "timeout",
    };
    let took = report
        .duration_ms
        .map(|ms| format!(" in {ms:.1} ms"))
        .unwrap_or_default();
    let run = report
        .run_id
        .as_ref()
        .map(|run| format!(", run {run}"))
        .unwrap_or_default();
    output.line(&format!("4. Execute: {result}{took}{run}"))?;
    if let Some(text) = &report.output {
        output.line(&harmless(&format!("Output:\n{}", indented(text))))?;
    }
    if let Some(error) = &report.error {
        output.line(&harmless(&format!("Error:\n{}", indented(error))))?;
    }
    Ok(())
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("   {line}")).collect();
    lines.join("\n")
}

/// Such as `11 tools discovered, 3 selected (27 %), 73 % fewer`.
fn efficiency(all: usize, selected: usize) -> String {
    let percent = (selected * 100 + all / 2).checked_div(all).unwrap_or_default();
    format!(
        "{} discovered, {selected} selected ({percent} %), {} % fewer",
        counted(all, "tool"),
        100_usize.saturating_sub(percent)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded() {
        assert_eq!(
            efficiency(11, 3),
            "11 tools discovered, 3 selected (27 %), 73 % fewer"
        );
        assert_eq!(
            efficiency(1, 1),
            "1 tool discovered, 1 selected (100 %), 0 % fewer"
        );
        assert_eq!(
            efficiency(0, 0),
            "0 tools discovered, 0 selected (0 %), 100 % fewer"
        );
    }
}
