//! Time zones of places, for parameters that take a zone's name.

/// A line has a place and its zone, in lower case, separated by a tab.
const PLACES: &str = include_str!("../data/places.tsv");

/// The zone of a place; `None` for one with several zones, such as Brazil.
pub(crate) fn zone(place: &str) -> Option<&'static str> {
    let place = place.trim().to_lowercase();
    let place = place.strip_prefix("the ").unwrap_or(&place);
    let city = place.split(", ").next().unwrap_or_default();
    let listed = |place: &str| lines().find(|(known, _)| *known == place).map(|(_, zone)| zone);
    listed(place).or_else(|| listed(city))
}

/// Whether a text is a zone's name, such as `Europe/Paris`.
pub(crate) fn is_zone_name(text: &str) -> bool {
    lines().any(|(_, zone)| zone == text)
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLACES.lines().filter_map(|line| line.split_once('\t'))
}
