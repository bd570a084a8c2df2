//! Chapter 1: attention cannot see order, a causal mask can, a little.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array1, Array2, ArrayView2, Axis, array, concatenate, s};
use positional_encoding::attention::{Mask, attention, attention_with_bias, scores, weights};
use positional_encoding::block::{Block, feed_forward, forward, normalise};
use positional_encoding::recurrent::read;
use proptest::prelude::*;

const THE: [f64; 4] = [0.1, 0.2, 0.1, 0.0];
const DOG: [f64; 4] = [0.9, 0.1, 0.0, 0.3];
const BIT: [f64; 4] = [0.0, 0.8, 0.5, 0.1];
const MAN: [f64; 4] = [0.8, 0.0, 0.2, 0.7];
const STOP: [f64; 4] = [0.2, 0.3, 0.6, 0.4];

fn the_dog_bit_the_man() -> Array2<f64> {
    array![THE, DOG, BIT, THE, MAN]
}

fn the_man_bit_the_dog() -> Array2<f64> {
    array![THE, MAN, BIT, THE, DOG]
}

/// Attention where the tokens themselves are query, key and value.
fn plain(x: &Array2<f64>, mask: Mask) -> Array2<f64> {
    attention(x.view(), x.view(), x.view(), mask).expect("shapes fit")
}

fn largest_difference(a: ArrayView2<f64>, b: ArrayView2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    let differences = (&a - &b).mapv(f64::abs);
    differences.fold(
        0.0,
        |largest, &one| if one > largest { one } else { largest },
    )
}

/// Rounding: sums of at most a dozen terms, whose size is below a few thousand, in another order.
fn assert_equal_to_rounding(a: ArrayView2<f64>, b: ArrayView2<f64>) {
    let size = a.fold(1.0, |size: f64, entry| size.max(entry.abs()));
    let difference = largest_difference(a, b);
    assert!(difference < 1e-9 * size, "differ by {difference}");
}

fn matrix(rows: usize, columns: usize, size: f64) -> impl Strategy<Value = Array2<f64>> {
    prop::collection::vec(-size..size, rows * columns).prop_map(move |entries| {
        Array2::from_shape_vec((rows, columns), entries).expect("as many entries as asked for")
    })
}

/// A sentence of 1 to 8 tokens, and an order to put them in.
fn sentence_and_order() -> impl Strategy<Value = (Array2<f64>, Vec<usize>)> {
    (1..=8_usize).prop_flat_map(|seq_len| {
        let order = Just((0..seq_len).collect::<Vec<_>>()).prop_shuffle();
        (matrix(seq_len, 4, 3.0), order)
    })
}

fn block() -> impl Strategy<Value = Block> {
    let attention = (matrix(4, 3, 2.0), matrix(4, 3, 2.0), matrix(4, 3, 2.0));
    let rest = (matrix(3, 4, 2.0), matrix(4, 6, 2.0), matrix(6, 4, 2.0));
    (attention, rest).prop_map(|((query, key, value), (output, expand, contract))| Block {
        query,
        key,
        value,
        output,
        expand,
        contract,
    })
}

fn stack(blocks: &[Block], x: &Array2<f64>, mask: Mask) -> Array2<f64> {
    blocks.iter().fold(x.clone(), |x, block| {
        forward(block, x.view(), mask).expect("shapes fit")
    })
}

/// The last token stays, those before it are put in another order.
fn prefix_order(order: &[usize], last: usize) -> Vec<usize> {
    order
        .iter()
        .copied()
        .filter(|&token| token != last)
        .chain([last])
        .collect()
}

