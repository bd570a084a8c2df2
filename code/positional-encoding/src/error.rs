use thiserror::Error;

/// What can be wrong with a request, said so that the reader can mend it.
///
/// Every variant names the argument, what was given, what is allowed and what to do instead.
/// No function of this crate panics on its arguments.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A number, or a combination of numbers, that no encoding can be built from.
    #[error("{name} is {given}, but must be {allowed}; {remedy}")]
    Parameter {
        /// The argument's name, as the function's signature spells it.
        name: &'static str,
        /// The value that was given.
        given: String,
        /// What the argument must satisfy.
        allowed: String,
        /// What to do about it.
        remedy: String,
    },
    /// Two arrays, or an array and a number, that do not fit together.
    #[error("{name} has shape {given:?}, but must have shape {expected}; {remedy}")]
    Shape {
        /// The argument's name, as the function's signature spells it.
        name: &'static str,
        /// The shape that was given.
        given: Vec<usize>,
        /// The shape that fits, in the words of the documentation: `(seq_len, d_model)`.
        expected: String,
        /// What to do about it.
        remedy: String,
    },
    /// A position that a finite table has no row for.
    #[error(
        "position {position} is outside a table of {length} positions, whose last is {last}; \
         build a longer table or shorten the input",
        last = length.saturating_sub(1)
    )]
    Position {
        /// The position that was asked for.
        position: usize,
        /// The number of positions the table holds.
        length: usize,
    },
    /// A key of a model's file whose value no encoding can be built from.
    #[error("{key} is {given}, but must be {allowed}; {remedy}")]
    Key {
        /// The key's path in the file: `text_config.rope_scaling.factor`.
        key: String,
        /// The value that was given, as the file spells it.
        given: String,
        /// What the value must be.
        allowed: String,
        /// What to do about it.
        remedy: String,
    },
    /// A file that no model's configuration can be read from.
    #[error("{problem}; {remedy}")]
    File {
        /// What is wrong with the file as a whole.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
}

/// A number as a person reads it: with an exponent where its zeros would fill a line.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-6..1e16).contains(&size) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_number_has_an_exponent_where_its_zeros_would_fill_a_line() {
        for (value, shown) in [
            (0.0, "0"),
            (1e-6, "0.000001"),
            (9.5e-7, "9.5e-7"),
            (-2.5, "-2.5"),
            (1e15, "1000000000000000"),
            (1e16, "1e16"),
            (-1e300, "-1e300"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), shown);
        }
    }
}
