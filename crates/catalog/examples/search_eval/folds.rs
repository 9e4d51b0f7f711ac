//! Cross-validation: each fold of the queries is measured with the weights that do best on the others.

use catalog::{Ranking, Search};

use crate::data::Query;
use crate::measure::{DEPTHS, score};

/// Weights that are tried: each of these in place of the one in use, over and over until none does better.
const MEANT: [f32; 4] = [0.4, 0.5, 0.6, 0.8];
const LEANING: [f32; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const LIKENESS: [f32; 5] = [1.4, 2.1, 2.77, 3.5, 4.2];
const NAMES: [f32; 4] = [0.0, 0.07, 0.14, 0.28];
const SPREAD: [f32; 4] = [0.0, 0.1, 0.2, 0.3];
const FLOOR: [f32; 6] = [0.0, 0.8, 0.85, 0.9, 0.95, 1.0];

/// Queries with an answer, and queries without.
struct Part<'a> {
    answerable: Vec<&'a Query>,
    unanswerable: Vec<&'a Query>,
}

/// Prints what each fold reaches, and the mean.
pub fn report(search: &Search, answerable: &[Query], unanswerable: &[Query], folds: usize) {
    println!(
        "\n{:8}{:>10}{:>10}{:>10}{:>13}{:>13}   weights chosen on the other folds",
        "fold", "recall@1", "@5", "@10", "false alarms", "no answer"
    );
    let mut sums = [0.0; DEPTHS.len() + 2];
    for fold in 0..folds {
        let ranking = best(
            search,
            &Part::new(answerable, unanswerable, |at| at % folds != fold),
        );
        let part = Part::new(answerable, unanswerable, |at| at % folds == fold);
        let reached = part.reached(search, &ranking);
        for (sum, reached) in sums.iter_mut().zip(reached) {
            *sum += reached / folds as f64;
        }
        let Ranking {
            meant,
            leaning,
            likeness,
            names,
            spread,
            floor,
        } = ranking;
        let weights = format!("{meant} {leaning} {likeness} {names} {spread} {floor}");
        println!("{fold:<8}{}   {weights}", numbers(reached));
    }
    println!("{:8}{}", "mean", numbers(sums));
}

fn numbers([first, five, ten, alarms, none]: [f64; 5]) -> String {
    format!("{first:>10.3}{five:>10.3}{ten:>10.3}{alarms:>13.3}{none:>13.3}")
}

impl<'a> Part<'a> {
    /// The queries at the chosen places.
    fn new(answerable: &'a [Query], unanswerable: &'a [Query], chosen: impl Fn(usize) -> bool) -> Self {
        let of = |queries: &'a [Query]| {
            let numbered = queries.iter().enumerate();
            numbered
                .filter(|(at, _)| chosen(*at))
                .map(|(_, query)| query)
                .collect()
        };
        Part {
            answerable: of(answerable),
            unanswerable: of(unanswerable),
        }
    }

    /// Recall by depth, the share of false alarms, and the share of queries without an answer of which that was said.
    fn reached(&self, search: &Search, ranking: &Ranking) -> [f64; 5] {
        let found = score(search, self.answerable.iter().copied(), ranking);
        let none = score(search, self.unanswerable.iter().copied(), ranking);
        let [first, five, ten] = found.recall;
        [first, five, ten, found.unanswered, none.unanswered]
    }
}

/// The weights that do best on these queries, found by changing one at a time.
fn best(search: &Search, part: &Part<'_>) -> Ranking {
    let worth = |ranking: &Ranking| {
        let [first, five, _, alarms, none] = part.reached(search, ranking);
        // A right tool among the first counts for what it is worth; silence costs where there was an answer.
        first + five + none / 2.0 - 2.0 * alarms
    };
    let mut ranking = Ranking {
        spread: 0.0,
        floor: 0.0,
        ..Ranking::default()
    };
    let mut reached = worth(&ranking);
    loop {
        let before = reached;
        for next in neighbours(&ranking) {
            let worth = worth(&next);
            if worth > reached + 1e-9 {
                (ranking, reached) = (next, worth);
            }
        }
        if reached <= before {
            return ranking;
        }
    }
}

/// Rankings that differ in one weight.
fn neighbours(of: &Ranking) -> Vec<Ranking> {
    let of = *of;
    let mut all = Vec::new();
    all.extend(MEANT.map(|meant| Ranking { meant, ..of }));
    all.extend(LEANING.map(|leaning| Ranking { leaning, ..of }));
    all.extend(LIKENESS.map(|likeness| Ranking { likeness, ..of }));
    all.extend(NAMES.map(|names| Ranking { names, ..of }));
    all.extend(SPREAD.map(|spread| Ranking { spread, ..of }));
    all.extend(FLOOR.map(|floor| Ranking { floor, ..of }));
    all
}
