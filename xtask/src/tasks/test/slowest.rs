//! Prints the slowest tests.

use crate::tasks::say;

const SHOWN: usize = 10;

/// Prints the slowest tests of a run of nextest.
pub fn print(lines: &[String]) {
    let mut tests: Vec<(f64, &str)> = lines.iter().filter_map(|line| timed(line)).collect();
    tests.sort_by(|one, other| other.0.total_cmp(&one.0));
    tests.dedup();
    say("");
    say("the slowest tests:");
    for (seconds, test) in tests.iter().take(SHOWN) {
        say(&format!("{seconds:8.1} s  {test}"));
    }
}

/// `PASS [   0.005s] ( 12/199) codeyard::e2e http::refusals::name`: seconds and test.
fn timed(line: &str) -> Option<(f64, &str)> {
    let (status, rest) = line.trim().split_once('[')?;
    if !["PASS", "FAIL", "TIMEOUT", "FLAKY"]
        .iter()
        .any(|ended| status.starts_with(ended))
    {
        return None;
    }
    let (time, test) = rest.split_once(']')?;
    let seconds = time.trim().strip_suffix('s')?.parse().ok()?;
    let test = test.trim();
    let test = match test
        .strip_prefix('(')
        .and_then(|counted| counted.split_once(") "))
    {
        Some((_, test)) => test,
        None => test,
    };
    Some((seconds, test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_finished_tests_are_parsed() {
        let read = |line| timed(line);
        let test = "codeyard::e2e http::floods::slow";
        assert_eq!(
            read("        PASS [   0.005s] (  12/1996) codeyard::e2e http::floods::slow"),
            Some((0.005, test))
        );
        assert_eq!(
            read("        FAIL [  61.000s] codeyard::e2e http::floods::slow"),
            Some((61.0, test))
        );
        assert_eq!(
            read("        SLOW [> 60.000s] codeyard::e2e http::floods::slow"),
            None
        );
        assert_eq!(read("     Summary [  54.367s] 18 tests run: 18 passed"), None);
    }
}
