//! Units of measure and currencies, by what they measure and with the ways in which they are written.

/// What is measured, and its units, each with its spellings in small letters: the first is its plain name.
type Dimension = (&'static str, &'static [&'static [&'static str]]);

const DIMENSIONS: &[Dimension] = &[
    (
        "time",
        &[
            &["microseconds", "microsecond", "us", "\u{b5}s", "\u{3bc}s"],
            &["milliseconds", "millisecond", "ms", "msec", "msecs", "millis"],
            &["seconds", "second", "s", "sec", "secs"],
            &["minutes", "minute", "m", "min", "mins"],
            &["hours", "hour", "h", "hr", "hrs"],
            &["days", "day", "d"],
            &["nights", "night"],
            &["weeks", "week", "w", "wk", "wks"],
            &["fortnights", "fortnight"],
            &["months", "month", "mo", "mos"],
            &["quarters", "quarter"],
            &["years", "year", "y", "yr", "yrs"],
        ],
    ),
    (
        "mass",
        &[
            &["micrograms", "microgram", "mcg", "ug", "\u{b5}g", "\u{3bc}g"],
            &["milligrams", "milligram", "mg", "mgs"],
            &["grams", "gram", "gramme", "grammes", "g", "gr"],
            &["kilograms", "kilogram", "kilo", "kilos", "kg", "kgs"],
            &["tonnes", "tonne", "t"],
            &["tons", "ton"],
            &["pounds", "pound", "lb", "lbs"],
            &["ounces", "ounce", "oz"],
            &["stones", "stone", "st"],
        ],
    ),
    (
        "length",
        &[
            &["millimetres", "millimetre", "millimeters", "millimeter", "mm"],
            &["centimetres", "centimetre", "centimeters", "centimeter", "cm"],
            &["metres", "metre", "meters", "meter", "m"],
            &[
                "kilometres",
                "kilometre",
                "kilometers",
                "kilometer",
                "km",
                "kms",
                "klick",
                "klicks",
            ],
            &["inches", "inch"],
            &["feet", "foot", "ft"],
            &["yards", "yard", "yd", "yds"],
            &["miles", "mile", "mi"],
        ],
    ),
    (
        "volume",
        &[
            &["millilitres", "millilitre", "milliliters", "milliliter", "ml"],
            &["centilitres", "centilitre", "centiliters", "centiliter", "cl"],
            &["litres", "litre", "liters", "liter", "l"],
            &["gallons", "gallon", "gal"],
            &["quarts", "quart", "qt"],
            &["pints", "pint", "pt"],
            &["cups", "cup"],
            &["barrels", "barrel", "bbl"],
        ],
    ),
    (
        "temperature",
        &[
            &["degrees Celsius", "celsius", "centigrade", "c", "\u{b0}c"],
            &["degrees Fahrenheit", "fahrenheit", "f", "\u{b0}f"],
            &["kelvin", "kelvins"],
        ],
    ),
    (
        "size",
        &[
            &["bits", "bit"],
            &["bytes", "byte", "b"],
            &["kilobytes", "kilobyte", "kb", "kib"],
            &["megabytes", "megabyte", "mb", "mib"],
            &["gigabytes", "gigabyte", "gb", "gib"],
            &["terabytes", "terabyte", "tb", "tib"],
        ],
    ),
    (
        "money",
        &[
            &["US dollars", "usd", "$", "dollar", "dollars", "buck", "bucks"],
            &["cents", "cent", "penny", "pennies", "pence"],
            &["euros", "euro", "eur", "\u{20ac}"],
            &[
                "pounds sterling",
                "pound",
                "pounds",
                "quid",
                "gbp",
                "sterling",
                "\u{a3}",
            ],
            &["yen", "jpy", "\u{a5}"],
            &["yuan", "cny", "rmb", "renminbi"],
            &["rupees", "rupee", "inr", "\u{20b9}"],
            &["won", "krw", "\u{20a9}"],
            &["francs", "franc", "chf"],
            &["Canadian dollars", "cad"],
            &["Australian dollars", "aud"],
            &["kronor", "krona", "krone", "kroner", "sek", "nok", "dkk"],
            &["zloty", "zlotys", "pln"],
            &["pesos", "peso", "mxn"],
            &["reais", "real", "brl"],
            &["lira", "liras", "try"],
            &["bitcoins", "bitcoin", "btc"],
        ],
    ),
    (
        "share",
        &[
            &["percent", "percentage", "pct", "%"],
            &["basis points", "bps", "bp"],
        ],
    ),
    (
        "angle",
        &[
            &["degrees", "degree", "deg", "\u{b0}"],
            &["radians", "radian", "rad"],
        ],
    ),
    ("power", &[&["watts", "watt"], &["kilowatts", "kilowatt", "kw"]]),
];

