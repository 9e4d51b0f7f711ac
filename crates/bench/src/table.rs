//! Prints figures as a table.

use crate::figures::{Figure, Input, Report};
use crate::gateways::rows;

pub fn print(report: &Report) {
    if !report.figures.is_empty() {
        figures(report);
    }
    if !report.inputs.is_empty() {
        inputs(&report.inputs);
    }
    rows::print(&report.loads, &report.footprints);
    for skipped in &report.skipped {
        println!("skipped: {}: {}", skipped.name, skipped.reason);
    }
}

fn inputs(inputs: &[Input]) {
    println!(
        "{:<26} {:<11} {:>10} {:>11} {:>11} {:>10}",
        "parser", "shape", "N", "growth", "bound", "delay"
    );
    for input in inputs {
        println!("{}", input.line());
    }
    let broken = inputs.iter().filter(|input| !input.is_met()).count();
    println!("{broken} of {} inputs exceed their limits", inputs.len());
}

fn figures(report: &Report) {
    let width = report
        .figures
        .iter()
        .map(|figure| figure.name.chars().count())
        .max();
    let width = width.unwrap_or_default();
    println!(
        "{:<width$} {:>10} {:>6} {:>10} {:>10}  {:<22} beside",
        "", "placement", "n", "p50", "p99", "promise"
    );
    for figure in &report.figures {
        println!(
            "{:<width$} {:>10} {:>6} {:>10} {:>10}  {:<22} {}",
            figure.name,
            figure.placement.describe(),
            figure.samples,
            figure.unit.show(figure.p50),
            figure.unit.show(figure.p99),
            promise(figure),
            beside(figure),
        );
    }
}

fn promise(figure: &Figure) -> String {
    figure.goal.as_ref().map_or_else(String::new, |goal| {
        let verdict = if goal.met { "kept" } else { "NOT KEPT" };
        format!("{}: {verdict}", goal.promise)
    })
}

fn beside(figure: &Figure) -> String {
    match (&figure.beside, figure.ratio) {
        (Some(floor), Some(ratio)) => format!("{ratio:.2} x {floor}"),
        _ => String::new(),
    }
}