#[test]
fn the_two_sentences_are_the_same_bag_of_words() {
    let bag = |sentence: &str| {
        let mut words: Vec<String> = sentence.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(bag("the dog bit the man"), bag("the man bit the dog"));
    // With a capital, "Dog" and "dog" are two tokens, and the bags alone tell the story.
    assert_ne!(bag("Dog bit man"), bag("Man bit dog"));
}

#[test]
fn the_outputs_of_the_two_sentences_are_permuted_not_equal() {
    let first = plain(&the_dog_bit_the_man(), Mask::None);
    let second = plain(&the_man_bit_the_dog(), Mask::None);
    assert_equal_to_rounding(
        first.select(Axis(0), &[0, 4, 2, 3, 1]).view(),
        second.view(),
    );
    assert!(largest_difference(first.view(), second.view()) > 0.01);
}

proptest! {
    #[test]
    fn each_row_of_weights_is_an_average(x in matrix(5, 4, 10.0), y in matrix(7, 4, 10.0)) {
        let scores = scores(x.view(), y.view()).expect("shapes fit");
        for row in weights(scores.view(), Mask::None).rows() {
            prop_assert!(row.iter().all(|&weight| 0.0 < weight && weight <= 1.0));
            // Seven roundings of numbers below 1.
            assert_abs_diff_eq!(row.sum(), 1.0, epsilon = 1e-14);
        }
    }

    #[test]
    fn permuting_the_tokens_permutes_the_outputs(
        (x, order) in sentence_and_order(),
        query in matrix(4, 3, 3.0),
        key in matrix(4, 3, 3.0),
        value in matrix(4, 5, 3.0),
    ) {
        let attend = |x: &Array2<f64>| {
            let (q, k, v) = (x.dot(&query), x.dot(&key), x.dot(&value));
            attention(q.view(), k.view(), v.view(), Mask::None).expect("shapes fit")
        };
        let permuted_first = attend(&x.select(Axis(0), &order));
        let permuted_last = attend(&x).select(Axis(0), &order);
        assert_equal_to_rounding(permuted_first.view(), permuted_last.view());
    }

    #[test]
    fn permuting_the_tokens_permutes_rows_and_columns_of_the_weights(
        (x, order) in sentence_and_order(),
    ) {
        let weigh = |x: &Array2<f64>| {
            let scores = scores(x.view(), x.view()).expect("shapes fit");
            weights(scores.view(), Mask::None)
        };
        let permuted_first = weigh(&x.select(Axis(0), &order));
        let permuted_last = weigh(&x).select(Axis(0), &order).select(Axis(1), &order);
        assert_equal_to_rounding(permuted_first.view(), permuted_last.view());
    }

    #[test]
    fn pooling_the_outputs_forgets_the_order((x, order) in sentence_and_order()) {
        let out = plain(&x, Mask::None);
        let shuffled = plain(&x.select(Axis(0), &order), Mask::None);
        let mean = |out: &Array2<f64>| out.sum_axis(Axis(0)) / out.nrows() as f64;
        let largest = |out: &Array2<f64>| out.map_axis(Axis(0), |column| {
            column.fold(f64::NEG_INFINITY, |a, &b| a.max(b))
        });
        for (one, other) in [
            (out.sum_axis(Axis(0)), shuffled.sum_axis(Axis(0))),
            (mean(&out), mean(&shuffled)),
            (largest(&out), largest(&shuffled)),
        ] {
            assert_equal_to_rounding(
                one.insert_axis(Axis(0)).view(),
                other.insert_axis(Axis(0)).view(),
            );
        }
    }

    #[test]
    fn a_feed_forward_layer_looks_at_one_position_at_a_time(
        x in matrix(6, 4, 3.0),
        other in matrix(6, 4, 3.0),
        position in 0..6_usize,
        expand in matrix(4, 7, 3.0),
        contract in matrix(7, 4, 3.0),
    ) {
        // Everything is replaced but one row, and that row's output stays.
        let mut replaced = other;
        replaced.row_mut(position).assign(&x.row(position));
        let layer = |x: &Array2<f64>| {
            let normal = normalise(x.view());
            feed_forward(normal.view(), &expand, &contract).expect("shapes fit")
        };
        assert_equal_to_rounding(
            layer(&x).slice(s![position..=position, ..]),
            layer(&replaced).slice(s![position..=position, ..]),
        );
    }

    #[test]
    fn a_feed_forward_layer_is_equivariant(
        (x, order) in sentence_and_order(),
        expand in matrix(4, 7, 3.0),
        contract in matrix(7, 4, 3.0),
    ) {
        let layer = |x: &Array2<f64>| {
            feed_forward(x.view(), &expand, &contract).expect("shapes fit")
        };
        assert_equal_to_rounding(
            layer(&x.select(Axis(0), &order)).view(),
            layer(&x).select(Axis(0), &order).view(),
        );
    }

    #[test]
    fn a_block_is_equivariant((x, order) in sentence_and_order(), block in block()) {
        let blocks = [block];
        assert_equal_to_rounding(
            stack(&blocks, &x.select(Axis(0), &order), Mask::None).view(),
            stack(&blocks, &x, Mask::None).select(Axis(0), &order).view(),
        );
    }

    #[test]
    fn a_stack_of_two_blocks_is_equivariant(
        (x, order) in sentence_and_order(),
        lower in block(),
        upper in block(),
    ) {
        let blocks = [lower, upper];
        assert_equal_to_rounding(
            stack(&blocks, &x.select(Axis(0), &order), Mask::None).view(),
            stack(&blocks, &x, Mask::None).select(Axis(0), &order).view(),
        );
    }

    #[test]
    fn no_classifier_on_pooled_outputs_can_tell_who_bit_whom(
        lower in block(),
        upper in block(),
        classifier in matrix(4, 2, 3.0),
    ) {
        let blocks = [lower, upper];
        let pooled = |x: &Array2<f64>| {
            let out = stack(&blocks, x, Mask::None);
            let mean: Array1<f64> = out.sum_axis(Axis(0)) / out.nrows() as f64;
            mean.insert_axis(Axis(0))
        };
        // Whatever reads the pooled vector is given the same one twice.
        let (first, second) = (pooled(&the_dog_bit_the_man()), pooled(&the_man_bit_the_dog()));
        assert_equal_to_rounding(first.view(), second.view());
        assert_equal_to_rounding(first.dot(&classifier).view(), second.dot(&classifier).view());
    }

    #[test]
    fn the_causal_mask_hides_everything_that_comes_later(
        before in matrix(3, 4, 3.0),
        after in matrix(4, 4, 3.0),
        blocks in prop::collection::vec(block(), 1..5),
    ) {
        let longer = concatenate![Axis(0), before, after];
        assert_equal_to_rounding(
            stack(&blocks, &longer, Mask::Causal).slice(s![..3, ..]),
            stack(&blocks, &before, Mask::Causal).view(),
        );
    }

    #[test]
    fn one_causal_layer_is_blind_to_the_order_of_the_prefix(
        (x, order) in sentence_and_order(),
        block in block(),
    ) {
        let last = x.nrows() - 1;
        let blocks = [block];
        let out = stack(&blocks, &x, Mask::Causal);
        let order = prefix_order(&order, last);
        let shuffled = stack(&blocks, &x.select(Axis(0), &order), Mask::Causal);
        assert_equal_to_rounding(out.slice(s![last.., ..]), shuffled.slice(s![last.., ..]));
    }

    #[test]
    fn equal_tokens_without_a_start_token_all_come_out_equal(
        token in matrix(1, 4, 3.0),
        seq_len in 1..12_usize,
        blocks in prop::collection::vec(block(), 1..5),
    ) {
        let x = token.broadcast((seq_len, 4)).expect("one row, repeated").to_owned();
        let out = stack(&blocks, &x, Mask::Causal);
        let first = out.slice(s![..1, ..]);
        assert_equal_to_rounding(out.view(), first.broadcast((seq_len, 4)).expect("one row, repeated"));
    }

    #[test]
    fn a_bias_in_the_unsigned_distance_cannot_tell_a_middle_from_its_mirror_image(
        x in (0..4_usize).prop_flat_map(|half| matrix(2 * half + 1, 4, 3.0)),
        by_distance in prop::collection::vec(-3.0..3.0, 7),
    ) {
        let bias = Array2::from_shape_fn((x.nrows(), x.nrows()), |(query, key)| {
            by_distance[query.abs_diff(key)]
        });
        let middle = x.nrows() / 2;
        let read = |x: &Array2<f64>| {
            let out = attention_with_bias(x.view(), x.view(), x.view(), bias.view(), Mask::None);
            out.expect("shapes fit").slice(s![middle..=middle, ..]).to_owned()
        };
        let mirrored = x.slice(s![..;-1, ..]).to_owned();
        assert_equal_to_rounding(read(&x).view(), read(&mirrored).view());
    }
}

#[test]
fn a_recurrent_network_ends_the_two_sentences_in_two_states() {
    let state_weight = array![[0.5, -0.4], [0.3, 0.6]];
    let token_weight = array![[1.0, 0.2], [-0.5, 0.4], [0.3, 0.0], [0.1, 1.0]];
    let end = |x: &Array2<f64>| {
        read(x.view(), state_weight.view(), token_weight.view()).expect("shapes fit")
    };
    let apart = |words: usize| {
        let start = |x: Array2<f64>| x.slice(s![..words, ..]).to_owned();
        let difference = end(&start(the_dog_bit_the_man())) - end(&start(the_man_bit_the_dog()));
        difference.dot(&difference).sqrt()
    };
    // One word in, the states are the same; two words in they have parted; they end apart.
    assert_eq!(apart(1), 0.0);
    assert!(apart(2) > 0.2);
    assert!(apart(5) > 0.2);
}

#[test]
fn the_causal_mask_breaks_the_symmetry() {
    let first = plain(&the_dog_bit_the_man(), Mask::Causal);
    let second = plain(&the_man_bit_the_dog(), Mask::Causal);
    let permuted = first.select(Axis(0), &[0, 4, 2, 3, 1]);
    assert!(largest_difference(permuted.view(), second.view()) > 0.1);
}

#[test]
fn two_causal_layers_see_the_order_of_the_prefix() {
    let full_stop = |words: Array2<f64>, layers: usize, mask: Mask| {
        let mut x = concatenate![Axis(0), words, array![STOP]];
        for _ in 0..layers {
            x = &x + &plain(&x, mask);
        }
        x.slice(s![5.., ..]).to_owned()
    };
    let apart = |layers, mask| {
        largest_difference(
            full_stop(the_dog_bit_the_man(), layers, mask).view(),
            full_stop(the_man_bit_the_dog(), layers, mask).view(),
        )
    };
    assert!(apart(1, Mask::Causal) < 1e-14);
    assert!(apart(2, Mask::Causal) > 0.05);
    assert!(apart(2, Mask::None) < 1e-14);
}

#[test]
fn two_uniform_causal_layers_weigh_early_tokens_most() {
    // Zero scores, and values that mark each token: the output's columns are the tokens' weights.
    let seq_len = 12;
    let nothing = Array2::zeros((seq_len, 1));
    let average = |x: &Array2<f64>| {
        attention(nothing.view(), nothing.view(), x.view(), Mask::Causal).expect("shapes fit")
    };
    let once = average(&Array2::eye(seq_len));
    let twice = average(&once);
    for token in 0..seq_len {
        assert_relative_eq!(once[[11, token]], 1.0 / 12.0, max_relative = 1e-14);
        let later: f64 = (token + 1..=seq_len).map(|t| 1.0 / t as f64).sum();
        assert_relative_eq!(twice[[11, token]], later / 12.0, max_relative = 1e-14);
    }
}

#[test]
fn uniform_attention_onto_a_start_token_reads_one_over_the_count() {
    let nothing = Array2::zeros((1000, 1));
    let mut is_start = Array2::zeros((1000, 1));
    is_start[[0, 0]] = 1.0;
    let out = attention(
        nothing.view(),
        nothing.view(),
        is_start.view(),
        Mask::Causal,
    );
    for (row, read) in out.expect("shapes fit").iter().enumerate() {
        // No tolerance: the exponentials are 1, their sum a whole number, the division rounded once.
        assert_eq!(*read, 1.0 / (row + 1) as f64);
    }
}

#[test]
fn a_signal_at_any_of_the_three_places_tells_the_sentences_apart() {
    let at_the_input = |x: &Array2<f64>| {
        let mut x = x.clone();
        for (position, mut row) in x.rows_mut().into_iter().enumerate() {
            row[0] += 0.5 * position as f64;
        }
        plain(&x, Mask::None)
    };
    let at_query_and_key = |x: &Array2<f64>| {
        let mut turned = x.clone();
        for (position, mut row) in turned.rows_mut().into_iter().enumerate() {
            let (sin, cos) = (position as f64).sin_cos();
            (row[0], row[1]) = (row[0] * cos - row[1] * sin, row[0] * sin + row[1] * cos);
        }
        attention(turned.view(), turned.view(), x.view(), Mask::None).expect("shapes fit")
    };
    let at_the_score = |x: &Array2<f64>| {
        let bias = Array2::from_shape_fn((5, 5), |(query, key)| -(query.abs_diff(key) as f64));
        attention_with_bias(x.view(), x.view(), x.view(), bias.view(), Mask::None)
            .expect("shapes fit")
    };
    type Scheme = fn(&Array2<f64>) -> Array2<f64>;
    let schemes: [Scheme; 3] = [at_the_input, at_query_and_key, at_the_score];
    for scheme in schemes {
        let first = scheme(&the_dog_bit_the_man());
        let second = scheme(&the_man_bit_the_dog());
        // The verb stands in the middle of both, with the same words around it.
        let verb = s![2..3, ..];
        assert!(largest_difference(first.slice(verb), second.slice(verb)) > 0.01);
    }
}

#[test]
fn a_bias_that_knows_the_side_tells_a_sentence_from_its_mirror_image() {
    let bias = Array2::from_shape_fn((3, 3), |(query, key)| if key < query { -1.0 } else { 0.0 });
    let verb = |x: Array2<f64>| {
        let out = attention_with_bias(x.view(), x.view(), x.view(), bias.view(), Mask::None);
        out.expect("shapes fit").slice(s![1..2, ..]).to_owned()
    };
    let first = verb(array![DOG, BIT, MAN]);
    let second = verb(array![MAN, BIT, DOG]);
    assert!(largest_difference(first.view(), second.view()) > 0.05);
}
