//! The page: a head, the codeyards, their servers, and the last runs; also as text.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use server::control::Activity;
use store::{RunView, Traffic};
use types::numbers::counted;

use super::snapshot::Snapshot;
use crate::output::{harmless, size, table};
use crate::times;

/// Most runs in the text.
const RUNS_OF_TEXT: usize = 20;
/// Blanks between columns.
const SPACING: u16 = 2;
/// Least height of a part: a blank line, its title, its head and one row.
const LEAST: u16 = 4;
/// Least height of the runs below the other parts, if there is room.
const LEAST_RUNS: u16 = 6;

/// A titled table; the first row is the head.
struct Section {
    title: &'static str,
    rows: Vec<Vec<String>>,
    /// Colours by row number; most rows have none.
    tones: Vec<Option<Color>>,
}

pub(super) fn draw(frame: &mut Frame<'_>, snapshot: Option<&Snapshot>) {
    let Some(snapshot) = snapshot else {
        frame.render_widget(Paragraph::new("codeyard top: loading ..."), frame.area());
        return;
    };
    let lines = head(snapshot);
    let parts = parts(snapshot);
    let [head_area, processes, servers, runs] = areas(frame.area(), lines.len(), &parts);
    let mut lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    if let Some(first) = lines.first_mut() {
        first.style = Style::new().bold();
        first.push_span(Span::from("   q quits").dim());
    }
    frame.render_widget(Paragraph::new(lines), head_area);
    for (part, area) in parts.iter().zip([processes, servers, runs]) {
        part.draw(frame, area);
    }
}

/// Codeyards and servers get their lines; the runs keep at least a few.
fn areas(page: Rect, head: usize, parts: &[Section; 3]) -> [Rect; 4] {
    let height = |lines: usize| u16::try_from(lines).unwrap_or(u16::MAX);
    // Two lines above the rows: a blank one and the title.
    let [processes, servers, _] = parts.each_ref().map(|part| height(part.rows.len() + 2));
    let room = page
        .height
        .saturating_sub(height(head))
        .saturating_sub(LEAST_RUNS);
    let fitting = |lines: u16| if lines < LEAST { 0 } else { lines };
    let processes = fitting(processes.min(room / 2));
    let servers = fitting(servers.min(room - processes));
    Layout::vertical([
        Constraint::Length(height(head)),
        Constraint::Length(processes),
        Constraint::Length(servers),
        Constraint::Min(0),
    ])
    .areas(page)
}

pub(super) fn text(snapshot: &Snapshot) -> String {
    let mut out = head(snapshot).join("\n");
    out.push('\n');
    for part in parts(snapshot) {
        if part.rows.len() > 1 {
            out.push_str(&format!("\n{}\n", part.title));
            let rows: Vec<Vec<String>> = part.rows.into_iter().take(RUNS_OF_TEXT + 1).collect();
            out.push_str(&table(&rows));
        }
    }
    out
}

fn head(snapshot: &Snapshot) -> Vec<String> {
    let mut lines = vec![format!(
        "{}, {}, {}",
        counted(snapshot.processes.len(), "codeyard"),
        counted(snapshot.servers.len(), "server"),
        counted(snapshot.sessions(), "open session"),
    )];
    lines.push(match &snapshot.day {
        Some(day) => format!(
            "last 24 hours: {}, {}, {} of answers kept out of the model's context",
            counted(day.runs, "run"),
            counted(day.calls, "call"),
            size(day.kept_out()),
        ),
        None => "nothing has been recorded yet".to_owned(),
    });
    lines.extend(snapshot.day.as_ref().and_then(saved));
    lines.extend(snapshot.problems.iter().map(|problem| {
        let line = problem.lines().next().unwrap_or_default();
        format!("warning: {}", harmless(line))
    }));
    lines
}

/// Tokens saved, over the runs that were counted.
fn saved(day: &Traffic) -> Option<String> {
    let runs = counted(day.counted, "run");
    let tokens = match day.saved {
        saved @ 0.. => format!("{saved} tokens saved"),
        more => format!("{} tokens more than direct calls", more.unsigned_abs()),
    };
    (day.counted > 0).then(|| format!("{tokens}, in {runs} with a receipt"))
}

