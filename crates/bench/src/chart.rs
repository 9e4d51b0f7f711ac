//! Draws the comparison with the rivals: one group of bars for each operation, on a logarithmic scale.

use std::fmt::Write;

use crate::figures::{Figure, Report, Unit};
use crate::rivals::contender::Operation;

const WIDTH: f64 = 760.0;
/// The bars' left edge; labels are to the left.
const LEFT: f64 = 230.0;
/// Room for a number to the right of the longest bar.
const RIGHT: f64 = 110.0;
const ROW: f64 = 22.0;
const BAR: f64 = 14.0;
const TITLE: f64 = 34.0;
/// The scale's range, in microseconds.
const SCALE: (f64, f64) = (10.0, 1e6);

/// Follows the reader's colour scheme.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:13px}.n{fill:#57606a}\
.o{fill:#1a7f64}.r{fill:#a8b3bf}.g{stroke:#d0d7de;stroke-width:1}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9198a1}.o{fill:#3fb98f}.r{fill:#59636e}.g{stroke:#3d444d}}";

/// The chart as SVG, without empty groups.
pub fn draw(report: &Report) -> String {
    let mut body = String::new();
    let mut y = 8.0;
    for what in Operation::ALL {
        let prefix = format!("{}: ", what.describe());
        let of_it = |figure: &&Figure| figure.name.starts_with(&prefix);
        let mut rows: Vec<(&str, &Figure)> = report
            .figures
            .iter()
            .filter(of_it)
            .map(|figure| (&figure.name[prefix.len()..], figure))
            .collect();
        rows.sort_by(|one, other| one.1.p50.total_cmp(&other.1.p50));
        if !rows.is_empty() {
            y = group(&mut body, y, what.describe(), &rows);
        }
    }
    let height = y + 4.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-label=\"Median times of Codeyard and its rivals\">\n<style>{STYLE}</style>\n{body}</svg>\n"
    )
}

/// Draws one group and returns the top of the next.
fn group(body: &mut String, top: f64, title: &str, rows: &[(&str, &Figure)]) -> f64 {
    text(body, 8.0, top + 16.0, "t", &format!("{title}, median"));
    let count = rows.iter().fold(0.0, |count, _| count + 1.0);
    let (first, last) = (top + TITLE - 6.0, top + TITLE + ROW * count);
    for decade in [1e2, 1e3, 1e4, 1e5] {
        let x = LEFT + length(decade);
        line(body, x, first, last);
        let label = Unit::Micros.show(decade).replace(".00", "");
        text(body, x + 3.0, top + 16.0, "n", &label);
    }
    let mut y = top + TITLE;
    for (name, figure) in rows {
        let class = if name.starts_with("codeyard") { "o" } else { "r" };
        let length = length(figure.p50);
        text(body, 8.0, y + 11.0, "", name);
        let _ = writeln!(
            body,
            "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{y:.0}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\"/>"
        );
        let ratio = figure
            .ratio
            .map_or_else(String::new, |ratio| format!(", {ratio:.1} x"));
        let label = format!("{}{ratio}", Unit::Micros.show(figure.p50));
        text(body, LEFT + length + 6.0, y + 11.0, "n", &label);
        y += ROW;
    }
    last + 14.0
}

fn length(micros: f64) -> f64 {
    let (least, most) = SCALE;
    let part = (micros.clamp(least, most) / least).ln() / (most / least).ln();
    part * (WIDTH - LEFT - RIGHT)
}

fn text(body: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    // Writing to a string cannot fail.
    let _ = writeln!(
        body,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    );
}

fn line(body: &mut String, x: f64, top: f64, bottom: f64) {
    let _ = writeln!(
        body,
        "<line class=\"g\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Samples;
    use crate::placement::Placement;

    #[test]
    fn bars_come_in_order_and_codeyard_stands_out() {
        let figure = |name: &str, micros| {
            let mut samples = Samples::default();
            samples.push_number(micros);
            samples.figure(name, Placement::Free)
        };
        let report = Report::from(vec![
            figure("session start: slow & steady", 9000.0),
            figure("session start: codeyard", 400.0),
            figure("start of something else", 1.0),
        ]);
        let drawn = draw(&report);
        assert_eq!(drawn.matches("<rect").count(), 2);
        assert!(
            drawn.find("codeyard</text>") < drawn.find("slow &amp; steady</text>"),
            "{drawn}"
        );
        assert_eq!(drawn.matches("class=\"o\"").count(), 1);
    }

    #[test]
    fn bars_stay_on_the_page() {
        assert!(length(1e9) <= WIDTH - LEFT - RIGHT);
        assert!(length(0.0) >= 0.0);
        assert!(length(1000.0) > length(100.0));
    }
}
