//! How well a piece of the text fits a parameter.

use crate::literals::{Kind, Literal, kind_of};
use crate::parameters::{Parameter, Role, Takes};
use crate::vocabulary;

/// What fits a parameter that a call needs.
pub(crate) const ENOUGH: f32 = 0.3;
/// What fits the items of a list for certain.
pub(crate) const SURELY: f32 = 0.5;
/// What fits one that may be left out: the text must mean it.
const ENOUGH_OPTIONAL: f32 = 0.9;
/// The same for a number, which fits every parameter of numbers.
const ENOUGH_NUMBER: f32 = 1.3;

/// The text names the parameter.
const NAMED: f32 = 1.0;
/// A preposition leads to it.
const LED: f32 = 0.6;
/// The word after a number is the parameter's.
const COUNTED: f32 = 0.8;
/// The text writes `parameter=value`.
const KEYED: f32 = 4.0;

/// Words before a value and words of names.
type Lead = (&'static [&'static str], &'static [&'static str]);

/// What bounds a number from below; a threshold may be either bound.
const AT_LEAST: Lead = (
    &["above", "exceeding", "least", "min", "minimum", "over", "than"],
    &["above", "least", "low", "lower", "min", "minimum", "threshold"],
);

/// What bounds it from above.
const AT_MOST: Lead = (
    &["below", "max", "maximum", "most", "under"],
    &[
        "below",
        "budget",
        "high",
        "limit",
        "max",
        "maximum",
        "most",
        "threshold",
        "upper",
    ],
);

/// Words before "than" that bound from above, as "below" does.
const FEWER: &[&str] = &["cheaper", "fewer", "less", "lower", "shorter", "smaller"];

/// Words before a value, and words of the names of the parameters that they lead to.
const LEADS: &[Lead] = &[
    (
        &["to"],
        &[
            "to",
            "target",
            "destination",
            "dest",
            "recipient",
            "recipients",
            "into",
            "output",
            "new",
            "value",
        ],
    ),
    (
        &["into", "as"],
        &[
            "into",
            "to",
            "target",
            "destination",
            "path",
            "file",
            "filename",
            "format",
            "as",
            "output",
            "name",
        ],
    ),
    (
        &["from"],
        &[
            "from", "source", "src", "origin", "base", "input", "sender", "since", "start",
        ],
    ),
    (
        &["in", "inside", "within"],
        &[
            "in",
            "location",
            "city",
            "place",
            "path",
            "directory",
            "dir",
            "folder",
            "repo",
            "repository",
            "channel",
            "country",
            "region",
            "room",
            "haystack",
            "text",
        ],
    ),
    (
        &["at", "near"],
        &["at", "location", "time", "place", "address", "near"],
    ),
    (&["on"], &["on", "date", "day", "when"]),
    (
        &["about", "like", "matching"],
        &[
            "about", "subject", "topic", "title", "query", "q", "pattern", "search", "term", "text",
        ],
    ),
    (
        &["named", "called", "titled"],
        &["name", "title", "filename", "called", "label", "summary"],
    ),
    (
        &["saying", "containing", "says"],
        &["content", "contents", "text", "message", "body"],
    ),
    (
        &["for"],
        &[
            "for", "query", "q", "location", "user", "name", "customer", "search", "term", "keyword", "city",
            "duration", "period",
        ],
    ),
    (
        &["with", "using"],
        &["with", "using", "replacement", "content", "key"],
    ),
    (&["by"], &["by", "author", "user", "owner", "factor", "b"]),
    AT_LEAST,
    AT_MOST,
    (
        &["first", "last", "limit", "only", "top", "latest", "newest"],
        &["limit", "count", "n", "top", "max", "size", "number", "num", "k"],
    ),
    (&["since", "after"], &["since", "from", "start", "after", "begin"]),
    (
        &["until", "before"],
        &["until", "to", "end", "before", "deadline", "due"],
    ),
];

/// Prepositions after which plain words may be a name.
const NAMING: &[&str] = &[
    "at", "by", "called", "for", "from", "in", "named", "near", "of", "to",
];

/// Words between a value and what leads to it.
const FILLERS: &[&str] = &["a", "an", "is", "of", "the", "be", "equal", "equals", "value"];

