//! Chapter 4: the bias matrices of T5 and ALiBi, head by head.

use ndarray::{Array2, Axis};
use positional_encoding::{Direction, Error, alibi, t5};

use crate::{Answer, Input};

/// How many queries and keys the matrix has.
pub const POSITIONS: usize = 64;
/// Buckets and largest distance of the T5 models.
const T5: (usize, usize) = (32, 128);

/// The bias that one head adds to the score of every query and key.
///
/// Takes `scheme` (0 ALiBi, 1 T5), `direction` (0 causal, 1 bidirectional), `heads` (1 to 64),
/// `head` (counted from 1) and a `query` and a `key` (0 to 63). Gives the matrix, `(64, 64)` row
/// by row, the slope of the head (NaN for T5), the bucket of the query and key (NaN for ALiBi),
/// and their bias.
///
/// A T5 model learns its table of biases. The one used here is [`table`], made up.
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the number that does not fit.
///
/// ```
/// let answer = widgets::bias::bias(&[0.0, 0.0, 8.0, 1.0, 40.0, 33.0])?;
/// let [slope, _, bias] = answer.numbers[64 * 64..] else { unreachable!() };
/// assert_eq!((slope, bias), (0.5, -3.5));
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn bias(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let is_t5 = input.choice("scheme", &[false, true])?;
    let both = [Direction::Causal, Direction::Bidirectional];
    let direction = input.choice("direction", &both)?;
    let heads = input.whole("heads", 1..=64)?;
    let head = input.whole("head", 1..=heads as u32)? - 1;
    let last = POSITIONS as u32 - 1;
    let query = input.whole("query", 0..=last)?;
    let key = input.whole("key", 0..=last)?;
    let positions: Vec<usize> = (0..POSITIONS).collect();
    let slopes = alibi::slopes(heads)?;
    let bias = if is_t5 {
        let table = table(heads);
        t5::bias(table.view(), &positions, &positions, T5.1, direction)?
    } else {
        alibi::bias(&slopes, &positions, &positions, direction)
    };
    let matrix = bias.index_axis(Axis(0), head);
    let mut numbers: Vec<f64> = matrix.iter().copied().collect();
    let bucket = t5::bucket(key as i64 - query as i64, T5.0, T5.1, direction)?;
    numbers.extend(if is_t5 {
        [f64::NAN, bucket as f64]
    } else {
        [slopes[head], f64::NAN]
    });
    numbers.push(matrix[[query, key]]);
    Ok(numbers.into())
}

/// A table for T5's 32 buckets, `(32, heads)`, made up: no model learned it.
///
/// The heads take turns: the first cares for what is near, the next looks away from it, the third
/// dislikes the upper half of the buckets (in an encoder, what comes after), the fourth the lower.
///
/// ```
/// assert_eq!(widgets::bias::table(2).dim(), (32, 2));
/// ```
pub fn table(heads: usize) -> Array2<f64> {
    Array2::from_shape_fn((T5.0, heads), |(bucket, head)| {
        let near = (bucket % 16) as f64 / 15.0;
        match head % 4 {
            0 => 2.0 - 6.0 * near,
            1 => 4.0 * near - 3.0,
            2 if bucket >= 16 => -4.0,
            2 => 1.0 - near,
            _ if bucket < 16 => -4.0 * near,
            _ => 2.0 - near,
        }
    })
}
