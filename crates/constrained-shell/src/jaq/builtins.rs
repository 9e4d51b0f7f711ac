//! The built-in filters of jaq, except those that access the machine.

use std::cmp::Ordering;

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::load::{self, parse::Def};
use jaq_core::native::{Filter, Fun, run, v};
use jaq_core::{Cv, Error, Exn, RunPtr, ValX, ValXs};
use jaq_json::{Val, bytes_valrs, read};

use super::documents;
use super::watch::{Watch, Watched};

/// Omitted filters of jaq: those that read the environment or the machine's time zone, end the process or write to
/// its log; and those replaced below.
const WITHHELD: [&str; 8] = [
    "env",
    "localtime",
    "strflocaltime",
    "halt",
    "debug_empty",
    "stderr_empty",
    "range",
    "fromjson",
];

/// The filters written in jq, except those that need an omitted filter.
pub(super) fn definitions() -> impl Iterator<Item = Def<&'static str>> {
    let theirs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let kept = theirs.filter(|definition| !matches!(definition.name, "halt" | "halt_error"));
    let ours = load::parse(include_str!("builtins.jq"), |parser| parser.defs());
    kept.chain(ours.unwrap_or_default())
}

/// The filters that are written in Rust.
pub(super) fn natives() -> impl Iterator<Item = Fun<Watched>> {
    let theirs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let kept = theirs.filter(|(name, ..)| !WITHHELD.contains(name));
    kept.chain(ours().into_iter().map(run::<Watched>))
}

fn ours() -> [Filter<RunPtr<Watched>>; 4] {
    [
        ("range", v(3), range),
        ("fromjson", v(0), from_json),
        // `debug` and `stderr` pass their input on; their messages are dropped.
        ("debug_empty", v(0), nothing),
        ("stderr_empty", v(0), nothing),
    ]
}

fn nothing<'a>(_: Cv<'a, Watched>) -> ValXs<'a, Val> {
    Box::new(std::iter::empty())
}

/// Like jaq's, but each number is a step.
fn range<'a>(mut cv: Cv<'a, Watched>) -> ValXs<'a, Val> {
    let by = cv.0.pop_var();
    let to = cv.0.pop_var();
    let from = cv.0.pop_var();
    let watch = cv.0.data().watch;
    Box::new(Numbers {
        next: Some(Ok(from)),
        to,
        by,
        watch,
    })
}

struct Numbers<'a> {
    /// `None` after an error.
    next: Option<ValX<'a, Val>>,
    to: Val,
    by: Val,
    watch: &'a Watch,
}

// === impl Numbers ===

impl<'a> Iterator for Numbers<'a> {
    type Item = ValX<'a, Val>;

    fn next(&mut self) -> Option<Self::Item> {
        self.watch.step();
        let number = match self.next.take()? {
            Ok(number) => number,
            Err(error) => return Some(Err(error)),
        };
        let is_before_end = match self.by.partial_cmp(&Val::from(0_isize)) {
            Some(Ordering::Greater) => number < self.to,
            Some(Ordering::Less) => number > self.to,
            _ => number != self.to,
        };
        if !is_before_end {
            return None;
        }
        self.next = Some((number.clone() + self.by.clone()).map_err(Exn::from));
        Some(Ok(number))
    }
}

/// Like jaq's, but with the depth and digit limits of a document.
fn from_json<'a>(cv: Cv<'a, Watched>) -> ValXs<'a, Val> {
    let text = match cv.1.try_as_utf8_bytes_owned() {
        Ok(text) => text,
        Err(error) => return box_once(Err(Exn::from(error))),
    };
    let fail = |cause: String| Exn::from(Error::str(format!("cannot parse as JSON: {cause}")));
    if let Err(cause) = documents::check(&text) {
        return box_once(Err(fail(cause)));
    }
    let values: BoxIter<'static, _> = bytes_valrs(text, |text| {
        Box::new(read::parse_many(text).map(|value| value.map_err(Error::str)))
    });
    Box::new(values.map(|value| value.map_err(Exn::from)))
}