/// How well the literal fits, if it does.
pub(crate) fn literal(parameter: &Parameter, literal: &Literal) -> Option<f32> {
    if let Some(key) = &literal.key {
        let is_it = parameter.name.to_lowercase() == *key;
        return is_it.then_some(KEYED);
    }
    let base = match &parameter.takes {
        Takes::Text if parameter.zone(literal).is_some() => 1.0,
        Takes::Integer | Takes::Number => (literal.kind == Kind::Number).then_some(1.0)?,
        Takes::Boolean => return None,
        Takes::List(_) => literal.value.is_array().then_some(1.5)?,
        Takes::Object => literal.value.is_object().then_some(1.5)?,
        Takes::Anything if literal.kind == Kind::Number && takes_numbers(parameter.role) => 0.8,
        Takes::Anything if literal.kind == Kind::Json => 0.9,
        Takes::Text | Takes::Anything if is_misplaced(parameter, literal) => return None,
        Takes::Text | Takes::Anything => of_literal(parameter.role, literal)?,
    };
    let score = base + around(parameter, literal) + counted(parameter, literal);
    let enough = match (parameter.is_required, &parameter.takes) {
        (true, _) => ENOUGH,
        (false, Takes::Integer | Takes::Number | Takes::Anything) => ENOUGH_NUMBER,
        (false, _) => ENOUGH_OPTIONAL,
    };
    (score >= enough).then_some(score)
}

/// Whether what a parameter is for may be a number.
fn takes_numbers(role: Role) -> bool {
    !matches!(
        role,
        Role::Path | Role::Url | Role::Email | Role::Date | Role::Time | Role::Name
    )
}

/// Plain words name something only after such a preposition; after a verb they are at most prose.
fn is_misplaced(parameter: &Parameter, literal: &Literal) -> bool {
    let leads = literal.before.first().map_or("", String::as_str);
    literal.kind == Kind::Phrase
        && !parameter.is_called(leads)
        && match parameter.role {
            Role::Prose => false,
            // "in oslo" names a place, "for my birthday party" none.
            Role::Name => !NAMING.contains(&leads) || literal.before.len() > 1,
            _ => !vocabulary::is_preposition(leads),
        }
}

/// How well a literal fits a role; what is in quotation marks fits as what it is, and less as any text.
fn of_literal(role: Role, literal: &Literal) -> Option<f32> {
    let quoted = literal.text().filter(|_| literal.kind == Kind::Quoted);
    match quoted.and_then(kind_of) {
        Some(kind @ (Kind::Path | Kind::Url | Kind::Email | Kind::Date)) => match of_role(role, kind) {
            Some(exact @ 1.0) => Some(exact - 0.05),
            _ => of_role(role, Kind::Quoted).map(|score| score - 0.1),
        },
        _ if is_count(role, literal) => None,
        // `*.txt` is a pattern without quotation marks too.
        _ if role == Role::Verbatim && literal.text().is_some_and(|text| text.contains('*')) => Some(0.9),
        // An id is one word.
        _ if role == Role::Id && literal.kind == Kind::Name => {
            let is_word = !literal.text()?.contains(' ');
            is_word.then_some(0.5)
        }
        _ => of_role(role, literal.kind),
    }
}

/// Whether the number says how many of something, "3 commits", so that it names nothing.
fn is_count(role: Role, literal: &Literal) -> bool {
    literal.kind == Kind::Number
        && role != Role::Prose
        && literal
            .after
            .as_ref()
            .is_some_and(|after| after.ends_with('s') && !vocabulary::is_question(after))
}

