//! `codeyard doctor`: this machine's guards, gaps and remedies.

mod attack;
mod fix;

use environment::Machine;
use sandbox_host::doctor::{CheckState, Report, Strength};

use crate::cli::DoctorArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone, table};

pub async fn run(context: &Context, arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    if arguments.attack {
        return attack::run(context, arguments).await;
    }
    if arguments.fix {
        return fix::run(context, arguments);
    }
    if !arguments.only.is_empty() {
        let message = "--only is for --attack and --fix; name one of them too";
        return Err(Failure::new(Exit::Usage, message).into());
    }
    let loaded = context.load_settings()?;
    let sinks = server::doctor::sinks(&loaded.settings.sinks);
    let parts = loaded.into_parts(context.program()?, &Machine);
    let mut report = server::doctor::examine(parts.backend, parts.sandbox, parts.workspace).await;
    let records = server::doctor::records(&parts.records).await;
    report.serves &= records.state != CheckState::Missing;
    report.checks.push(records);
    report.checks.extend(sinks);
    if arguments.json {
        context.output.json(&report)?;
    } else {
        context.output.print(&report_text(&report, &context.output))?;
    }
    Ok(if report.serves { Exit::Done } else { Exit::Refused })
}

fn report_text(report: &Report, output: &Output) -> String {
    let width = report
        .checks
        .iter()
        .map(|check| check.name.chars().count())
        .max()
        .unwrap_or_default();
    let mut out = String::new();
    for check in &report.checks {
        let (word, tone) = match check.state {
            CheckState::Ok => ("ok     ", Tone::Good),
            CheckState::Weaker => ("weaker ", Tone::Weak),
            CheckState::Missing => ("missing", Tone::Bad),
        };
        let name = check.name;
        out.push_str(&format!(
            "{}  {name:width$}  {}\n",
            output.paint(tone, word),
            check.detail
        ));
        if !check.remedy.is_empty() {
            let indent = " ".repeat(7 + 2 + width + 2);
            out.push_str(&format!(
                "{indent}{}\n",
                output.paint(Tone::Faint, &format!("to do: {}", check.remedy))
            ));
        }
    }
    if !report.guards.is_empty() {
        out.push_str(&format!("\nwhat this mode promises\n{}", guards(report)));
    }
    let verdict = match (&report.mode, report.serves) {
        (Some(mode), true) => output.paint(Tone::Good, &format!("programs can run here (mode: {mode})")),
        (Some(mode), false) => output.paint(
            Tone::Bad,
            &format!("programs cannot run here at present (mode: {mode})"),
        ),
        (None, _) => output.paint(Tone::Bad, "programs cannot run here"),
    };
    out.push_str(&format!("\n{verdict}\n"));
    out
}

/// The guards of the sandbox mode, one a line.
fn guards(report: &Report) -> String {
    let rows: Vec<Vec<String>> = report
        .guards
        .iter()
        .map(|guard| {
            let word = match guard.strength {
                Strength::Full => "full",
                Strength::Weaker => "weaker",
                Strength::NotPromised => "not promised",
            };
            vec![word.to_owned(), guard.name.to_owned(), guard.promise.clone()]
        })
        .collect();
    table(&rows)
}
