//! What attention, block and recurrent step do with shapes and numbers that are not good.

use approx::assert_abs_diff_eq;
use ndarray::{Array2, ArrayView2, array, s};
use positional_encoding::Error;
use positional_encoding::attention::{
    Mask, attention, attention_with_bias, scores, softmax, weights,
};
use positional_encoding::block::{Block, attend, feed_forward, forward, normalise};
use positional_encoding::recurrent::{read, step};

fn matrix(rows: usize, columns: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        (seed + 1.7 * row as f64 + 0.9 * column as f64).sin()
    })
}

fn block(d_model: usize) -> Block {
    Block {
        query: matrix(d_model, 3, 1.0),
        key: matrix(d_model, 3, 2.0),
        value: matrix(d_model, 5, 3.0),
        output: matrix(5, d_model, 4.0),
        expand: matrix(d_model, 7, 5.0),
        contract: matrix(7, d_model, 6.0),
    }
}

/// Equation 1 of the paper, entry by entry.
fn by_hand(queries: &Array2<f64>, keys: &Array2<f64>, values: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((queries.nrows(), values.ncols()), |(query, entry)| {
        let exponential = |key: usize| {
            let product: f64 = (0..queries.ncols())
                .map(|i| queries[[query, i]] * keys[[key, i]])
                .sum();
            (product / (queries.ncols() as f64).sqrt()).exp()
        };
        let total: f64 = (0..keys.nrows()).map(exponential).sum();
        (0..keys.nrows())
            .map(|key| exponential(key) / total * values[[key, entry]])
            .sum()
    })
}

