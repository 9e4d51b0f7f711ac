//! Prints figures as a table.

use crate::figures::Figure;

/// Prints every figure, one a row.
pub fn print(figures: &[Figure]) {
    println!(
        "{:<56} {:>10} {:>7} {:>11} {:>11}  beside",
        "", "placement", "n", "p50", "p99"
    );
    for figure in figures {
        let beside = match (&figure.floor, figure.ratio) {
            (Some(floor), Some(ratio)) => format!("{ratio:.2} x {floor}"),
            _ => String::new(),
        };
        println!(
            "{:<56} {:>10} {:>7} {:>11} {:>11}  {beside}",
            figure.name,
            figure.placement.describe(),
            figure.samples,
            duration(figure.p50),
            duration(figure.p99),
        );
    }
}

/// Microseconds, or milliseconds from one on.
fn duration(micros: f64) -> String {
    if micros < 1000.0 {
        format!("{micros:.0} us")
    } else {
        format!("{:.2} ms", micros / 1000.0)
    }
}