/// How well a kind of literal fits a role.
fn of_role(role: Role, kind: Kind) -> Option<f32> {
    let score = match (role, kind) {
        (Role::Prose, Kind::Json) => 0.8,
        (_, Kind::Json) => return None,
        (Role::Path, Kind::Path)
        | (Role::Url, Kind::Url)
        | (Role::Email, Kind::Email)
        | (Role::Date, Kind::Date)
        | (Role::Time, Kind::Time)
        | (Role::Expression, Kind::Expression)
        | (Role::Name, Kind::Name)
        | (Role::Id, Kind::Code)
        | (Role::Prose, Kind::Quoted)
        | (Role::Verbatim, Kind::Quoted) => 1.0,
        (Role::Unit, Kind::Unit) => 0.9,
        (Role::Unit, Kind::Name | Kind::Quoted) => 0.8,
        (Role::Unit, Kind::Phrase) => 0.7,
        (Role::Path, Kind::Quoted | Kind::Name) => 0.35,
        (Role::Path, Kind::Code) => 0.4,
        (Role::Url, Kind::Quoted) | (Role::Email, Kind::Quoted) => 0.4,
        (Role::Url, Kind::Path) => 0.3,
        (Role::Email, Kind::Name) => return None,
        (Role::Date, Kind::Quoted) | (Role::Time, Kind::Quoted | Kind::Date) => 0.6,
        (Role::Expression, Kind::Quoted) => 0.7,
        (Role::Id, Kind::Quoted | Kind::Path) => 0.6,
        (Role::Id, Kind::Number) => 0.6,
        (Role::Name, Kind::Quoted) => 0.8,
        (Role::Name, Kind::Phrase) => 0.5,
        (Role::Name, Kind::Code) => 0.4,
        (Role::Prose, Kind::Phrase) => 0.5,
        (Role::Prose, Kind::Name) => 0.6,
        (Role::Prose, Kind::Code | Kind::Path | Kind::Url | Kind::Expression) => 0.3,
        (Role::Unknown, Kind::Quoted) => 0.8,
        (Role::Unknown, Kind::Name | Kind::Code) => 0.6,
        (Role::Unknown, Kind::Phrase | Kind::Path | Kind::Url | Kind::Email | Kind::Date | Kind::Time) => 0.4,
        (Role::Unknown, Kind::Number | Kind::Expression) => 0.3,
        _ => return None,
    };
    Some(score)
}

/// What the words around the literal say of the parameter.
pub(crate) fn around(parameter: &Parameter, literal: &Literal) -> f32 {
    // The word after a number is its unit.
    let after = literal.after.as_deref().filter(|_| literal.kind != Kind::Number);
    beside(parameter, &literal.before, after)
}

/// Whether the word before a number names the bound that the parameter is: "at most" names `max_price`, "at least" does not.
pub(crate) fn is_bound(parameter: &Parameter, number: &Literal) -> bool {
    let about = catalog::words(&parameter.about).map(str::to_lowercase);
    let about: Vec<String> = about.filter(|word| word != "than").collect();
    let has = |words: &[&str], own: &[String]| own.iter().any(|word| words.contains(&word.as_str()));
    let says =
        |(words, names): Lead| has(names, &parameter.words) || has(names, &about) || has(words, &about);
    // `duration_min` has minutes.
    let is_unit = matches!(parameter.words.as_slice(), [.., _, last] if last == "min");
    // A description counts against it only: the text must lead to the name.
    around(parameter, number) >= LED && !is_unit && !(says(AT_LEAST) && says(AT_MOST))
}

/// What the words before a value, the nearest first, and the word after it say of the parameter.
pub(super) fn beside(parameter: &Parameter, before: &[String], after: Option<&str>) -> f32 {
    let follows = || {
        let is_it = after.is_some_and(|after| parameter.is_called(after));
        if is_it { LED } else { 0.0 }
    };
    let mut words = before.iter().filter(|word| !FILLERS.contains(&word.as_str()));
    let Some(nearest) = words.next() else {
        return follows();
    };
    // "under the title", "with subject": the name itself; "for city Paris" has both.
    if parameter.is_called(nearest) {
        return NAMED;
    }
    let is_fewer = nearest == "than" && words.next().is_some_and(|word| FEWER.contains(&word.as_str()));
    let leading = if is_fewer { "below" } else { nearest };
    let leads = |(words, names): &&Lead| {
        words.contains(&leading) && parameter.words.iter().any(|word| names.contains(&word.as_str()))
    };
    let is_content = !vocabulary::is_small(nearest) && !vocabulary::is_preposition(nearest);
    // "the first 5 lines", where the description speaks of the first lines.
    let is_described =
        || is_content && catalog::words(&parameter.about).any(|word| word.eq_ignore_ascii_case(nearest));
    match () {
        () if LEADS.iter().any(|lead| leads(&lead)) => LED,
        () if is_described() => LED / 3.0,
        () => follows(),
    }
}

/// What the word after a number says of the parameter: "5 days".
fn counted(parameter: &Parameter, literal: &Literal) -> f32 {
    let Some(unit) = literal.after.as_ref().filter(|_| literal.kind == Kind::Number) else {
        return 0.0;
    };
    let stem = catalog::stem(unit.clone());
    let says = |text: &str| catalog::words(text).any(|word| catalog::stem(word.to_lowercase()) == stem);
    match () {
        () if parameter.is_called(unit) => COUNTED,
        () if says(&parameter.about) => COUNTED / 2.0,
        () => 0.0,
    }
}
