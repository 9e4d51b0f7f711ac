//! Maps positions in the generated JavaScript to lines of the source.

/// Maps lines and columns of generated text to those of its source; both count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineMap {
    /// Sorted by place in the generated text.
    places: Vec<Place>,
}

/// One place in both texts, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    generated: (u32, u32),
    source: (u32, u32),
}

impl LineMap {
    /// `places` are pairs of generated and source places, counted from 0.
    pub(crate) fn new(places: impl Iterator<Item = ((u32, u32), (u32, u32))>) -> Self {
        let mut places: Vec<Place> = places
            .map(|(generated, source)| Place { generated, source })
            .collect();
        places.sort_by_key(|place| place.generated);
        Self { places }
    }

    /// The map after `lines` lines are inserted at the top.
    pub(crate) fn moved_down(mut self, lines: u32) -> Self {
        for place in &mut self.places {
            place.generated.0 += lines;
        }
        self
    }

    /// Line and column in the source; `None` for generated text without a source.
    pub fn source(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let wanted = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.places.partition_point(|place| place.generated <= wanted);
        let on_the_line = |place: &&Place| place.generated.0 == wanted.0;
        // A generated line may begin before its first place.
        let before = self.places[..after].last().filter(on_the_line);
        let place = before.or_else(|| self.places[after..].first().filter(on_the_line))?;
        Some((place.source.0 + 1, place.source.1 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_the_nearest_one_before() {
        let pairs = [((0, 0), (4, 2)), ((0, 8), (5, 0)), ((2, 1), (9, 3))];
        let map = LineMap::new(pairs.into_iter());
        let check =
            |line, column, expected| assert_eq!(map.source(line, column), expected, "{line}:{column}");
        check(1, 1, Some((5, 3)));
        check(1, 8, Some((5, 3)));
        check(1, 9, Some((6, 1)));
        check(2, 1, None);
        check(3, 1, Some((10, 4)));
        check(0, 0, None);
        assert_eq!(map.clone().moved_down(1).source(2, 1), Some((5, 3)));
    }
}
