//! Which time zone a place is in, for parameters that take the name of a zone.

/// A place and its zone a line, in small letters, with a tab between.
const PLACES: &str = include_str!("../data/places.tsv");

/// Words by which people ask for the time, beside "time" itself.
const CLOCK: [&str; 11] = [
    "clock", "date", "day", "early", "hour", "late", "night", "noon", "time", "today", "weekday",
];

/// The zone of a place that people name; none of one that is in several, or that is the name of a zone already.
pub(crate) fn zone(place: &str) -> Option<&'static str> {
    let place = place.trim().to_lowercase();
    let place = place.strip_prefix("the ").unwrap_or(&place);
    let bare = place.split(", ").next().unwrap_or_default();
    [place, bare].into_iter().find_map(listed)
}

fn listed(place: &str) -> Option<&'static str> {
    let mut lines = PLACES.lines().filter_map(|line| line.split_once('\t'));
    lines.find(|(known, _)| *known == place).map(|(_, zone)| zone)
}

/// Whether a text is the name of a zone, as `Europe/Paris`.
pub(crate) fn is_zone_name(text: &str) -> bool {
    PLACES
        .lines()
        .any(|line| line.split_once('\t').is_some_and(|(_, zone)| zone == text))
}

/// Whether a word asks for the time or the day.
pub(crate) fn is_of_clock(word: &str) -> bool {
    CLOCK.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_zones() {
        for (place, expected) in [
            ("Tokyo", Some("Asia/Tokyo")),
            ("tokyo", Some("Asia/Tokyo")),
            ("New York", Some("America/New_York")),
            ("San Francisco, CA", Some("America/Los_Angeles")),
            ("the Netherlands", Some("Europe/Amsterdam")),
            ("Germany", Some("Europe/Berlin")),
            ("UTC", Some("UTC")),
            ("Europe/Paris", None),
            ("Brazil", None),
            ("Springfield", None),
            ("", None),
        ] {
            assert_eq!(zone(place), expected, "{place}");
        }
    }

    #[test]
    fn every_line_is_a_place_and_a_zone() {
        for line in PLACES.lines().skip(1) {
            let (place, zone) = line.split_once('\t').expect("a tab");
            assert!(place == place.to_lowercase() && !place.is_empty(), "{line}");
            assert!(zone == "UTC" || zone.contains('/'), "{line}");
        }
    }
}
