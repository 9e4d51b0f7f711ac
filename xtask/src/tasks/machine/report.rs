//! The machine's output, and the end of each step.

use std::time::{Duration, Instant};

use super::steps::Step;
use crate::tasks::say;
use crate::tasks::test::counts::Counts;

struct Section {
    title: String,
    lines: Vec<String>,
    began: Instant,
    took: Duration,
}

#[derive(Default)]
pub struct Seen {
    sections: Vec<Section>,
    /// The lines `STATUS TITLE` that the machine reported.
    statuses: String,
    /// The reason for an early end of the machine.
    pub stopped: Option<String>,
}

impl Seen {
    /// Shows a line and stores it with its step.
    pub fn line(&mut self, line: String) {
        say(&line);
        if let Some(title) = line.strip_prefix("== ") {
            self.sections.push(Section {
                title: title.to_owned(),
                lines: Vec::new(),
                began: Instant::now(),
                took: Duration::ZERO,
            });
        } else if let Some(section) = self.sections.last_mut() {
            section.took = section.began.elapsed();
            section.lines.push(line);
        }
    }

    pub fn report(&mut self, statuses: String) {
        self.statuses = statuses;
    }

    /// `None` if the step did not end.
    fn status(&self, title: &str) -> Option<i32> {
        let ended = |line: &str| {
            let (status, name) = line.split_once(' ')?;
            (name == title).then(|| status.parse().ok())?
        };
        self.statuses.lines().find_map(ended)
    }

    /// A step's result in words, and whether it succeeded.
    fn verdict(&self, step: &Step) -> (String, bool) {
        let Some(status) = self.status(&step.title) else {
            return ("did not end".to_owned(), false);
        };
        let section = self.sections.iter().find(|section| section.title == step.title);
        let lines = section
            .map(|section| section.lines.as_slice())
            .unwrap_or_default();
        let took = section.map_or(0, |section| section.took.as_secs());
        if !step.is_test {
            return (format!("exit status {status}, {took} s"), status == 0);
        }
        let counts = Counts::of_libtest(lines).with_end(status == 0);
        let skipped = lines.iter().filter(|line| line.contains("skipped:")).count();
        let words = format!("{counts}, {skipped} skipped in part or whole, {took} s");
        let is_whole = skipped == 0 || !step.is_whole;
        (words, counts.passed > 0 && counts.failed == 0 && is_whole)
    }
}

/// Prints a line for each step; returns the number of failed steps.
pub fn print(steps: &[Step], seen: &Seen) -> usize {
    say("");
    let mut failed = 0;
    for step in steps {
        let (words, is_good) = seen.verdict(step);
        failed += usize::from(!is_good);
        say(&format!(
            "{} {}: {words}",
            if is_good { "ok  " } else { "FAIL" },
            step.title
        ));
    }
    failed
}
