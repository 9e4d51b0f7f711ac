//! Watches programs through a phase: looks at them in between, and at the machine before and after.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::census::{Owned, Standing};
use super::growth::{Growth, Halves};
use crate::processes;

/// Growth that is none: a part of the first half, and bytes.
const PART: f64 = 0.05;
const BYTES: f64 = 2e6;
/// Descriptors and processes by which chance differs.
const FEW: f64 = 3.0;
/// Longest wait for the ends of what ended.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a phase came to.
#[derive(Debug)]
pub struct Verdict {
    /// What was done.
    pub title: String,
    /// What was seen.
    pub figures: Vec<(String, String)>,
    /// What grew or was left.
    pub wrong: Vec<String>,
}

/// Programs under watch.
pub struct Watch {
    title: String,
    directories: Vec<PathBuf>,
    before: Standing,
    owned: Owned,
    started: Instant,
    resident: Growth,
    family: Growth,
    descriptors: Growth,
    processes: Growth,
    figures: Vec<(String, String)>,
    wrong: Vec<String>,
}

impl Watch {
    /// Looks at the machine before anything is started.
    pub fn begin(title: String, directories: Vec<PathBuf>) -> Self {
        Self {
            title,
            before: Standing::look(&directories),
            directories,
            owned: Owned::default(),
            started: Instant::now(),
            resident: Growth::default(),
            family: Growth::default(),
            descriptors: Growth::default(),
            processes: Growth::default(),
            figures: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Keeps what went wrong for the verdict.
    pub fn complain(&mut self, of: impl IntoIterator<Item = String>) {
        self.wrong.extend(of);
    }

    /// Looks at programs while they work; all of them together are one size.
    pub fn look(&mut self, programs: &[u32]) {
        let sum = |size: &dyn Fn(u32) -> f64| programs.iter().map(|pid| size(*pid)).sum::<f64>();
        self.resident.look(sum(&processes::resident_memory));
        self.family.look(sum(&processes::proportional_memory));
        self.descriptors
            .look(sum(&|pid| number(processes::descriptors(pid))));
        self.processes
            .look(sum(&|pid| number(processes::family(pid).len())));
        programs.iter().for_each(|pid| self.owned.gather(*pid));
    }

    /// Remembers what belongs to a program without measuring it.
    pub fn gather(&mut self, program: u32) {
        self.owned.gather(program);
    }

    /// States a figure.
    pub fn state(&mut self, name: &str, figure: String) {
        self.figures.push((name.to_owned(), figure));
    }

    /// Looks at the machine after everything has ended, when what ends has had its time.
    pub async fn end(mut self) -> Verdict {
        self.state("took", format!("{:.1} s", self.started.elapsed().as_secs_f64()));
        let mut wrong = std::mem::take(&mut self.wrong);
        let sizes = [
            ("resident memory of the program", &self.resident, BYTES),
            (
                "memory of it and its guests, shared pages once",
                &self.family,
                BYTES,
            ),
            ("descriptors of the program", &self.descriptors, FEW),
            ("processes", &self.processes, FEW),
        ];
        for (name, growth, amount) in sizes {
            let Some(halves) = growth.halves() else { continue };
            let shown = shown(halves, amount);
            if halves.grew(PART, amount) {
                wrong.push(format!("{name} grew: {shown}"));
            }
            self.figures
                .push((format!("{name}, first and second half"), shown));
        }
        let left = self.left_in_the_end().await;
        self.figures
            .push(("left behind".to_owned(), left.len().to_string()));
        wrong.extend(by_kind(left));
        Verdict {
            title: self.title,
            figures: self.figures,
            wrong,
        }
    }

    async fn left_in_the_end(&self) -> Vec<String> {
        let waiting = Instant::now();
        loop {
            let mut left = self.owned.left();
            left.extend(Standing::look(&self.directories).beyond(&self.before));
            if left.is_empty() || waiting.elapsed() > PATIENCE {
                return left;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// One line for each kind of what was left: thousands of the same say no more than their number and the first.
fn by_kind(left: Vec<String>) -> Vec<String> {
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for one in left {
        let kind = one.split(' ').next().unwrap_or_default().to_owned();
        kinds.entry(kind).or_insert((0, one)).0 += 1;
    }
    let line = |(count, first)| format!("{count} left, as {first}");
    kinds.into_values().map(line).collect()
}

fn shown(halves: Halves, amount: f64) -> String {
    let Halves { first, second } = halves;
    if amount < BYTES {
        format!("{first:.1}, {second:.1}")
    } else {
        format!("{:.1} MB, {:.1} MB", first / 1e6, second / 1e6)
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
