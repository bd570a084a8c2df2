use std::ops::RangeInclusive;

use positional_encoding::Error;

/// The numbers that a page sent, read one after the other.
///
/// What is missing, or was no number in its field, is NaN, and refused like any other value that
/// does not fit.
///
/// ```
/// use widgets::Input;
///
/// let mut input = Input::new(&[12.0, f64::NAN]);
/// assert_eq!(input.whole("position", 0..=127)?, 12);
/// let refusal = input.whole("d_model", 1..=128).unwrap_err();
/// assert!(refusal.to_string().starts_with("d_model is not a number, but must be"));
/// # Ok::<(), widgets::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Input<'a> {
    numbers: std::slice::Iter<'a, f64>,
}

impl<'a> Input<'a> {
    /// Starts with the first number.
    pub fn new(numbers: &'a [f64]) -> Input<'a> {
        Input {
            numbers: numbers.iter(),
        }
    }

    /// The next number, whatever it is.
    pub fn real(&mut self) -> f64 {
        self.numbers.next().copied().unwrap_or(f64::NAN)
    }

    /// The next number as a whole one within `range`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] with `name` where it is not whole or outside the range.
    pub fn whole(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<usize, Error> {
        let given = self.real();
        let (least, most) = (*range.start(), *range.end());
        if given.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(&given) {
            return Ok(given as usize);
        }
        Err(Error::Parameter {
            name,
            given: if given.is_nan() {
                "not a number".into()
            } else {
                given.to_string()
            },
            allowed: format!("a whole number from {least} to {most}"),
            remedy: "type one, or move the slider".into(),
        })
    }

    /// The next number as the place of one of `choices`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] with `name` where there is no such place.
    pub fn choice<T: Copy>(&mut self, name: &'static str, choices: &[T]) -> Result<T, Error> {
        let place = self.whole(name, 0..=choices.len() as u32 - 1)?;
        Ok(choices[place])
    }
}
