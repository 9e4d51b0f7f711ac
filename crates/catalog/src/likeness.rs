//! Similarity of names, to suggest the right name for a wrong one.

use crate::names::normalise;

/// Lowest similarity of a suggestion; 1 means equal.
const MIN_LIKENESS: f64 = 0.5;

/// Shortest name that counts as the beginning of another name, and the similarity of such a pair.
const MIN_BEGINNING: usize = 3;
const BEGINNING_LIKENESS: f64 = 0.7;

/// Limit on compared characters per name; the cost is the product of both lengths.
const MAX_COMPARED: usize = 64;

/// Limit on compared names. Real servers have hundreds; programs may pass any number of arguments.
const MAX_CANDIDATES: usize = 5_000;

/// The candidate most similar to `name`, if any is similar enough; the first among equals.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = compared(name);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates.take(MAX_CANDIDATES) {
        let worth = best.map_or(MIN_LIKENESS, |(known, _)| known);
        let likeness = likeness(&wanted, &compared(candidate), worth);
        if likeness >= MIN_LIKENESS && best.is_none_or(|(known, _)| likeness > known) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Similarity of the spellings, of a beginning (`repo`, `repository`), or of the sets of words (`issue_create`,
/// `create_issue`). A similarity below `worth` is not computed, because comparing spellings is expensive.
fn likeness(a: &str, b: &str, worth: f64) -> f64 {
    let mut spelling = match most_alike(a, b) >= worth {
        true => strsim::normalized_damerau_levenshtein(a, b),
        false => 0.0,
    };
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() >= MIN_BEGINNING && long.starts_with(short) {
        spelling = spelling.max(BEGINNING_LIKENESS);
    }
    let (a, b) = (words(a), words(b));
    let common = a.iter().filter(|word| b.contains(word)).count();
    let all = a.len().max(b.len()).max(1);
    // Both counts are at most a few dozen, so the conversion is exact.
    let share = f64::from(u32::try_from(common).unwrap_or(0)) / f64::from(u32::try_from(all).unwrap_or(1));
    spelling.max(share * 0.95)
}

fn words(name: &str) -> Vec<&str> {
    name.split('_').filter(|word| !word.is_empty()).collect()
}

/// Upper bound of two spellings' similarity, from their letters in any order: an edit adds or removes at most one
/// letter.
fn most_alike(a: &str, b: &str) -> f64 {
    let mut surplus = [0i32; 1 << u8::BITS];
    a.bytes().for_each(|letter| surplus[usize::from(letter)] += 1);
    b.bytes().for_each(|letter| surplus[usize::from(letter)] -= 1);
    let given: i32 = surplus.iter().filter(|count| **count > 0).sum();
    let taken: i32 = surplus.iter().filter(|count| **count < 0).sum();
    let longest = u32::try_from(a.len().max(b.len())).unwrap_or(u32::MAX);
    1.0 - f64::from(given.max(-taken)) / f64::from(longest.max(1))
}

fn compared(name: &str) -> String {
    let name: String = name.chars().take(MAX_COMPARED).collect();
    normalise(&name)
}
