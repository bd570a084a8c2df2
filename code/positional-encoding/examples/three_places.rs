//! The three places a position can enter, each with the plainest signal that does the work.

use ndarray::{Array2, array};
use positional_encoding::Error;
use positional_encoding::attention::{Mask, attention, attention_with_bias};

// ANCHOR: places
/// In the input: the first entry grows along the sentence.
fn stamp_input(x: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let mut x = x.clone();
    for (position, mut row) in x.rows_mut().into_iter().enumerate() {
        row[0] += 0.5 * position as f64;
    }
    attention(x.view(), x.view(), x.view(), Mask::None)
}

/// In query and key: the first two entries turn along the sentence.
fn turn_query_and_key(x: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let mut turned = x.clone();
    for (position, mut row) in turned.rows_mut().into_iter().enumerate() {
        let (sin, cos) = (position as f64).sin_cos();
        (row[0], row[1]) = (row[0] * cos - row[1] * sin, row[0] * sin + row[1] * cos);
    }
    attention(turned.view(), turned.view(), x.view(), Mask::None)
}

/// In the score: a penalty that grows with the distance, before or after alike.
fn bias_by_distance(x: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let bias = Array2::from_shape_fn((x.nrows(), x.nrows()), |(query, key)| {
        -(query.abs_diff(key) as f64)
    });
    attention_with_bias(x.view(), x.view(), x.view(), bias.view(), Mask::None)
}
// ANCHOR_END: places

/// In the score, with a sign: what comes before costs, what comes after does not.
fn bias_by_side(x: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let bias = Array2::from_shape_fn(
        (x.nrows(), x.nrows()),
        |(query, key)| {
            if key < query { -1.0 } else { 0.0 }
        },
    );
    attention_with_bias(x.view(), x.view(), x.view(), bias.view(), Mask::None)
}

fn nowhere(x: &Array2<f64>) -> Result<Array2<f64>, Error> {
    attention(x.view(), x.view(), x.view(), Mask::None)
}

fn main() -> Result<(), Error> {
    let the = [0.1, 0.2, 0.1, 0.0];
    let dog = [0.9, 0.1, 0.0, 0.3];
    let bit = [0.0, 0.8, 0.5, 0.1];
    let man = [0.8, 0.0, 0.2, 0.7];
    let long = [
        array![the, dog, bit, the, man],
        array![the, man, bit, the, dog],
    ];
    let short = [array![dog, bit, man], array![man, bit, dog]];

    type Scheme = fn(&Array2<f64>) -> Result<Array2<f64>, Error>;
    let schemes: [(&str, Scheme); 5] = [
        ("nowhere", nowhere),
        ("the input", stamp_input),
        ("query and key", turn_query_and_key),
        ("the score, by distance", bias_by_distance),
        ("the score, by side", bias_by_side),
    ];
    println!("How far apart the two outputs of bit come out");
    println!("position is put into     the dog bit the man    dog bit man");
    for (name, scheme) in schemes {
        let [a, b] = [scheme(&long[0])?, scheme(&long[1])?];
        let [c, d] = [scheme(&short[0])?, scheme(&short[1])?];
        let long_apart = &a.row(2) - &b.row(2);
        let short_apart = &c.row(1) - &d.row(1);
        println!(
            "{name:<25}{:>19.4}{:>15.4}",
            long_apart.dot(&long_apart).sqrt(),
            short_apart.dot(&short_apart).sqrt(),
        );
    }
    Ok(())
}
