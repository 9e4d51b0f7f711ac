//! `codeyard doctor`: what this machine gives, what it lacks, and what to do about it.

mod attack;

use config::Machine;
use server::doctor::{Report, State};

use crate::cli::DoctorArguments;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Output, Tone};

/// Examines the machine.
pub async fn run(context: &Context, arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    if arguments.attack {
        return attack::run(context, arguments).await;
    }
    let loaded = context.load_settings()?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let report = server::doctor::examine(parts.backend, parts.sandbox).await;
    if arguments.json {
        context.output.json(&report)?;
    } else {
        context.output.print(&shown(&report, &context.output))?;
    }
    Ok(if report.serves { Exit::Done } else { Exit::Refused })
}

fn shown(report: &Report, output: &Output) -> String {
    let width = report
        .checks
        .iter()
        .map(|check| check.name.chars().count())
        .max()
        .unwrap_or_default();
    let mut out = String::new();
    for check in &report.checks {
        let (word, tone) = match check.state {
            State::Ok => ("ok     ", Tone::Good),
            State::Weaker => ("weaker ", Tone::Weak),
            State::Missing => ("missing", Tone::Bad),
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
    let verdict = match (&report.mode, report.serves) {
        (Some(mode), true) => output.paint(Tone::Good, &format!("programs can run here (mode: {mode})")),
        (Some(mode), false) => output.paint(
            Tone::Bad,
            &format!("programs cannot run here as things are (mode: {mode})"),
        ),
        (None, _) => output.paint(Tone::Bad, "programs cannot run here"),
    };
    out.push_str(&format!("\n{verdict}\n"));
    out
}