fn same(a: &Array2<f64>, b: &Array2<f64>) {
    assert_eq!(a.dim(), b.dim());
    for (a, b) in a.iter().zip(b) {
        // Sums of a few products of numbers near 1, added in another order.
        assert_abs_diff_eq!(*a, *b, epsilon = 1e-14);
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, name: &str) {
    let error = result.expect_err("a shape that does not fit");
    assert!(
        matches!(&error, Error::Shape { name: given, .. } if *given == name),
        "{error}"
    );
}

#[test]
fn attention_is_the_formula_entry_by_entry() {
    let (queries, keys, values) = (matrix(3, 4, 0.0), matrix(5, 4, 1.0), matrix(5, 2, 2.0));
    let out = attention(queries.view(), keys.view(), values.view(), Mask::None).expect("fits");
    same(&out, &by_hand(&queries, &keys, &values));
}

#[test]
fn a_bias_of_zero_changes_nothing_and_one_of_minus_infinity_hides_a_key() {
    let (queries, keys, values) = (matrix(3, 4, 0.0), matrix(5, 4, 1.0), matrix(5, 2, 2.0));
    let biased = |bias: &Array2<f64>| {
        let (q, k, v) = (queries.view(), keys.view(), values.view());
        attention_with_bias(q, k, v, bias.view(), Mask::None).expect("fits")
    };
    let plain = attention(queries.view(), keys.view(), values.view(), Mask::None).expect("fits");
    same(&biased(&Array2::zeros((3, 5))), &plain);

    let mut hides_the_last = Array2::zeros((3, 5));
    hides_the_last.column_mut(4).fill(f64::NEG_INFINITY);
    let (keys, values) = (keys.slice(s![..4, ..]), values.slice(s![..4, ..]));
    let without = attention(queries.view(), keys, values, Mask::None).expect("fits");
    same(&biased(&hides_the_last), &without);
}

#[test]
fn the_last_query_against_a_cache_gets_what_it_gets_in_the_whole_sentence() {
    let x = matrix(6, 4, 0.0);
    let whole = attention(x.view(), x.view(), x.view(), Mask::Causal).expect("fits");
    let last_two = x.slice(s![4.., ..]);
    let cached = attention(last_two, x.view(), x.view(), Mask::Causal).expect("fits");
    same(&cached, &whole.slice(s![4.., ..]).to_owned());
}

#[test]
fn a_query_with_nothing_to_look_at_gets_zeros() {
    let nothing = array![[f64::NEG_INFINITY, f64::NEG_INFINITY], [0.0, 0.0]];
    assert_eq!(softmax(nothing.view()), array![[0.0, 0.0], [0.5, 0.5]]);
    // Three queries beside two keys: the first stands before both.
    let weights = weights(Array2::zeros((3, 2)).view(), Mask::Causal);
    assert_eq!(weights, array![[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]);
}

#[test]
fn large_scores_do_not_overflow() {
    let weights = softmax(array![[1e308, 1e308], [-1e308, -1e308], [1e308, -1e308]].view());
    assert_eq!(weights, array![[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]);
}

#[test]
fn a_bad_number_spoils_the_rows_that_look_at_it_and_no_others() {
    let spoiled = |scores: ArrayView2<f64>, mask| {
        let weights = weights(scores, mask);
        let rows = weights.rows();
        rows.into_iter()
            .map(|row| row.iter().all(|weight| weight.is_nan()))
            .collect::<Vec<_>>()
    };
    for bad in [f64::NAN, f64::INFINITY] {
        let scores = array![[0.0, bad], [0.0, 0.0]];
        assert_eq!(spoiled(scores.view(), Mask::None), [true, false]);
        // The causal mask hides the second key from the first query, bad number and all.
        assert_eq!(spoiled(scores.view(), Mask::Causal), [false, false]);
    }
    let all_nan = array![[f64::NAN, f64::NAN]];
    assert_eq!(spoiled(all_nan.view(), Mask::None), [true]);
}

#[test]
fn a_bad_value_reaches_every_row() {
    let x = matrix(2, 3, 0.0);
    let values = array![[1.0], [f64::NAN]];
    let out = attention(x.view(), x.view(), values.view(), Mask::Causal).expect("fits");
    assert!(out.iter().all(|entry| entry.is_nan()));
}

#[test]
fn a_feed_forward_layer_does_not_hide_a_nan() {
    let x = array![[f64::NAN], [1.0]];
    let one = array![[1.0]];
    let out = feed_forward(x.view(), &one, &one).expect("fits");
    assert!(out[[0, 0]].is_nan());
    assert_eq!(out[[1, 0]], 1.0);
}

#[test]
fn normalisation_gives_mean_zero_and_spread_one() {
    let normal = normalise(matrix(4, 6, 0.0).view());
    for row in normal.rows() {
        assert_abs_diff_eq!(row.sum(), 0.0, epsilon = 1e-14);
        // Short of 1 by the 1e-5 under the root, beside a variance near 1/2.
        assert_abs_diff_eq!(row.dot(&row) / 6.0, 1.0, epsilon = 1e-4);
    }
    assert_eq!(normalise(Array2::zeros((2, 0)).view()).dim(), (2, 0));
}

#[test]
fn a_block_adds_each_part_to_what_came_in() {
    let (block, x) = (block(4), matrix(3, 4, 0.5));
    let mut silent = block.clone();
    silent.output.fill(0.0);
    silent.contract.fill(0.0);
    let out = forward(&silent, x.view(), Mask::None).expect("fits");
    assert_eq!(out, x, "parts that say nothing leave the input");

    silent.output = block.output.clone();
    let normal = normalise(x.view());
    let seen = attend(&block, normal.view(), Mask::None).expect("fits");
    same(
        &forward(&silent, x.view(), Mask::None).expect("fits"),
        &(&x + &seen),
    );

    silent.output.fill(0.0);
    silent.contract = block.contract.clone();
    let fed = feed_forward(normal.view(), &block.expand, &block.contract).expect("fits");
    same(
        &forward(&silent, x.view(), Mask::None).expect("fits"),
        &(&x + &fed),
    );
}

#[test]
fn empty_and_mismatched_arrays_are_refused_by_name() {
    let good = matrix(3, 4, 0.0);
    for empty in [Array2::zeros((0, 4)), Array2::zeros((3, 0))] {
        refused(scores(empty.view(), good.view()), "queries");
        refused(scores(good.view(), empty.view()), "keys");
    }
    refused(scores(good.view(), matrix(3, 5, 0.0).view()), "keys");
    for values in [matrix(2, 4, 0.0), Array2::zeros((3, 0))] {
        let out = attention(good.view(), good.view(), values.view(), Mask::None);
        refused(out, "values");
    }
    for bias in [Array2::zeros((1, 3)), Array2::zeros((3, 4))] {
        let (x, bias) = (good.view(), bias.view());
        refused(attention_with_bias(x, x, x, bias, Mask::None), "bias");
    }
}

#[test]
fn more_scores_than_can_be_addressed_are_refused() {
    let one = array![[1.0]];
    let endless = one.broadcast((1 << 40, 1)).expect("a view costs nothing");
    refused(scores(endless, endless), "queries");
    let half = one.broadcast((1 << 31, 1)).expect("a view costs nothing");
    refused(scores(half, half), "queries");
}

#[test]
fn weights_of_a_block_that_do_not_fit_are_refused_by_name() {
    let x = matrix(3, 4, 0.0);
    type Spoil = fn(&mut Block);
    let spoil: [(&str, Spoil); 8] = [
        ("query", |block| block.query = matrix(3, 3, 0.0)),
        ("keys", |block| block.key = matrix(4, 2, 0.0)),
        ("value", |block| block.value = matrix(5, 5, 0.0)),
        ("output", |block| block.output = matrix(5, 1, 0.0)),
        ("output", |block| block.output = matrix(4, 4, 0.0)),
        ("expand", |block| block.expand = Array2::zeros((4, 0))),
        ("contract", |block| block.contract = matrix(6, 4, 0.0)),
        ("contract", |block| block.contract = matrix(7, 1, 0.0)),
    ];
    for (name, spoil) in spoil {
        let mut block = block(4);
        spoil(&mut block);
        refused(forward(&block, x.view(), Mask::None), name);
    }
    refused(
        forward(&block(4), Array2::zeros((0, 4)).view(), Mask::None),
        "queries",
    );
}

#[test]
fn weights_of_a_recurrent_step_that_do_not_fit_are_refused_by_name() {
    let (state, token) = (array![0.0, 0.0], array![1.0, 2.0, 3.0]);
    let (square, tall) = (matrix(2, 2, 0.0), matrix(3, 2, 0.0));
    let (state, token) = (state.view(), token.view());
    refused(step(state, token, tall.view(), tall.view()), "state_weight");
    refused(
        step(state, token, square.view(), square.view()),
        "token_weight",
    );
    let tokens = matrix(1, 3, 0.0);
    refused(
        read(tokens.view(), tall.view(), tall.view()),
        "state_weight",
    );
    let silence = read(tokens.slice(s![..0, ..]), square.view(), tall.view());
    assert_eq!(silence.expect("fits"), array![0.0, 0.0]);
}
