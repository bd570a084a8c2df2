//! T5's relative position bias: one learned number for each bucket of distances and each head,
//! added to the score.
//!
//! Raffel et al. 2020, section 2.1. The table is shared by all layers of a stack. It is used in
//! self-attention only: in cross-attention query and key come from different sequences, so a
//! difference of their positions means nothing, and T5 adds no bias there.

use ndarray::{Array3, ArrayView2};

use crate::{Direction, Error};

/// The bucket that a key at `relative_position` = key − query falls into.
///
/// The first half of the buckets hold one distance each; the rest grow logarithmically up to
/// `max_distance`, and the last one holds everything beyond. [`Direction::Bidirectional`] gives
/// the second half of `buckets` to keys after the query; [`Direction::Causal`] puts every future
/// key into bucket 0. T5 uses 32 buckets and a `max_distance` of 128. Raffel et al. 2020,
/// section 2.1; the exact function is the one of the released code.
///
/// Error: none for T5's own sizes, checked in whole numbers. The logarithm is taken in f64, so for
/// others a distance that lies exactly on an edge may fall one bucket lower: with 9 causal buckets
/// up to 128, the distances 8, 16 and 64 do. No distance was found to fall higher.
///
/// # Errors
///
/// [`Error::Parameter`] where `buckets` is too small to have an exact and a logarithmic half
/// (2 causal, 4 bidirectional), where it is odd and bidirectional, or where `max_distance` does
/// not reach past the exact buckets.
///
/// ```
/// use positional_encoding::{Direction, t5};
///
/// let bucket = |relative| t5::bucket(relative, 32, 128, Direction::Bidirectional);
/// assert_eq!(bucket(-7)?, 7); // the last distance that has a bucket of its own
/// assert_eq!(bucket(-9)?, bucket(-11)?); // 8 to 11 share one
/// assert_eq!(bucket(-91)?, bucket(-100_000)?); // and the last begins at 91, not at 128
/// assert_eq!(bucket(1)?, bucket(-1)? + 16); // the other side has its own sixteen
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn bucket(
    relative_position: i64,
    buckets: usize,
    max_distance: usize,
    direction: Direction,
) -> Result<usize, Error> {
    check_sizes(buckets, max_distance, direction)?;
    Ok(bucket_unchecked(
        relative_position,
        buckets,
        max_distance,
        direction,
    ))
}

// ANCHOR: bucket
fn bucket_unchecked(
    relative_position: i64,
    buckets: usize,
    max_distance: usize,
    direction: Direction,
) -> usize {
    let distance = relative_position.unsigned_abs() as usize;
    match direction {
        Direction::Causal if relative_position > 0 => 0,
        Direction::Causal => one_sided(distance, buckets, max_distance),
        Direction::Bidirectional => {
            let side = buckets / 2;
            let first = if relative_position > 0 { side } else { 0 };
            first + one_sided(distance, side, max_distance)
        }
    }
}

fn one_sided(distance: usize, buckets: usize, max_distance: usize) -> usize {
    let exact = buckets / 2;
    if distance < exact {
        return distance;
    }
    let past_exact = |distance: usize| (distance as f64 / exact as f64).ln();
    let part = past_exact(distance) / past_exact(max_distance);
    let logarithmic = (part * (buckets - exact) as f64) as usize;
    (exact + logarithmic).min(buckets - 1)
}
// ANCHOR_END: bucket

/// How many buckets one direction splits into one-distance buckets.
fn exact_buckets(buckets: usize, direction: Direction) -> usize {
    match direction {
        Direction::Causal => buckets / 2,
        Direction::Bidirectional => buckets / 4,
    }
}

fn check_sizes(buckets: usize, max_distance: usize, direction: Direction) -> Result<(), Error> {
    let (least, allowed) = match direction {
        Direction::Causal => (2, "at least 2"),
        Direction::Bidirectional => (4, "an even number, at least 4"),
    };
    let lopsided = direction == Direction::Bidirectional && !buckets.is_multiple_of(2);
    if buckets < least || lopsided {
        return Err(Error::Parameter {
            name: "buckets",
            given: buckets.to_string(),
            allowed: allowed.into(),
            remedy: "use the model's relative_attention_num_buckets, 32 in T5".into(),
        });
    }
    let exact = exact_buckets(buckets, direction);
    if max_distance <= exact {
        return Err(Error::Parameter {
            name: "max_distance",
            given: max_distance.to_string(),
            allowed: format!("more than the {exact} distances that have a bucket each"),
            remedy: "use the model's relative_attention_max_distance, 128 in T5".into(),
        });
    }
    Ok(())
}

/// The bias of every head for queries and keys at the given positions.
///
/// `table` is the learned table, `(buckets, heads)`; the result is
/// `(heads, query_positions.len(), key_positions.len())`, in the unit of the scores it is added
/// to. With [`Direction::Causal`] a future key gets the bias of bucket 0: the mask, not the bias,
/// must hide it. Raffel et al. 2020, section 2.1. T5 itself leaves out the division of the scores
/// by the square root of `head_dim`; that is a matter of the scores, not of the bias.
///
/// # Errors
///
/// As for [`bucket`], whose `buckets` is the number of rows of `table`.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::{Direction, t5};
///
/// // Four buckets, two heads: the first likes the key before it, the second likes distance.
/// let table = array![[0.0, 0.0], [5.0, 1.0], [0.0, 2.0], [0.0, 3.0]];
/// let bias = t5::bias(table.view(), &[2], &[0, 1, 2], 8, Direction::Causal)?;
/// assert_eq!(bias, array![[[0.0, 5.0, 0.0]], [[2.0, 1.0, 0.0]]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn bias(
    table: ArrayView2<f64>,
    query_positions: &[usize],
    key_positions: &[usize],
    max_distance: usize,
    direction: Direction,
) -> Result<Array3<f64>, Error> {
    check_sizes(table.nrows(), max_distance, direction)?;
    let shape = (table.ncols(), query_positions.len(), key_positions.len());
    // ANCHOR: bias
    Ok(Array3::from_shape_fn(shape, |(head, query, key)| {
        let relative = relative_position(query_positions[query], key_positions[key]);
        let row = bucket_unchecked(relative, table.nrows(), max_distance, direction);
        table[[row, head]]
    }))
    // ANCHOR_END: bias
}

/// Key − query. Wrapping, so that no pair of positions can overflow.
fn relative_position(query: usize, key: usize) -> i64 {
    (key as i64).wrapping_sub(query as i64)
}