/// One unit: where it stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    dimension: usize,
    number: usize,
}

impl Unit {
    /// Its plain name.
    pub(super) fn name(self) -> &'static str {
        DIMENSIONS[self.dimension].1[self.number][0]
    }

    /// Whether the other measures the same.
    pub(super) fn is_like(self, other: Unit) -> bool {
        self.dimension == other.dimension
    }
}

/// The units that a word in small letters may be: "m" is two.
pub(super) fn named(word: &str) -> Vec<Unit> {
    let mut found = Vec::new();
    for (dimension, (_, units)) in DIMENSIONS.iter().enumerate() {
        let is_it = |(_, spellings): &(usize, &&[&str])| spellings.contains(&word);
        let units = units.iter().enumerate().filter(is_it);
        found.extend(units.map(|(number, _)| Unit { dimension, number }));
    }
    found
}

/// The units that the name of a parameter has.
pub(super) fn of_name(name: &str) -> Vec<Unit> {
    let words = catalog::words(name).map(str::to_lowercase);
    words.flat_map(|word| named(&word)).collect()
}

/// The units that a description has. A single letter is one only after "in" or in brackets, and so is what is a word besides.
pub(super) fn of_text(text: &str) -> Vec<Unit> {
    let raw: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in raw.iter().enumerate() {
        let says = word
            .trim_matches(|c: char| !(c.is_alphanumeric() || is_symbol(c)))
            .to_lowercase();
        let is_marked = word.starts_with(['(', '[']) || at > 0 && raw[at - 1].eq_ignore_ascii_case("in");
        let is_doubtful = says.len() == 1 && says.is_ascii() && !says.starts_with(is_symbol)
            || matches!(
                says.as_str(),
                "real" | "second" | "try" | "won" | "us" | "st" | "quarter"
            );
        if is_marked || !is_doubtful {
            found.extend(named(&says));
        }
    }
    found
}

/// A sign that stands for a unit.
pub(super) fn is_symbol(c: char) -> bool {
    "$%\u{20ac}\u{a3}\u{a5}\u{20b9}\u{20a9}\u{b0}".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_by_their_spellings() {
        let names = |units: Vec<Unit>| units.into_iter().map(Unit::name).collect::<Vec<_>>();
        let check = |text: &str, expected: &[&str]| assert_eq!(names(of_text(text)), expected, "{text}");
        check("Duration in minutes", &["minutes"]);
        check("The user's second name", &[]);
        check("Height (m)", &["minutes", "metres"]);
        check("Amount in \u{20ac} to pay", &["euros"]);
        assert_eq!(names(of_name("timeout_s")), ["seconds"]);
        assert_eq!(names(of_name("weightKg")), ["kilograms"]);
        assert_eq!(names(named("pound")), ["pounds", "pounds sterling"]);
    }

    /// A spelling twice in one dimension would make two units the same.
    #[test]
    fn no_spelling_is_two_units_of_one_dimension() {
        for (_, units) in DIMENSIONS {
            let spellings: Vec<&str> = units.iter().flat_map(|unit| unit.iter().copied()).collect();
            for spelling in &spellings {
                assert_eq!(
                    spellings.iter().filter(|other| *other == spelling).count(),
                    1,
                    "{spelling}"
                );
            }
        }
    }
}
