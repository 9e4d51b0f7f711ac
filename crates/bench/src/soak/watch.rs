//! Watches programs through a phase: samples them during it, and compares the machine before and after.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::gauges::{self, Counts, GAUGES, Gauge};
use super::machine_state::{MachineState, ProgramResources};
use super::slope::{Looks, Slope};

/// Negligible slopes, whatever their interval: bytes, and things, for each run or session. An
/// allocator needs some thousand runs to settle.
const BYTES: f64 = 500.0;
const THINGS: f64 = 0.0002;
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Verdict {
    pub title: String,
    /// Names and values.
    pub figures: Vec<(String, String)>,
    /// Growth and leftovers.
    pub wrong: Vec<String>,
}

pub struct Watch {
    title: String,
    /// Units of work before growth is judged.
    least: f64,
    directories: Vec<PathBuf>,
    before: MachineState,
    owned: ProgramResources,
    started: Instant,
    looks: [Looks; GAUGES.len()],
    figures: Vec<(String, String)>,
    wrong: Vec<String>,
}

impl Watch {
    pub fn begin(title: String, least: u32, directories: Vec<PathBuf>) -> Self {
        Self {
            title,
            least: f64::from(least),
            before: MachineState::look(&directories),
            directories,
            owned: ProgramResources::default(),
            started: Instant::now(),
            looks: Default::default(),
            figures: Vec::new(),
            wrong: Vec::new(),
        }
    }

    pub fn complain(&mut self, of: impl IntoIterator<Item = String>) {
        self.wrong.extend(of);
    }

    /// Samples programs after `done` units of work; a gauge's size is the sum over all programs.
    pub fn look(&mut self, done: u32, programs: &[u32]) {
        let sizes = gauges::look(programs, &self.directories);
        for (looks, size) in self.looks.iter_mut().zip(sizes) {
            looks.add(f64::from(done), size);
        }
        programs.iter().for_each(|pid| self.owned.gather(*pid));
    }

    /// Records a program's resources without measuring them.
    pub fn gather(&mut self, program: u32) {
        self.owned.gather(program);
    }

    pub fn state(&mut self, name: &str, figure: String) {
        self.figures.push((name.to_owned(), figure));
    }

    /// Waits until everything has ended or its time is up, then compares the machine.
    pub async fn end(mut self) -> Verdict {
        self.state("took", format!("{:.1} s", self.started.elapsed().as_secs_f64()));
        for (gauge, looks) in GAUGES.iter().zip(&self.looks) {
            let Some(slope) = looks.slope() else { continue };
            let shown = shown(*gauge, slope);
            if slope.grows(negligible(*gauge)) && slope.span >= self.least {
                self.wrong.push(format!("{} grew: {shown}", gauge.name));
            }
            self.figures.push((gauge.name.to_owned(), shown));
        }
        let left = self.left_in_the_end().await;
        self.state("left behind", left.len().to_string());
        self.wrong.extend(by_kind(left));
        Verdict {
            title: self.title,
            figures: self.figures,
            wrong: self.wrong,
        }
    }

    async fn left_in_the_end(&self) -> Vec<String> {
        let waiting = Instant::now();
        loop {
            let mut left = self.owned.left();
            left.extend(MachineState::look(&self.directories).beyond(&self.before));
            if left.is_empty() || waiting.elapsed() > PATIENCE {
                return left;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// One line for each kind of leftover, with its count and a first example: there may be thousands.
pub fn by_kind(left: Vec<String>) -> Vec<String> {
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for one in left {
        let kind = one.split([' ', '/']).next().unwrap_or_default().to_owned();
        kinds.entry(kind).or_insert((0, one)).0 += 1;
    }
    let line = |(count, first)| format!("{count} left, such as {first}");
    kinds.into_values().map(line).collect()
}

fn negligible(gauge: Gauge) -> f64 {
    match gauge.counts {
        Counts::Bytes => BYTES,
        Counts::Things => THINGS,
    }
}

/// The level, and the slope per thousand runs or sessions with its interval.
fn shown(gauge: Gauge, slope: Slope) -> String {
    let Slope {
        level,
        slope,
        low,
        high,
        ..
    } = slope;
    let thousand = 1000.0;
    match gauge.counts {
        Counts::Bytes => {
            let kilo = |slope: f64| slope * thousand / 1e3;
            let (slope, low, high) = (kilo(slope), kilo(low), kilo(high));
            format!(
                "{:.1} MB, {slope:+.1} kB [{low:+.1}, {high:+.1}] per 1,000",
                level / 1e6
            )
        }
        Counts::Things => {
            let (slope, low, high) = (slope * thousand, low * thousand, high * thousand);
            format!("{level:.0}, {slope:+.2} [{low:+.2}, {high:+.2}] per 1,000")
        }
    }
}
