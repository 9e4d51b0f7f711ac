//! Draws a bill as bars.

use std::fmt::Write as _;

/// Token counts of one group of servers.
#[derive(Debug)]
pub struct Row {
    pub servers: String,
    pub tools: u64,
    pub before: u64,
    pub after: u64,
}

const WIDTH: u64 = 720;
/// Left edge of the bars, and the longest bar, in pixels.
const LEFT: u64 = 180;
const LONGEST: u64 = 420;
const ROW_HEIGHT: u64 = 64;

/// An SVG with two bars per row: the definitions' tokens without Codeyard, and with Codeyard.
pub fn draw(rows: &[Row]) -> String {
    let most = rows.iter().map(|row| row.before).max().unwrap_or(1).max(1);
    let height = ROW_HEIGHT * u64::try_from(rows.len()).unwrap_or_default() + 48;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"14\" fill=\"#768390\">\n\
         <title>Tokens of tool definitions in the model's context</title>\n\
         <text x=\"0\" y=\"18\">Tokens of tool definitions in the model's context: \
         <tspan fill=\"#8b949e\">all tools</tspan>, <tspan fill=\"#2da44e\">Codeyard</tspan></text>\n"
    );
    for (row, top) in rows.iter().zip((40..).step_by(64)) {
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{}\">{}</text>\n<text x=\"0\" y=\"{}\" font-size=\"12\">{} tools</text>",
            top + 15,
            row.servers,
            top + 33,
            grouped(row.tools),
        );
        for (tokens, y, color) in [(row.before, top, "#8b949e"), (row.after, top + 22, "#2da44e")] {
            let length = (tokens * LONGEST / most).max(1);
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{length}\" height=\"18\" fill=\"{color}\"/>\n\
                 <text x=\"{}\" y=\"{}\">{}</text>",
                LEFT + length + 8,
                y + 14,
                grouped(tokens),
            );
        }
    }
    svg + "</svg>\n"
}

/// `839173` as `839,173`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        let row = |before, after| Row {
            servers: "9 real".to_owned(),
            tools: 2_040,
            before,
            after,
        };
        let svg = draw(&[row(839_173, 177), row(419_586, 1)]);
        for part in [
            "width=\"420\"",
            "width=\"209\"",
            "width=\"1\"",
            ">839,173<",
            ">2,040 tools<",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }
}
