//! The suite: installed below `target/` from the npm registry, run once for each revision of the protocol.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::tasks::{say, setup};
use crate::{layout, run};

/// The suite, and a newer Node for it than most machines have.
const PACKAGES: [&str; 2] = ["node@24.21.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12"];

/// The tested revisions, each with its own form of the protocol.
pub const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

pub struct Suite {
    directory: PathBuf,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Scored scenarios only.
    pub passed: usize,
    /// Scored scenarios only.
    pub failed: Vec<String>,
    /// Scenarios beyond the revision's requirements: those that passed, and all.
    pub beyond: (usize, usize),
}

impl Suite {
    pub fn install() -> Result<Suite> {
        setup::packages(setup::FOR_CONFORMANCE)?;
        let directory = layout::target().join("conformance");
        let stamp = directory.join(".installed");
        let wanted = PACKAGES.join("\n");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(Suite { directory });
        }
        say("installing the conformance suite (once, about 180 MB)");
        fs::create_dir_all(&directory).context("the directory of the suite")?;
        fs::write(directory.join("package.json"), "{\"private\": true}\n").context("package.json")?;
        run::visible(
            Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
                .args(PACKAGES)
                .current_dir(&directory),
        )?;
        fs::write(&stamp, wanted).context("the stamp of the suite")?;
        Ok(Suite { directory })
    }

    /// Runs the suite; the checks of each scenario go to the subdirectory `results`.
    pub fn run(&self, arguments: &[&str], results: &str) -> Result<Score> {
        let results = self.directory.join("results").join(results);
        // Old results would be read as part of this run.
        if results.exists() {
            fs::remove_dir_all(&results).context("old results")?;
        }
        let mut command = self.command();
        command.args(arguments).arg("-o").arg(&results);
        let ran = run::watched(&mut command)?;
        say(&format!(
            "the checks of each scenario are in {}",
            results.display()
        ));
        Ok(Score::of(&ran.lines))
    }

    fn command(&self) -> Command {
        let modules = self.directory.join("node_modules");
        let mut command = Command::new(modules.join(".bin/node"));
        command
            .arg(modules.join(Path::new("@modelcontextprotocol/conformance/dist/index.js")))
            .current_dir(&self.directory);
        command
    }
}

impl Score {
    fn of(lines: &[String]) -> Score {
        let summary = lines.iter().skip_while(|line| !line.contains("SUMMARY ==="));
        let mut ran = Vec::new();
        let mut beyond = BTreeSet::new();
        for line in summary {
            let line = line.trim();
            let Some((passed, rest)) = line
                .strip_prefix("\u{2713} ")
                .map(|rest| (true, rest))
                .or_else(|| line.strip_prefix("\u{2717} ").map(|rest| (false, rest)))
            else {
                continue;
            };
            match (rest.split_once(": "), rest.split_once(" (")) {
                (Some((scenario, _)), _) => ran.push((scenario.to_owned(), passed)),
                (None, Some((scenario, _))) => drop(beyond.insert(scenario.to_owned())),
                (None, None) => {}
            }
        }
        let mut score = Score::default();
        for (scenario, passed) in ran {
            match (beyond.contains(&scenario), passed) {
                (true, passed) => {
                    score.beyond.0 += usize::from(passed);
                    score.beyond.1 += 1;
                }
                (false, true) => score.passed += 1,
                (false, false) => score.failed.push(scenario),
            }
        }
        score
    }

    pub fn summary(&self) -> String {
        let scored = self.passed + self.failed.len();
        format!(
            "{} of {scored} scored scenarios pass, {} of {} beyond them",
            self.passed, self.beyond.0, self.beyond.1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_beyond_the_requirements_do_not_count() {
        let lines = [
            "\u{2717} lost: before the summary",
            "=== SUITE SUMMARY ===",
            "\u{2713} initialize: 1 passed, 0 failed",
            "\u{2717} auth/iss: 0 passed, 2 failed",
            "\u{2713} auth/dpop: 3 passed, 0 failed",
            "\u{2717} auth/wif: 0 passed, 1 failed",
            "Total: 4 passed, 3 failed, 0 warnings",
            "Not scored for 2025-11-25: 2 scenario(s) run, 1 failing. These do not affect conformance.",
            "  \u{2713} auth/dpop (extension)",
            "  \u{2717} auth/wif (extension)",
        ];
        let score = Score::of(&lines.map(str::to_owned));
        let expected = Score {
            passed: 1,
            failed: vec!["auth/iss".to_owned()],
            beyond: (1, 2),
        };
        assert_eq!(score, expected);
        assert_eq!(
            score.summary(),
            "1 of 2 scored scenarios pass, 1 of 2 beyond them"
        );
    }
}
