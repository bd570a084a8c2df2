//! Solutions of the exercises of chapter 1.

use ndarray::{Array1, Array2, ArrayView2, Axis, array, s};
use positional_encoding::attention::{Mask, attention};

fn close(a: ArrayView2<f64>, b: ArrayView2<f64>) -> bool {
    // Sums of a few numbers near 1, in another order.
    a.dim() == b.dim() && (&a - &b).iter().all(|difference| difference.abs() < 1e-12)
}

#[test]
fn who_bit_whom() {
    // ANCHOR: who_bit_whom
    let the = [0.1, 0.2, 0.1, 0.0];
    let dog = [0.9, 0.1, 0.0, 0.3];
    let bit = [0.0, 0.8, 0.5, 0.1];
    let man = [0.8, 0.0, 0.2, 0.7];
    let x = array![man, the, bit, dog, the];
    let out = attention(x.view(), x.view(), x.view(), Mask::None);

    let predicted = array![
        [0.4681, 0.2205, 0.1693, 0.2802], // man
        [0.3784, 0.2664, 0.1841, 0.2205], // the
        [0.3444, 0.3041, 0.2062, 0.2082], // bit
        [0.4581, 0.2249, 0.1669, 0.2671], // dog
        [0.3784, 0.2664, 0.1841, 0.2205], // the
    ];
    let surprise = out.expect("shapes fit") - predicted;
    assert!(surprise.iter().all(|entry| entry.abs() < 0.5e-4));
    // ANCHOR_END: who_bit_whom
}

// ANCHOR: layers
fn subtract_the_mean(x: &Array2<f64>) -> Array2<f64> {
    let mean = x.sum_axis(Axis(0)) / x.nrows() as f64;
    x - &mean
}

fn running_sum(x: &Array2<f64>) -> Array2<f64> {
    let mut sum = Array1::zeros(x.ncols());
    let mut out = x.clone();
    for mut token in out.rows_mut() {
        sum += &token;
        token.assign(&sum);
    }
    out
}

fn sort_by_first_entry(x: &Array2<f64>) -> Array2<f64> {
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    order.sort_by(|&a, &b| x[[a, 0]].total_cmp(&x[[b, 0]]));
    x.select(Axis(0), &order)
}

fn multiply_by_own_length(x: &Array2<f64>) -> Array2<f64> {
    let mut out = x.clone();
    for mut token in out.rows_mut() {
        let length = token.dot(&token).sqrt();
        token *= length;
    }
    out
}

fn silence_the_first(x: &Array2<f64>) -> Array2<f64> {
    let mut out = x.clone();
    out.row_mut(0).fill(0.0);
    out
}
// ANCHOR_END: layers

// ANCHOR: is_equivariant
type Layer = fn(&Array2<f64>) -> Array2<f64>;

fn is_equivariant(layer: Layer, x: &Array2<f64>, order: &[usize]) -> bool {
    let shuffled_first = layer(&x.select(Axis(0), order));
    let shuffled_last = layer(x).select(Axis(0), order);
    close(shuffled_first.view(), shuffled_last.view())
}
// ANCHOR_END: is_equivariant

#[test]
fn find_the_leaks() {
    // ANCHOR: find_the_leaks
    let x = array![[3.0, 1.0], [1.0, 2.0], [2.0, 5.0]];
    let order = [2, 0, 1];
    assert!(is_equivariant(subtract_the_mean, &x, &order));
    assert!(!is_equivariant(running_sum, &x, &order));
    assert!(!is_equivariant(sort_by_first_entry, &x, &order));
    assert!(is_equivariant(multiply_by_own_length, &x, &order));
    assert!(!is_equivariant(silence_the_first, &x, &order));

    // Sorting is the odd one out: it is invariant, where the others see order.
    let sorted = sort_by_first_entry(&x);
    assert_eq!(sorted, sort_by_first_entry(&x.select(Axis(0), &order)));
    // ANCHOR_END: find_the_leaks
}

// ANCHOR: count
fn count(read: f64) -> usize {
    (1.0 / read).round() as usize
}
// ANCHOR_END: count

#[test]
fn read_the_count() {
    // ANCHOR: read_the_count
    assert!((1..=1_000_000).all(|tokens| count(1.0 / tokens as f64) == tokens));

    let merged = |tokens: &u32| 1.0 / *tokens as f32 == 1.0 / (*tokens + 1) as f32;
    assert_eq!((1..20_000_000).find(merged), Some(11_864_338));
    // ANCHOR_END: read_the_count
}

// ANCHOR: one_token_at_a_time
fn write(x: ArrayView2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros(x.dim());
    for newest in 0..x.nrows() {
        let query = x.slice(s![newest..=newest, ..]);
        let kept = x.slice(s![..=newest, ..]);
        let row = attention(query, kept, kept, Mask::None).expect("shapes fit");
        out.row_mut(newest).assign(&row.row(0));
    }
    out
}
// ANCHOR_END: one_token_at_a_time

#[test]
fn one_token_at_a_time() {
    let x = array![
        [0.1, 0.2, 0.1, 0.0],
        [0.9, 0.1, 0.0, 0.3],
        [0.0, 0.8, 0.5, 0.1],
        [0.8, 0.0, 0.2, 0.7],
    ];
    let at_once = attention(x.view(), x.view(), x.view(), Mask::Causal).expect("shapes fit");
    assert!(close(write(x.view()).view(), at_once.view()));
}
