//! One query, four keys with equal scores: what the bias alone does, in three spellings.

use ndarray::{Array2, Axis};
use positional_encoding::{Direction, alibi, attention};

fn main() {
    // ANCHOR: main
    let (query, keys) = ([3], [0, 1, 2, 3]);
    let paper = alibi::bias(&[0.5], &query, &keys, Direction::Causal);
    let paper = paper.index_axis_move(Axis(0), 0);
    let bloom = alibi::column_bias(&[0.5], &keys);
    let wrong = 0.0 - &paper;

    print("paper: -slope (query - key)", &paper);
    print("BLOOM: +slope key", &bloom);
    print("wrong sign: +slope (query - key)", &wrong);
    // ANCHOR_END: main
}

fn print(name: &str, bias: &Array2<f64>) {
    let weights = attention::softmax(bias.view());
    println!("{name}");
    for (label, row) in [("bias", bias), ("weights", &weights)] {
        print!("  {label:<8}");
        row.iter().for_each(|entry| print!("{entry:>8.3}"));
        println!();
    }
}
