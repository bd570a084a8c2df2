//! Reads the results that the lab recorded.
//!
//! A record is a file of comma-separated values under `code/lab/results/`: lines `# key: value`
//! that say how it came about, the names of the columns, the rows, and the checksum of all that.
//! A record that is damaged, or was changed by hand, is refused with its name.

use crate::FigureError;

/// One file of results.
#[derive(Debug, Clone)]
pub struct Record {
    name: &'static str,
    notes: Vec<(String, String)>,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Record {
    /// Reads the content of the file `name`.
    ///
    /// # Errors
    ///
    /// [`FigureError::Record`] where the checksum is missing or wrong, or a row has a cell too
    /// many or too few.
    ///
    /// ```
    /// let damaged = figures::record::Record::parse("length.csv", "scheme,loss\nrope,1.7\n");
    /// assert!(damaged.unwrap_err().to_string().contains("length.csv"));
    /// ```
    pub fn parse(name: &'static str, text: &str) -> Result<Self, FigureError> {
        let damaged = |found: String| FigureError::Record { name, found };
        let (content, checksum) = text
            .rsplit_once("# checksum: ")
            .ok_or_else(|| damaged("it has no checksum".into()))?;
        if checksum != format!("{:016x}\n", fnv1a(content.as_bytes())) {
            return Err(damaged("its checksum does not match its content".into()));
        }
        let (notes, table): (Vec<&str>, Vec<&str>) =
            content.lines().partition(|line| line.starts_with("# "));
        let cells = |line: &&str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = table.iter().map(cells).collect();
        if rows.len() < 2 {
            return Err(damaged("it has no rows".into()));
        }
        let columns = rows.remove(0);
        if let Some(row) = rows.iter().find(|row| row.len() != columns.len()) {
            let found = format!("the row {} does not fit its columns", row.join(","));
            return Err(damaged(found));
        }
        let note = |line: &str| {
            let (key, value) = line.trim_start_matches("# ").split_once(": ")?;
            Some((key.to_owned(), value.to_owned()))
        };
        Ok(Self {
            name,
            notes: notes.into_iter().filter_map(note).collect(),
            columns,
            rows,
        })
    }

    /// What the head of the file says under `key`.
    ///
    /// # Errors
    ///
    /// [`FigureError::Record`] where it says nothing.
    pub fn note(&self, key: &str) -> Result<&str, FigureError> {
        let found = self.notes.iter().find(|(name, _)| name == key);
        found
            .map(|(_, value)| value.as_str())
            .ok_or_else(|| self.lacks(format!("it has no note on {key}")))
    }

    /// The different cells of `column`, in the order they first occur.
    ///
    /// # Errors
    ///
    /// [`FigureError::Record`] where there is no such column.
    pub fn different(&self, column: &str) -> Result<Vec<&str>, FigureError> {
        let index = self.index(column)?;
        let mut found = Vec::new();
        for row in &self.rows {
            if !found.contains(&row[index].as_str()) {
                found.push(row[index].as_str());
            }
        }
        Ok(found)
    }

    /// The numbers of `column` in the rows whose cells are as `wanted` says, in their order.
    ///
    /// # Errors
    ///
    /// [`FigureError::Record`] where a column is missing, no row fits, or a cell is no number.
    pub fn numbers(&self, column: &str, wanted: &[(&str, &str)]) -> Result<Vec<f64>, FigureError> {
        let index = self.index(column)?;
        let mut places = Vec::new();
        for (name, cell) in wanted {
            places.push((self.index(name)?, *cell));
        }
        let fits = |row: &&Vec<String>| places.iter().all(|(place, cell)| row[*place] == *cell);
        let numbers = self.rows.iter().filter(fits).map(|row| {
            let number = row[index].parse();
            number.map_err(|_| self.lacks(format!("{} is no number", row[index])))
        });
        let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
        if numbers.is_empty() {
            return Err(self.lacks(format!("it has no row with {wanted:?}")));
        }
        Ok(numbers)
    }

    /// The one number of `column` in the row whose cells are as `wanted` says.
    ///
    /// # Errors
    ///
    /// Those of [`Record::numbers`], and [`FigureError::Record`] where several rows fit.
    pub fn number(&self, column: &str, wanted: &[(&str, &str)]) -> Result<f64, FigureError> {
        match self.numbers(column, wanted)?[..] {
            [number] => Ok(number),
            _ => Err(self.lacks(format!("it has several rows with {wanted:?}"))),
        }
    }

    fn index(&self, column: &str) -> Result<usize, FigureError> {
        let found = self.columns.iter().position(|name| name == column);
        found.ok_or_else(|| self.lacks(format!("it has no column {column}")))
    }

    fn lacks(&self, found: String) -> FigureError {
        FigureError::Record {
            name: self.name,
            found,
        }
    }
}

/// The 64-bit FNV-1a hash, which the lab closes its records with.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(content: &str) -> String {
        format!("{content}# checksum: {:016x}\n", fnv1a(content.as_bytes()))
    }

    #[test]
    fn a_record_is_read_by_the_names_of_its_columns() -> Result<(), FigureError> {
        let text = written("# steps: 5\nscheme,loss\nrope,1.5\nalibi,2.5\n");
        let record = Record::parse("some.csv", &text)?;
        assert_eq!(record.note("steps")?, "5");
        assert_eq!(record.different("scheme")?, ["rope", "alibi"]);
        assert_eq!(record.number("loss", &[("scheme", "alibi")])?, 2.5);
        assert!(record.number("loss", &[("scheme", "t5")]).is_err());
        Ok(())
    }

    #[test]
    fn a_changed_digit_is_refused_with_the_name_of_the_file() {
        let text = written("scheme,loss\nrope,1.5\n").replace("1.5", "1.4");
        let error = Record::parse("some.csv", &text).unwrap_err().to_string();
        assert!(
            error.contains("some.csv") && error.contains("checksum"),
            "{error}"
        );
    }

    #[test]
    fn a_row_with_a_cell_too_few_is_refused() {
        let text = written("scheme,loss\nrope\n");
        assert!(Record::parse("some.csv", &text).is_err());
    }
}
