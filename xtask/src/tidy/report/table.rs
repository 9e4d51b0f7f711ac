//! A plain-text table with aligned columns.

use std::fmt;

#[derive(Debug)]
pub(super) struct Table {
    title: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<const COLUMNS: usize>(title: &'static str, heads: [&str; COLUMNS]) -> Table {
        Table {
            title,
            rows: vec![heads.map(str::to_owned).into()],
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    /// The last column has no padding; columns of numbers are right-aligned.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "== {} ({})", self.title, self.rows.len() - 1)?;
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let is_number = |column: usize| {
            let mut cells = self.rows[1..].iter().map(|row| &row[column]);
            cells.all(|cell| cell.chars().all(|character| character.is_ascii_digit()))
        };
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = width(column).unwrap_or_default();
                if is_number(column) {
                    line.push_str(&format!("{cell:>width$}  "));
                } else if column + 1 < columns {
                    line.push_str(&format!("{cell:<width$}  "));
                } else {
                    line.push_str(cell);
                }
            }
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new("sizes", ["crate", "lines", "what"]);
        table.row(["a".to_owned(), "12".to_owned(), "short".to_owned()]);
        table.row(["broker".to_owned(), "7".to_owned(), String::new()]);
        assert_eq!(
            table.to_string(),
            "== sizes (2)\ncrate   lines  what\na          12  short\nbroker      7\n"
        );
    }
}