fn parts(snapshot: &Snapshot) -> [Section; 3] {
    let titles = |titles: &[&str]| titles.iter().map(|title| (*title).to_owned()).collect();
    let mut processes = Section::new(
        "codeyards",
        titles(&["pid", "surface", "since", "sessions", "runs", "servers", "client"]),
    );
    for process in &snapshot.processes {
        let is_bad = process.configuration.broken.is_some() || !process.configuration.left_out.is_empty();
        processes.add(
            is_bad.then_some(Color::Yellow),
            [
                process.pid.to_string(),
                process.surface.clone(),
                times::when(i64::try_from(process.since_ms).unwrap_or(i64::MAX)),
                process.sessions.to_string(),
                process.runs.to_string(),
                format!("{} of {}", process.servers_running, process.servers),
                process.client.clone().unwrap_or_else(|| "-".to_owned()),
            ],
        );
    }
    let mut servers = Section::new(
        "servers",
        titles(&["name", "state", "tools", "calls", "last error"]),
    );
    for server in &snapshot.servers {
        let state = match server.running {
            0 | 1 => server.state.name().to_owned(),
            several => format!("{} ({several})", server.state.name()),
        };
        let tone = match server.state {
            Activity::Running => Some(Color::Green),
            Activity::Failed | Activity::Suspended | Activity::NeedsLogin => Some(Color::Yellow),
            Activity::Idle | Activity::Starting => None,
        };
        servers.add(
            tone,
            [
                server.name.clone(),
                state,
                server
                    .tools
                    .map_or_else(|| "-".to_owned(), |tools| tools.to_string()),
                server.calls.to_string(),
                server.last_error.clone().unwrap_or_else(|| "-".to_owned()),
            ],
        );
    }
    let mut runs = Section::new(
        "runs",
        titles(&["asked", "status", "took", "calls", "returned", "session", "id"]),
    );
    for run in &snapshot.runs {
        let tone = match run.status.as_str() {
            "running" => Some(Color::Green),
            "completed" => None,
            _ => Some(Color::Yellow),
        };
        runs.add(tone, row(run));
    }
    [processes, servers, runs]
}

fn row(run: &RunView) -> [String; 7] {
    let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let bytes = |bytes: i64| size(u64::try_from(bytes).unwrap_or_default());
    let shown = run.result_bytes.map(|result| {
        let printed = run.stdout_bytes.unwrap_or_default() + run.stderr_bytes.unwrap_or_default();
        bytes(result + printed)
    });
    [
        times::when(run.asked_ms),
        run.status.clone(),
        known(run.duration_us.map(|us| format!("{} ms", us / 1000))),
        known(run.host_calls.map(|calls| calls.to_string())),
        known(shown),
        known(run.session.clone()),
        run.id.clone(),
    ]
}

// === impl Section ===

impl Section {
    fn new(title: &'static str, titles: Vec<String>) -> Section {
        Section {
            title,
            rows: vec![titles],
            tones: vec![None],
        }
    }

    fn add<const N: usize>(&mut self, tone: Option<Color>, cells: [String; N]) {
        // Servers and clients choose their own names; a cell is one line.
        let cell = |text: String| harmless(&text).replace(['\n', '\t'], " ");
        self.rows.push(cells.map(cell).to_vec());
        self.tones.push(tone);
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let [title, below] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(area);
        let name = Line::from(self.title).bold();
        frame.render_widget(Paragraph::new(vec![Line::default(), name]), title);
        let widths = self.widths(area.width);
        let rows = self.rows.iter().enumerate().map(|(index, cells)| {
            let style = match (index, self.tones.get(index).copied().flatten()) {
                (0, _) => Style::new().dim(),
                (_, Some(color)) => Style::new().fg(color),
                _ => Style::new(),
            };
            let cells = cells.iter().take(widths.len());
            Row::new(cells.map(|cell| Cell::from(cell.as_str()))).style(style)
        });
        let columns = widths.iter().map(|width| Constraint::Length(*width));
        frame.render_widget(Table::new(rows, columns).column_spacing(SPACING), below);
    }

    /// Widths of the columns that fit. The last may be cut; the first is always there.
    fn widths(&self, room: u16) -> Vec<u16> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut widths = Vec::new();
        let mut left = room;
        for column in 0..columns {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let longest = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
            let width = u16::try_from(longest).unwrap_or(u16::MAX);
            let is_last = column + 1 == columns;
            if width > left && !is_last && !widths.is_empty() {
                break;
            }
            widths.push(width.min(left));
            left = left.saturating_sub(width).saturating_sub(SPACING);
            if left == 0 {
                break;
            }
        }
        widths
    }
}
