//! Fits the weights of the signs by ranking losses: on all authors, and for each author on all the others.

use std::collections::HashMap;

use catalog::{FEATURES, Features, Ranking, Search};

use crate::data::{Author, Query};
use crate::measure::score;
use crate::{header, numbers};

/// Steps of the descent, size of the first step, and the share by which the last one is shorter.
const STEPS: i32 = 150;
const RATE: f64 = 0.08;
const SHORTER: f64 = 0.7;

/// Decay of the running means of slopes and of their squares.
const MOMENTUM: [f64; 2] = [0.9, 0.99];

/// Strength of the pull of weights toward 0; one query counts 1.
const HELD: f64 = 5.0;

/// Indexed by sign.
type Numbers = [f64; FEATURES.len()];

/// One query: the signs of every tool related to it, and whether the tool is right.
struct Example {
    tools: Vec<(Features, bool)>,
}

/// Floors that are tried; below a floor, a query counts as unanswered.
const FLOORS: [f32; 9] = [3.5, 4.0, 4.5, 5.0, 5.25, 5.5, 5.75, 6.0, 6.5];

/// For each floor, prints how many queries count as unanswered: those with an answer, and each half of those
/// without.
pub fn floors(search: &Search, answerable: &[&Query], unanswerable: &[Query]) {
    println!(
        "\n{:>8}{:>16}{:>16}{:>16}",
        "floor", "false alarms", "to choose by", "to report"
    );
    for floor in FLOORS {
        let ranking = Ranking {
            floor,
            ..Ranking::default()
        };
        let silent = |queries: &mut dyn Iterator<Item = &Query>| score(search, queries, &ranking).unanswered;
        let alarms = silent(&mut answerable.iter().copied());
        let half = |first: usize| silent(&mut unanswerable.iter().skip(first).step_by(2));
        println!("{floor:>8}{alarms:>16.3}{:>16.3}{:>16.3}", half(0), half(1));
    }
}

/// Prints each author's results with the weights fitted on the other authors, then the weights fitted on all.
pub fn report(search: &Search, authors: &[Author]) {
    let examples: Vec<Vec<Example>> = authors
        .iter()
        .map(|author| examples(search, &author.queries))
        .collect();
    println!("\neach author with the weights of the others, answering always");
    header();
    for (left_out, author) in authors.iter().enumerate() {
        let others = examples.iter().enumerate().filter(|(at, _)| *at != left_out);
        let others: Vec<&Example> = others.flat_map(|(_, examples)| examples).collect();
        let ranking = Ranking {
            floor: 0.0,
            ..fitted(&others)
        };
        println!(
            "{}",
            numbers(&author.name, &score(search, author.queries.iter(), &ranking))
        );
        let work = author.queries.iter().filter(|query| query.is_work());
        println!(
            "{}",
            numbers(&format!("{}, work", author.name), &score(search, work, &ranking))
        );
    }
    let all: Vec<&Example> = examples.iter().flatten().collect();
    let ranking = fitted(&all);
    println!(
        "\nweights of all {} queries that a right tool was retrieved for:",
        all.len()
    );
    for (sign, weight) in FEATURES.iter().zip(ranking.weights) {
        println!("{weight:>10.3}  {sign}");
    }
    println!("{:>10.3}  nothing in common", ranking.nothing);
}

fn examples(search: &Search, queries: &[Query]) -> Vec<Example> {
    let places = search.catalog().entries().enumerate();
    let places: HashMap<String, usize> = places
        .map(|(place, entry)| (format!("{}/{}", entry.tool.server, entry.tool.tool), place))
        .collect();
    let example = |query: &Query| {
        let right: Vec<usize> = query
            .relevant
            .iter()
            .filter_map(|name| places.get(name).copied())
            .collect();
        let signs = search.features(&query.query).into_iter().enumerate();
        Example {
            tools: signs
                .filter_map(|(place, signs)| Some((signs?, right.contains(&place))))
                .collect(),
        }
    };
    let all = queries.iter().map(example);
    all.filter(|example| example.tools.iter().any(|(_, right)| *right))
        .collect()
}

/// Maximises the likelihood that some right tool ranks first, by a softmax over the tools.
fn fitted(examples: &[&Example]) -> Ranking {
    let scale = deviations(examples);
    let [mut weights, mut slopes, mut squares] = [[0.0; FEATURES.len()]; 3];
    for step in 1..=STEPS {
        let slope = slope(examples, &over(&weights, &scale));
        let [first, second] = MOMENTUM;
        let rate = RATE * (1.0 - SHORTER * f64::from(step) / f64::from(STEPS));
        for sign in 0..FEATURES.len() {
            let count = examples.len() as f64;
            let slope = slope[sign] / scale[sign] / count + HELD * weights[sign] / count;
            slopes[sign] = first * slopes[sign] + (1.0 - first) * slope;
            squares[sign] = second * squares[sign] + (1.0 - second) * slope * slope;
            let slope = slopes[sign] / (1.0 - first.powi(step));
            let square: f64 = squares[sign] / (1.0 - second.powi(step));
            weights[sign] -= rate * slope / (square.sqrt() + 1e-8);
        }
    }
    let weights = over(&weights, &scale);
    Ranking {
        weights: weights.map(narrow),
        nothing: narrow(mean(examples, &weights)),
        ..Ranking::default()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are printed with three digits"
)]
fn narrow(weight: f64) -> f32 {
    weight as f32
}

/// Derivative of the loss by each weight.
fn slope(examples: &[&Example], weights: &Numbers) -> Numbers {
    let mut slope = [0.0; FEATURES.len()];
    for example in examples {
        let scores: Vec<f64> = example
            .tools
            .iter()
            .map(|(signs, _)| weighed(signs, weights))
            .collect();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let all: f64 = shares.iter().sum();
        let of_right = shares.iter().zip(&example.tools).filter(|(_, (_, right))| *right);
        let right: f64 = of_right
            .map(|(share, _)| share)
            .sum::<f64>()
            .max(f64::MIN_POSITIVE);
        for ((signs, is_right), share) in example.tools.iter().zip(shares) {
            let wanted = if *is_right { share / right } else { 0.0 };
            for (slope, sign) in slope.iter_mut().zip(signs) {
                *slope += (share / all - wanted) * f64::from(*sign);
            }
        }
    }
    slope
}

fn weighed(signs: &Features, weights: &Numbers) -> f64 {
    signs
        .iter()
        .zip(weights)
        .map(|(sign, weight)| f64::from(*sign) * weight)
        .sum()
}

fn over(weights: &Numbers, scale: &Numbers) -> Numbers {
    std::array::from_fn(|sign| weights[sign] / scale[sign])
}

fn mean(examples: &[&Example], weights: &Numbers) -> f64 {
    let tools = || examples.iter().flat_map(|example| &example.tools);
    tools().map(|(signs, _)| weighed(signs, weights)).sum::<f64>() / tools().count() as f64
}

/// Per sign.
fn deviations(examples: &[&Example]) -> Numbers {
    let tools = || examples.iter().flat_map(|example| &example.tools);
    let count = tools().count() as f64;
    std::array::from_fn(|sign| {
        let mean = tools().map(|(signs, _)| f64::from(signs[sign])).sum::<f64>() / count;
        let square = tools()
            .map(|(signs, _)| (f64::from(signs[sign]) - mean).powi(2))
            .sum::<f64>();
        (square / count).sqrt().max(1e-6)
    })
}
