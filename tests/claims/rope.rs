use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array1, Array2, Array3, Axis, Slice, concatenate};
use positional_encoding::Error;
use positional_encoding::attention::{Mask, attention};
use positional_encoding::rope::{
    Heads, Layout, Table, apply, convert_bias, convert_weight, decay_bound, inv_freq, lanes,
    mean_cosine, positions_from_mask, proportional_inv_freq, rotate, rotate_axes, rotate_pair,
    shift, shift_cache,
};

use proptest::prelude::*;

const BASE: f64 = 10_000.0;
const LAYOUTS: [Layout; 2] = [Layout::Interleaved, Layout::Half];

fn ladder(rotary_dim: usize) -> Vec<f64> {
    inv_freq(rotary_dim, BASE).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn rotated(x: &[f64], position: usize, inv_freq: &[f64], layout: Layout) -> Vec<f64> {
    let mut x = x.to_vec();
    rotate(&mut x, position, inv_freq, layout).unwrap();
    x
}

fn shifted(x: &[f64], offset: i64, inv_freq: &[f64], layout: Layout) -> Vec<f64> {
    let mut x = x.to_vec();
    shift(&mut x, offset, inv_freq, layout).unwrap();
    x
}

/// The score, without the division by `√head_dim`, of a query at `m` and a key at `n`.
fn score(q: &[f64], m: usize, k: &[f64], n: usize, layout: Layout) -> f64 {
    let inv_freq = ladder(q.len());
    let (q, k) = (
        rotated(q, m, &inv_freq, layout),
        rotated(k, n, &inv_freq, layout),
    );
    dot(&q, &k)
}

fn moved(x: &[f64], from: Layout, to: Layout) -> Vec<f64> {
    let lanes = lanes(from, to, x.len()).unwrap();
    lanes.into_iter().map(|lane| x[lane]).collect()
}

/// What rounding may do to a score of vectors as long as these, at positions up to `position`.
///
/// Frequencies are at most 1, so an angle is rounded by at most `position · 2^-53`, and the score
/// changes by no more than that per radian, times the norms. Four such roundings and a few of
/// the sum.
fn rounding(q: &[f64], k: &[f64], position: usize) -> f64 {
    4.0 * (position as f64 + 8.0 + q.len() as f64) * f64::EPSILON * (norm(q) * norm(k) + 1.0)
}

/// A number between −1 and 1 with no structure but that of its seed.
fn arbitrary(seed: usize) -> f64 {
    (12.9898 * (seed as f64 + 1.0)).sin()
}

fn arbitrary_heads(seq_len: usize, heads: usize, head_dim: usize, seed: usize) -> Array3<f64> {
    Array3::from_shape_fn((seq_len, heads, head_dim), |(s, h, j)| {
        arbitrary(seed + 7 * s + 131 * h + 1009 * j)
    })
}

fn largest_difference(a: &Array3<f64>, b: &Array3<f64>) -> f64 {
    (a - b).iter().fold(0.0, |largest, x| x.abs().max(largest))
}

fn rows(x: &Array3<f64>, from: usize, to: usize) -> Array3<f64> {
    x.slice_axis(Axis(0), Slice::from(from..to)).to_owned()
}

prop_compose! {
    fn layout()(half: bool) -> Layout {
        if half { Layout::Half } else { Layout::Interleaved }
    }
}

prop_compose! {
    /// A query and a key of the same even width.
    fn query_and_key()(pairs in 1usize..33)(
        q in prop::collection::vec(-5.0..5.0, 2 * pairs),
        k in prop::collection::vec(-5.0..5.0, 2 * pairs),
    ) -> (Vec<f64>, Vec<f64>) {
        (q, k)
    }
}

// One pair

proptest! {
    #[test]
    fn turning_both_vectors_of_a_pair_leaves_only_the_angle_between(
        q in prop::array::uniform2(-5.0..5.0),
        k in prop::array::uniform2(-5.0..5.0),
        m in 0u16..2000,
        n in 0u16..2000,
        frequency in 0.0..1.0,
    ) {
        let (m, n) = (f64::from(m), f64::from(n));
        let both = dot(&rotate_pair(q, m * frequency), &rotate_pair(k, n * frequency));
        let one = dot(&q, &rotate_pair(k, (n - m) * frequency));
        prop_assert!((both - one).abs() < rounding(&q, &k, 2000));
    }
}

#[test]
fn equal_offsets_give_equal_products_up_to_the_last_digits() {
    let product = |m: f64, n: f64| {
        let (q, k) = ([2.0, 1.0], [1.0, 2.0]);
        dot(&rotate_pair(q, m * 0.25), &rotate_pair(k, n * 0.25))
    };
    let products = [product(0.0, 3.0), product(5.0, 8.0), product(105.0, 108.0)];
    assert!(products[0] != products[1] && products[0] != products[2]);
    for product in products {
        // 4 and 3 are the dot product of the two at offset zero and at a quarter of a turn.
        assert_abs_diff_eq!(
            product,
            4.0 * 0.75f64.cos() - 3.0 * 0.75f64.sin(),
            epsilon = 1e-12
        );
    }
}

#[test]
fn a_rotation_undone_and_another_done_are_the_rotation_by_the_difference() {
    // The columns of R(m) are the rotated unit vectors, so R(m)ᵀ R(n) is made of dot products.
    let inv_freq = ladder(8);
    let unit = |j: usize| -> Vec<f64> { (0..8).map(|i| f64::from(u8::from(i == j))).collect() };
    for layout in LAYOUTS {
        for (m, n) in [(0, 5), (3, 1), (40, 1000)] {
            for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
                let product = dot(
                    &rotated(&unit(i), m, &inv_freq, layout),
                    &rotated(&unit(j), n, &inv_freq, layout),
                );
                let by_offset = shifted(&unit(j), n as i64 - m as i64, &inv_freq, layout)[i];
                assert_abs_diff_eq!(product, by_offset, epsilon = 1e-12);
            }
        }
    }
}

// All pairs

proptest! {
    #[test]
    fn the_score_stays_when_query_and_key_move_together(
        (q, k) in query_and_key(),
        m in 0usize..1000,
        n in 0usize..1000,
        start in 0usize..100_000,
        layout in layout(),
    ) {
        let here = score(&q, m, &k, n, layout);
        let there = score(&q, start + m, &k, start + n, layout);
        prop_assert!((here - there).abs() < rounding(&q, &k, start + 1000));
    }

    #[test]
    fn the_score_is_that_of_the_key_turned_by_the_offset(
        (q, k) in query_and_key(),
        m in 0usize..5000,
        n in 0usize..5000,
        layout in layout(),
    ) {
        let by_offset = dot(&q, &shifted(&k, n as i64 - m as i64, &ladder(k.len()), layout));
        let difference = score(&q, m, &k, n, layout) - by_offset;
        prop_assert!(difference.abs() < rounding(&q, &k, 5000));
    }

    #[test]
    fn a_rotation_keeps_the_norm(
        (q, _) in query_and_key(),
        position in 0usize..1_000_000,
        layout in layout(),
    ) {
        let after = rotated(&q, position, &ladder(q.len()), layout);
        // cos² + sin² is 1 to a rounding or two, however wrong the angle.
        prop_assert!((norm(&after) - norm(&q)).abs() <= 1e-14 * norm(&q));
    }

    #[test]
    fn position_zero_is_not_rotated((q, _) in query_and_key(), layout in layout()) {
        prop_assert_eq!(rotated(&q, 0, &ladder(q.len()), layout), q);
    }
}

#[test]
fn the_score_depends_on_the_contents_as_well_as_the_offset() {
    let (q, k, other) = (
        [1.0, 2.0, 3.0, 4.0],
        [0.5, -1.0, 2.0, 1.0],
        [4.0, 3.0, 2.0, 1.0],
    );
    for layout in LAYOUTS {
        assert!((score(&q, 3, &k, 1, layout) - score(&q, 3, &other, 1, layout)).abs() > 1.0);
    }
}

#[test]
fn a_rotated_score_can_tell_before_from_after() {
    let (q, k) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
    for layout in LAYOUTS {
        let (before, after) = (score(&q, 5, &k, 3, layout), score(&q, 3, &k, 5, layout));
        assert!((before - after).abs() > 1.0, "{before} {after}");
    }
}

#[test]
fn stamps_that_are_added_make_the_score_depend_on_the_place() {
    use positional_encoding::sinusoidal::encoding;
    let (q, k) = (
        Array1::from_shape_fn(8, arbitrary),
        Array1::from_shape_fn(8, |j| arbitrary(j + 8)),
    );
    let added = |m, n| (&q + &encoding(m, 8).unwrap()).dot(&(&k + &encoding(n, 8).unwrap()));
    assert!((added(2, 1) - added(12, 11)).abs() > 0.1);
    let q = q.to_vec();
    let k = k.to_vec();
    let difference = score(&q, 2, &k, 1, Layout::Half) - score(&q, 12, &k, 11, Layout::Half);
    assert_abs_diff_eq!(difference, 0.0, epsilon = rounding(&q, &k, 12));
}

#[test]
fn a_batch_turns_every_head_of_a_token_by_the_position_of_the_token() {
    // Two heads, three positions: a rotation along the wrong axis would show.
    for layout in LAYOUTS {
        let before = arbitrary_heads(3, 2, 8, 1);
        let mut after = before.clone();
        apply(&mut after, &[4, 0, 9], &ladder(8), layout).unwrap();
        for (s, position) in [4, 0, 9].into_iter().enumerate() {
            for h in 0..2 {
                let head = before.index_axis(Axis(0), s).row(h).to_vec();
                let expected = rotated(&head, position, &ladder(8), layout);
                let got = after.index_axis(Axis(0), s).row(h).to_vec();
                assert_relative_eq!(got[..], expected[..], max_relative = 1e-14);
            }
        }
    }
}

#[test]
fn the_rotations_have_the_reference_values() {
    let one_to = |last: u8| -> Vec<f64> { (1..=last).map(f64::from).collect() };
    let interleaved = rotated(&one_to(4), 1, &ladder(4), Layout::Interleaved);
    let half = rotated(&one_to(4), 1, &ladder(4), Layout::Half);
    let wider = rotated(&one_to(8), 5, &ladder(8), Layout::Half);
    assert_relative_eq!(
        interleaved[..],
        [
            -1.1426396637476532,
            1.922075596544176,
            2.9598506679133294,
            4.029799501669161
        ],
        max_relative = 1e-12
    );
    assert_relative_eq!(
        half[..],
        [
            -1.9841106485555495,
            1.959900667496664,
            2.4623779024123156,
            4.019799668334994
        ],
        max_relative = 1e-12
    );
    assert_relative_eq!(
        wider[..],
        [
            5.078283558778919,
            -1.1213881078444725,
            2.646396596290151,
            3.959950166770625,
            0.4593866526529927,
            6.224346448550643,
            7.141189330576799,
            8.019899916875104
        ],
        max_relative = 1e-12
    );
}

/// One head of attention over tokens that start at `start`, with the values rotated or not.
fn attend(start: usize, mask: Mask, rotate_values: bool) -> Array2<f64> {
    let positions: Vec<usize> = (start..start + 5).collect();
    let [mut q, mut k, mut v] = [1, 2, 3].map(|seed| arbitrary_heads(5, 1, 8, 40 * seed));
    apply(&mut q, &positions, &ladder(8), Layout::Half).unwrap();
    apply(&mut k, &positions, &ladder(8), Layout::Half).unwrap();
    if rotate_values {
        apply(&mut v, &positions, &ladder(8), Layout::Half).unwrap();
    }
    let head = |x: &Array3<f64>| x.index_axis(Axis(1), 0).to_owned();
    attention(head(&q).view(), head(&k).view(), head(&v).view(), mask).unwrap()
}

#[test]
fn attention_does_not_notice_where_the_text_starts() {
    for mask in [Mask::None, Mask::Causal] {
        let difference = attend(0, mask, false) - attend(1000, mask, false);
        // Angles near 1000 radians are rounded at 1e-13.
        assert!(difference.iter().all(|x| x.abs() < 1e-11));
    }
}

#[test]
fn rotated_values_would_carry_the_start_into_the_output() {
    let difference = attend(0, Mask::Causal, true) - attend(1000, Mask::Causal, true);
    assert!(difference.iter().any(|x| x.abs() > 0.1));
}

#[test]
fn some_pairs_never_complete_a_turn_within_the_trained_length() {
    let wavelength = |frequency: &&f64| std::f64::consts::TAU / **frequency > 4096.0;
    assert_eq!(ladder(128).iter().filter(wavelength).count(), 18);
}

// Layouts

proptest! {
    #[test]
    fn the_layouts_are_the_same_rotation_up_to_a_permutation(
        (q, k) in query_and_key(),
        m in 0usize..5000,
        n in 0usize..5000,
    ) {
        use Layout::{Half, Interleaved};
        let (q_half, k_half) = (moved(&q, Interleaved, Half), moved(&k, Interleaved, Half));
        // The very same multiplications, at other places: equal to the last bit.
        prop_assert_eq!(
            rotated(&q_half, m, &ladder(q.len()), Half),
            moved(&rotated(&q, m, &ladder(q.len()), Interleaved), Interleaved, Half)
        );
        // The scores add the same products in another order.
        let difference = score(&q_half, m, &k_half, n, Half) - score(&q, m, &k, n, Interleaved);
        prop_assert!(difference.abs() < rounding(&q, &k, 0));
    }

    #[test]
    fn moving_to_the_other_layout_and_back_changes_nothing((q, _) in query_and_key()) {
        for (from, to) in [(Layout::Half, Layout::Interleaved), (Layout::Interleaved, Layout::Half)] {
            prop_assert_eq!(&moved(&moved(&q, from, to), to, from), &q);
            prop_assert_eq!(&moved(&q, from, from), &q);
        }
    }
}

#[test]
fn the_same_vectors_score_differently_in_the_two_layouts_except_at_offset_zero() {
    let (q, k) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
    for (m, n) in [(3, 1), (5, 3), (12, 10)] {
        let interleaved = score(&q, m, &k, n, Layout::Interleaved);
        let half = score(&q, m, &k, n, Layout::Half);
        assert_relative_eq!(interleaved, 8.70363213, max_relative = 1e-8);
        assert_relative_eq!(half, -0.13071371, max_relative = 1e-7);
    }
    for position in [0, 5, 7] {
        for layout in LAYOUTS {
            let score = score(&q, position, &k, position, layout);
            assert_relative_eq!(score, dot(&q, &k), max_relative = 1e-14);
        }
    }
}

// ANCHOR: mixed
/// Angles laid out for neighbours, entries paired by halves: what the crate refuses to do.
fn angles_of_neighbours_pairs_of_halves(x: [f64; 4], position: usize) -> [f64; 4] {
    let angles = [1.0, 1.0, 0.01, 0.01].map(|w| w * position as f64);
    let partners = [-x[2], -x[3], x[0], x[1]];
    std::array::from_fn(|j| x[j] * angles[j].cos() + partners[j] * angles[j].sin())
}
// ANCHOR_END: mixed

/// The same mistake the other way round.
fn angles_of_halves_pairs_of_neighbours(x: [f64; 4], position: usize) -> [f64; 4] {
    let angles = [1.0, 0.01, 1.0, 0.01].map(|w| w * position as f64);
    let partners = [-x[1], x[0], -x[3], x[2]];
    std::array::from_fn(|j| x[j] * angles[j].cos() + partners[j] * angles[j].sin())
}

#[test]
fn a_mix_of_the_layouts_changes_the_norm() {
    let x = [1.0, 2.0, 3.0, 4.0];
    let mixes = [
        angles_of_neighbours_pairs_of_halves(x, 1),
        angles_of_halves_pairs_of_neighbours(x, 1),
    ];
    let known = [
        [-1.98411065, -2.28527933, 3.00984983, 4.01979967],
        [-1.14263966, 2.00989983, -1.74497702, 4.0297995],
    ];
    for (mix, known) in mixes.iter().zip(known) {
        assert_relative_eq!(mix[..], known[..], max_relative = 1e-8);
        assert!((norm(mix) - norm(&x)).abs() > 0.3);
        for layout in LAYOUTS {
            assert_ne!(mix[..], rotated(&x, 1, &ladder(4), layout));
        }
    }
    assert_abs_diff_eq!(norm(&mixes[0]), 5.8632, epsilon = 1e-4);
    assert_abs_diff_eq!(norm(&x), 5.4772, epsilon = 1e-4);
}

#[test]
fn a_mix_of_the_layouts_makes_the_score_depend_on_the_place() {
    let (q, k) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
    for (m, n, known) in [(3, 1, 15.6021836), (5, 3, 11.3868906), (12, 10, 17.0322341)] {
        let mixed = dot(
            &angles_of_neighbours_pairs_of_halves(q, m),
            &angles_of_neighbours_pairs_of_halves(k, n),
        );
        assert_relative_eq!(mixed, known, max_relative = 1e-8);
    }
}

#[test]
fn position_zero_hides_a_mix_of_the_layouts() {
    let x = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(angles_of_neighbours_pairs_of_halves(x, 0), x);
    assert_eq!(angles_of_halves_pairs_of_neighbours(x, 0), x);
}

// Checkpoints

/// A layer with grouped-query attention: eight query heads share two key heads.
struct Layer {
    query_weight: Array2<f64>,
    query_bias: Array1<f64>,
    key_weight: Array2<f64>,
    key_bias: Array1<f64>,
}

const QUERY_HEADS: Heads = Heads {
    count: 8,
    head_dim: 6,
    rotary_dim: 4,
};
const KEY_HEADS: Heads = Heads {
    count: 2,
    ..QUERY_HEADS
};

impl Layer {
    fn interleaved() -> Layer {
        let weight = |rows: usize, seed: usize| {
            Array2::from_shape_fn((rows, 5), |(i, j)| arbitrary(seed + 31 * i + 577 * j))
        };
        let bias = |rows: usize, seed: usize| Array1::from_shape_fn(rows, |i| arbitrary(seed + i));
        Layer {
            query_weight: weight(48, 3),
            query_bias: bias(48, 1000),
            key_weight: weight(12, 4),
            key_bias: bias(12, 2000),
        }
    }

    fn converted(&self) -> Layer {
        let (from, to) = (Layout::Interleaved, Layout::Half);
        Layer {
            query_weight: convert_weight(self.query_weight.view(), &QUERY_HEADS, from, to).unwrap(),
            query_bias: convert_bias(self.query_bias.view(), &QUERY_HEADS, from, to).unwrap(),
            key_weight: convert_weight(self.key_weight.view(), &KEY_HEADS, from, to).unwrap(),
            key_bias: convert_bias(self.key_bias.view(), &KEY_HEADS, from, to).unwrap(),
        }
    }

    /// All scores, shape `(query heads, query positions, key positions)`.
    fn scores(&self, positions: &[usize], inv_freq: &[f64], layout: Layout) -> Array3<f64> {
        let x = Array2::from_shape_fn((positions.len(), 5), |(s, j)| arbitrary(70 + 5 * s + j));
        let project = |weight: &Array2<f64>, bias: &Array1<f64>| {
            let rows = x.dot(&weight.t()) + bias;
            let shape = (positions.len(), weight.nrows() / 6, 6);
            let mut heads = rows.into_shape_with_order(shape).unwrap();
            apply(&mut heads, positions, inv_freq, layout).unwrap();
            heads
        };
        let queries = project(&self.query_weight, &self.query_bias);
        let keys = project(&self.key_weight, &self.key_bias);
        let shape = (8, positions.len(), positions.len());
        Array3::from_shape_fn(shape, |(head, m, n)| {
            let query = queries.index_axis(Axis(0), m).row(head).to_owned();
            query.dot(&keys.index_axis(Axis(0), n).row(head / 4))
        })
    }
}

const PLACES: [usize; 4] = [1, 2, 7, 30];

#[test]
fn a_converted_layer_gives_every_score_it_gave_before() {
    let layer = Layer::interleaved();
    let before = layer.scores(&PLACES, &ladder(4), Layout::Interleaved);
    let after = layer.converted().scores(&PLACES, &ladder(4), Layout::Half);
    // The same products in another order, each of a few units.
    assert!(largest_difference(&before, &after) < 1e-13);
    let unconverted = layer.scores(&PLACES, &ladder(4), Layout::Half);
    assert!(largest_difference(&before, &unconverted) > 0.1);
}

#[test]
fn biases_have_to_be_converted_too() {
    let layer = Layer::interleaved();
    let forgotten = Layer {
        query_bias: layer.query_bias.clone(),
        key_bias: layer.key_bias.clone(),
        ..layer.converted()
    };
    let before = layer.scores(&PLACES, &ladder(4), Layout::Interleaved);
    let after = forgotten.scores(&PLACES, &ladder(4), Layout::Half);
    assert!(largest_difference(&before, &after) > 0.1);
}

#[test]
fn a_layer_without_positions_hides_a_wrong_permutation() {
    // Frequency zero is a layer without positions. The "conversion" is not needed, yet harmless.
    let layer = Layer::interleaved();
    let before = layer.scores(&PLACES, &[0.0, 0.0], Layout::Half);
    let after = layer.converted().scores(&PLACES, &[0.0, 0.0], Layout::Half);
    assert!(largest_difference(&before, &after) < 1e-13);
}

#[test]
fn the_wrong_number_of_heads_is_an_error() {
    let layer = Layer::interleaved();
    let (from, to) = (Layout::Half, Layout::Interleaved);
    let weight = convert_weight(layer.key_weight.view(), &QUERY_HEADS, from, to);
    let bias = convert_bias(layer.key_bias.view(), &QUERY_HEADS, from, to);
    assert!(
        matches!(weight, Err(Error::Shape { name: "weight", ref given, .. }) if given == &[12, 5])
    );
    assert!(matches!(bias, Err(Error::Shape { name: "bias", ref given, .. }) if given == &[12]));
    let message = weight.unwrap_err().to_string();
    assert!(message.contains("key-value heads"), "{message}");
    // More that turns than there is, and more rows than can be counted.
    for heads in [
        Heads {
            rotary_dim: 8,
            ..KEY_HEADS
        },
        Heads {
            count: usize::MAX,
            ..KEY_HEADS
        },
    ] {
        assert!(matches!(
            heads.row_order(from, to),
            Err(Error::Parameter { .. })
        ));
    }
}

// Decay

proptest! {
    #[test]
    fn a_key_can_be_found_that_scores_highest_at_any_distance(
        (q, _) in query_and_key(),
        wanted in 0i64..5000,
        elsewhere in 0usize..5000,
        layout in layout(),
    ) {
        let k = shifted(&q, wanted, &ladder(q.len()), layout);
        let there = dot(&rotated(&q, wanted as usize, &ladder(q.len()), layout), &k);
        let other = dot(&rotated(&q, elsewhere, &ladder(q.len()), layout), &k);
        // No two vectors of these norms have a larger product.
        prop_assert!((there - norm(&q) * norm(&k)).abs() < rounding(&q, &k, 5000));
        prop_assert!(other <= there + rounding(&q, &k, 5000));
    }

    #[test]
    fn random_keys_score_zero_on_average_at_every_distance(
        q in prop::array::uniform8(-5.0..5.0),
        distance in 0usize..5000,
        layout in layout(),
    ) {
        // Instead of drawing keys: every pattern of signs once, as a symmetric draw would have it.
        let keys = (0..256u32).map(|signs| -> Vec<f64> {
            (0..8).map(|j| if signs >> j & 1 == 1 { 1.5 } else { -1.5 }).collect()
        });
        let total: f64 = keys.map(|k| score(&q, distance, &k, 0, layout)).sum();
        prop_assert!((total / 256.0).abs() < rounding(&q, &[1.5; 8], 0));
    }

    #[test]
    fn equal_query_and_key_score_highest_at_offset_zero_and_alike_on_both_sides(
        (q, _) in query_and_key(),
        offset in 0i64..5000,
        layout in layout(),
    ) {
        let at = |offset| dot(&q, &shifted(&q, offset, &ladder(q.len()), layout));
        prop_assert!(at(offset) <= at(0) + rounding(&q, &q, 0));
        prop_assert!((at(offset) - at(-offset)).abs() < rounding(&q, &q, 0));
    }

    #[test]
    fn the_score_of_a_vector_with_equal_energy_in_every_pair_is_the_mean_cosine(
        angles in prop::collection::vec(0.0..std::f64::consts::TAU, 1usize..33),
        offset in -5000i64..5000,
        layout in layout(),
    ) {
        let mut q = vec![0.0; 2 * angles.len()];
        for (i, angle) in angles.iter().enumerate() {
            let [a, b] = layout.pair(i, angles.len());
            (q[b], q[a]) = f64::sin_cos(*angle);
        }
        let inv_freq = ladder(q.len());
        let part = dot(&q, &shifted(&q, offset, &inv_freq, layout)) / dot(&q, &q);
        prop_assert!((part - mean_cosine(offset, &inv_freq)).abs() < 1e-12);
    }

    #[test]
    fn the_papers_bound_holds(
        (q, k) in query_and_key(),
        offset in 0i64..5000,
    ) {
        let (layout, inv_freq) = (Layout::Interleaved, ladder(q.len()));
        // Each pair as a complex number; h is q times the conjugate of k, and 0 past the end.
        let mut h: Vec<[f64; 2]> = q.chunks(2).zip(k.chunks(2))
            .map(|(q, k)| [q[0] * k[0] + q[1] * k[1], q[1] * k[0] - q[0] * k[1]])
            .collect();
        h.push([0.0, 0.0]);
        let step = h.windows(2).map(|h| f64::hypot(h[1][0] - h[0][0], h[1][1] - h[0][1]));
        let bound = step.fold(0.0, f64::max) * inv_freq.len() as f64 * decay_bound(offset, &inv_freq);
        let score = dot(&shifted(&q, offset, &inv_freq, layout), &k);
        prop_assert!(score.abs() <= bound + rounding(&q, &k, 0));
    }
}

#[test]
fn the_bound_never_says_more_than_the_product_of_the_norms() {
    // Equal energy in every pair: the largest step of h is the last one, from 1 to 0.
    let inv_freq = ladder(128);
    let norms = inv_freq.len() as f64;
    for offset in 0..=4096 {
        assert!(inv_freq.len() as f64 * decay_bound(offset, &inv_freq) > 2.0 * norms);
    }
    assert!(decay_bound(4096, &inv_freq) < 0.2 * decay_bound(0, &inv_freq));
}

#[test]
fn the_mean_cosine_has_the_printed_values() {
    let offsets = [1, 2, 8, 16, 32, 128, 256, 512, 1024, 2048, 4096];
    for (width, known) in [
        (
            64,
            [
                0.9662, 0.8845, 0.7004, 0.6054, 0.6111, 0.2839, 0.3537, 0.1854, 0.2629, -0.0397,
                0.0035,
            ],
        ),
        (
            128,
            [
                0.9702, 0.8966, 0.7144, 0.6203, 0.5575, 0.3328, 0.3207, 0.2194, 0.2044, 0.1193,
                -0.0529,
            ],
        ),
        (
            512,
            [
                0.9731, 0.9052, 0.7225, 0.6310, 0.5623, 0.4059, 0.3135, 0.2763, 0.1862, 0.0961,
                0.0492,
            ],
        ),
    ] {
        for (offset, known) in offsets.into_iter().zip(known) {
            // Half a unit of the last digit printed.
            assert_abs_diff_eq!(
                mean_cosine(offset, &ladder(width)),
                known,
                epsilon = 0.500001e-4
            );
        }
    }
}

/// The mean cosine at offsets 0 to 4096.
fn mean_cosines(width: usize) -> Vec<f64> {
    let inv_freq = ladder(width);
    (0..=4096)
        .map(|offset| mean_cosine(offset, &inv_freq))
        .collect()
}

#[test]
fn about_half_of_all_steps_of_the_mean_cosine_rise() {
    for (width, known, first) in [(64, 2026, 5), (128, 1992, 11), (512, 2018, 43)] {
        let rises: Vec<bool> = mean_cosines(width)
            .windows(2)
            .map(|m| m[1] > m[0])
            .collect();
        assert_eq!(rises.iter().filter(|&&rise| rise).count(), known);
        assert_eq!(rises.iter().position(|&rise| rise), Some(first));
    }
}

#[test]
fn the_mean_cosine_turns_negative() {
    for (width, known) in [(64, 725), (128, 1707), (512, 3284)] {
        assert_eq!(
            mean_cosines(width).iter().position(|&m| m < 0.0),
            Some(known)
        );
    }
}

// Fast and slow pairs

/// A vector with the energy of `pairs` alone, of 64 pairs in the half layout.
fn energy_in(pairs: std::ops::Range<usize>) -> Vec<f64> {
    let mut x = vec![0.0; 128];
    x[pairs].fill(1.0);
    x
}

#[test]
fn fast_pairs_can_find_the_previous_token() {
    let inv_freq = ladder(128);
    let q = energy_in(0..8);
    // A key that fits the query best when it lies one position behind.
    let k = shifted(&q, 1, &inv_freq, Layout::Half);
    let at = |distance| dot(&shifted(&q, distance, &inv_freq, Layout::Half), &k) / dot(&q, &q);
    assert_relative_eq!(at(1), 1.0, max_relative = 1e-14);
    for distance in (0..=64).filter(|&distance| distance != 1) {
        assert!(at(distance) < 0.82, "{distance}: {}", at(distance));
    }
}

#[test]
fn slow_pairs_hardly_notice_the_distance() {
    let inv_freq = ladder(128);
    let q = energy_in(56..64);
    let at = |distance| dot(&shifted(&q, distance, &inv_freq, Layout::Half), &q) / dot(&q, &q);
    for distance in 0..=256 {
        assert!(at(distance) > 0.99, "{distance}: {}", at(distance));
    }
    assert!(at(8192) < 0.5);
}

#[test]
fn entries_past_the_rotary_width_stay_as_they_are() {
    let x: Vec<f64> = (1..=8).map(f64::from).collect();
    let partial = rotated(&x, 1, &ladder(4), Layout::Half);
    assert_relative_eq!(
        partial[..],
        [
            -1.9841106485555495,
            1.959900667496664,
            2.4623779024123156,
            4.019799668334994,
            5.0,
            6.0,
            7.0,
            8.0
        ],
        max_relative = 1e-12
    );
    assert_eq!(partial[4..], x[4..]);
    // Their part of the score is the same at any distance.
    let content = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0];
    for position in [0, 1, 100, 100_000] {
        let query = rotated(&content, position, &ladder(4), Layout::Interleaved);
        assert_eq!(dot(&query, &content), 30.0);
    }
}

#[test]
fn partial_and_proportional_rotary_are_two_kinds() {
    let x: Vec<f64> = (1..=8).map(f64::from).collect();
    let proportional = proportional_inv_freq(8, 4, BASE).unwrap();
    assert_relative_eq!(proportional[..], [1.0, 0.1, 0.0, 0.0], max_relative = 1e-12);
    assert_relative_eq!(
        rotated(&x, 1, &proportional, Layout::Half)[..],
        [
            -3.667052618171343,
            1.3910078306750826,
            3.0,
            4.0,
            3.542982514148595,
            6.169691824961811,
            7.0,
            8.0
        ],
        max_relative = 1e-12
    );
    // The ladder of the whole head on the pairs of the part is neither kind.
    let neither = rotated(&x, 1, &[1.0, 0.1], Layout::Half);
    assert_relative_eq!(neither[1], 1.59067466, max_relative = 1e-8);
    assert!((neither[1] - rotated(&x, 1, &ladder(4), Layout::Half)[1]).abs() > 0.3);

    let wide = proportional_inv_freq(512, 128, 1e6).unwrap();
    assert_eq!(wide.len(), 256);
    assert_eq!(
        wide.iter().filter(|&&frequency| frequency > 0.0).count(),
        64
    );
    assert_relative_eq!(wide[63], 0.0333762469, max_relative = 1e-8);

    assert_eq!(proportional_inv_freq(8, 0, BASE).unwrap(), [0.0; 4]);
    assert_eq!(proportional_inv_freq(8, 8, BASE).unwrap(), ladder(8));
    for (head_dim, rotary_dim) in [(8, 3), (8, 10), (7, 4), (0, 0)] {
        let refused = proportional_inv_freq(head_dim, rotary_dim, BASE);
        assert!(matches!(refused, Err(Error::Parameter { .. })));
    }
}

// Cache, padding, images

proptest! {
    #[test]
    fn decoding_with_a_cache_gives_the_rows_of_the_whole(
        seq_len in 1usize..12,
        split in 0usize..12,
        layout in layout(),
    ) {
        let split = split.min(seq_len);
        let x = arbitrary_heads(seq_len, 2, 8, 17);
        let positions: Vec<usize> = (0..seq_len).collect();
        let mut whole = x.clone();
        apply(&mut whole, &positions, &ladder(8), layout).unwrap();
        let (mut cached, mut new) = (rows(&x, 0, split), rows(&x, split, seq_len));
        apply(&mut cached, &positions[..split], &ladder(8), layout).unwrap();
        apply(&mut new, &positions[split..], &ladder(8), layout).unwrap();
        prop_assert_eq!(concatenate![Axis(0), cached, new], whole);
    }

    #[test]
    fn a_cached_key_moves_by_a_rotation(
        (k, _) in query_and_key(),
        position in 0usize..10_000,
        offset in -10_000i64..10_000,
        layout in layout(),
    ) {
        let offset = offset.max(-(position as i64));
        let there = position.strict_add_signed(offset as isize);
        let inv_freq = ladder(k.len());
        let moved = shifted(&rotated(&k, position, &inv_freq, layout), offset, &inv_freq, layout);
        let fresh = rotated(&k, there, &inv_freq, layout);
        for (moved, fresh) in moved.iter().zip(fresh) {
            prop_assert!((moved - fresh).abs() < rounding(&k, &k, 20_000));
        }
    }

    #[test]
    fn in_an_image_the_score_depends_on_the_offset_along_each_axis(
        q in prop::collection::vec(-5.0..5.0, 12),
        k in prop::collection::vec(-5.0..5.0, 12),
        at in prop::array::uniform3(0usize..50),
        key_at in prop::array::uniform3(0usize..50),
        start in prop::array::uniform3(0usize..50),
        layout in layout(),
    ) {
        let inv_freq = inv_freq(4, 100.0).unwrap();
        let turned = |x: &[f64], at: &[usize]| {
            let mut x = x.to_vec();
            rotate_axes(&mut x, at, &inv_freq, layout).unwrap();
            x
        };
        let plus = |at: [usize; 3]| -> [usize; 3] { std::array::from_fn(|axis| at[axis] + start[axis]) };
        let here = dot(&turned(&q, &at), &turned(&k, &key_at));
        let there = dot(&turned(&q, &plus(at)), &turned(&k, &plus(key_at)));
        prop_assert!((here - there).abs() < rounding(&q, &k, 100));
    }
}

#[test]
fn each_axis_of_an_image_turns_its_own_block() {
    let inv_freq = ladder(4);
    let x: Vec<f64> = (1..=9).map(f64::from).collect();
    let mut patch = x.clone();
    rotate_axes(&mut patch, &[3, 7], &inv_freq, Layout::Interleaved).unwrap();
    let row = rotated(&x[..4], 3, &inv_freq, Layout::Interleaved);
    let column = rotated(&x[4..8], 7, &inv_freq, Layout::Interleaved);
    assert_eq!(patch, [row, column, vec![9.0]].concat());
}

#[test]
fn shifting_a_cache_turns_the_rotary_width_and_nothing_else() {
    let mut cache = arbitrary_heads(3, 2, 8, 5);
    let mut expected = cache.clone();
    apply(&mut cache, &[10, 11, 12], &ladder(4), Layout::Interleaved).unwrap();
    shift_cache(&mut cache, -3, &ladder(4), Layout::Interleaved).unwrap();
    apply(&mut expected, &[7, 8, 9], &ladder(4), Layout::Interleaved).unwrap();
    assert!(largest_difference(&cache, &expected) < 1e-14);

    let x = [1.0, 2.0, 3.0, 4.0];
    let back = shifted(
        &rotated(&x, 10, &ladder(4), Layout::Interleaved),
        -3,
        &ladder(4),
        Layout::Interleaved,
    );
    let known = [-0.560070943, 2.16479111, 2.71288161, 4.20003254];
    assert_relative_eq!(back[..], known[..], max_relative = 1e-8);
}

#[test]
fn a_shifted_key_already_carries_the_attention_factor() {
    // YaRN's factor for a context four times as long.
    let attention_factor = 0.1 * 4f64.ln() + 1.0;
    let scaled = |x: Vec<f64>| -> Vec<f64> { x.iter().map(|x| x * attention_factor).collect() };
    let x = [1.0, 2.0, 3.0, 4.0];
    let (inv_freq, layout) = (ladder(4), Layout::Half);
    let cached = scaled(rotated(&x, 10, &inv_freq, layout));
    let fresh = scaled(rotated(&x, 7, &inv_freq, layout));
    let moved = shifted(&cached, -3, &inv_freq, layout);
    assert_relative_eq!(moved[..], fresh[..], max_relative = 1e-13);
    let applied_again = norm(&scaled(moved)) / norm(&x);
    assert_abs_diff_eq!(attention_factor, 1.1386, epsilon = 1e-4);
    assert_abs_diff_eq!(applied_again, 1.2965, epsilon = 1e-4);
}

#[test]
fn the_inverse_of_a_rotation_is_its_gradient() {
    // d/dx of g·R(p)x is R(p)ᵀg: the shift of g back by p. A linear function's slope is exact.
    let (x, g) = ([1.0, 2.0, 3.0, 4.0], [0.3, -1.0, 0.5, 2.0]);
    for layout in LAYOUTS {
        let gradient = shifted(&g, -6, &ladder(4), layout);
        for j in 0..4 {
            let mut ahead = x;
            ahead[j] += 1.0;
            let rise = dot(&g, &rotated(&ahead, 6, &ladder(4), layout))
                - dot(&g, &rotated(&x, 6, &ladder(4), layout));
            assert_abs_diff_eq!(gradient[j], rise, epsilon = 1e-13);
        }
    }
}

#[test]
fn padding_takes_no_position() {
    assert_eq!(
        positions_from_mask(&[false, false, true, true, true])[2..],
        [0, 1, 2]
    );
    assert_eq!(positions_from_mask(&[true; 5]), [0, 1, 2, 3, 4]);
    assert_eq!(positions_from_mask(&[true, false, true, false])[2], 1);
    assert!(positions_from_mask(&[]).is_empty());
}

#[test]
fn rotation_alone_does_not_notice_padding_on_the_left() {
    // Counting the padding moves all tokens of a row alike, and scores know offsets alone.
    let tokens = arbitrary_heads(3, 1, 8, 9);
    let scores = |positions: &[usize]| {
        let mut x = tokens.clone();
        apply(&mut x, positions, &ladder(8), Layout::Half).unwrap();
        let x = x.index_axis(Axis(1), 0).to_owned();
        x.dot(&x.t())
    };
    let difference = scores(&[0, 1, 2]) - scores(&[2, 3, 4]);
    assert!(difference.iter().all(|x| x.abs() < 1e-13));
}

#[test]
fn a_new_token_must_go_on_counting_where_its_row_stopped() {
    // Prompt counted with its padding, new token without it, or the other way round; or the
    // prompt's length added once more at each step: 6, 12, 13 instead of 6, 7, 8.
    let (q, k) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
    let right = score(&q, 3, &k, 2, Layout::Half);
    for (wrong, last) in [(3, 4), (5, 2), (12, 6)] {
        assert!((score(&q, wrong, &k, last, Layout::Half) - right).abs() > 0.5);
    }
}

#[test]
fn a_table_gives_the_same_rotation_to_the_last_bit() {
    for layout in LAYOUTS {
        let table = Table::new(100, &ladder(6), layout).unwrap();
        assert_eq!(table.seq_len(), 100);
        let mut looked_up = arbitrary_heads(4, 2, 8, 3);
        let mut computed = looked_up.clone();
        table.apply(&mut looked_up, &[0, 99, 5, 5]).unwrap();
        apply(&mut computed, &[0, 99, 5, 5], &ladder(6), layout).unwrap();
        assert_eq!(looked_up, computed);
    }
}

#[test]
fn a_rotation_in_place_gives_the_same_numbers_and_keeps_long_positions_in_f32() {
    use positional_encoding::{in_place::Rotation, scaling::Frequencies};
    let positions = [0, 5, 131_071, 131_071];
    let frequencies = Frequencies {
        inv_freq: ladder(6),
        attention_factor: 1.0,
    };
    for layout in LAYOUTS {
        let mut computed = arbitrary_heads(4, 2, 8, 3).mapv(|x| f64::from(x as f32));
        let mut double: Vec<f64> = computed.iter().copied().collect();
        let mut single: Vec<f32> = computed.iter().map(|&x| x as f32).collect();
        let largest = computed.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        apply(&mut computed, &positions, &ladder(6), layout).unwrap();
        let rotation = Rotation::new(131_072, &frequencies, layout).unwrap();
        rotation.apply(&mut double, &positions, 8).unwrap();
        rotation.single().apply(&mut single, &positions, 8).unwrap();
        assert_eq!(double, computed.as_slice().unwrap());
        for (single, computed) in single.iter().zip(&computed) {
            // Two products and a sum: seven roundings of 6e-8, wherever the position lies.
            let tolerance = 7.0 * 6e-8 * largest;
            assert_abs_diff_eq!(f64::from(*single), *computed, epsilon = tolerance);
        }
    }
}

#[test]
fn a_position_past_the_table_is_an_error_and_nothing_is_turned() {
    let table = Table::new(4096, &ladder(8), Layout::Half).unwrap();
    let before = arbitrary_heads(2, 1, 8, 3);
    let mut x = before.clone();
    let refused = table.apply(&mut x, &[4095, 4096]);
    let (position, length) = (4096, 4096);
    assert_eq!(refused, Err(Error::Position { position, length }));
    assert_eq!(x, before);
    assert!(Table::new(usize::MAX, &ladder(8), Layout::Half).is_err());
}

#[test]
fn shapes_that_do_not_fit_are_refused_and_nothing_is_turned() {
    let before = arbitrary_heads(3, 2, 6, 1);
    let mut x = before.clone();
    let layout = Layout::Half;
    let table = Table::new(9, &ladder(8), layout).unwrap();
    let refusals = [
        (apply(&mut x, &[0, 1], &ladder(6), layout), "positions"),
        (apply(&mut x, &[0, 1, 2], &ladder(8), layout), "x"),
        (table.apply(&mut x, &[0, 1]), "positions"),
        (table.apply(&mut x, &[0, 1, 2]), "x"),
        (shift_cache(&mut x, 1, &ladder(8), layout), "keys"),
        (rotate(&mut [1.0; 3], 1, &ladder(4), layout), "x"),
        (shift(&mut [1.0; 3], 1, &ladder(4), layout), "x"),
        (rotate_axes(&mut [1.0; 7], &[1, 2], &ladder(4), layout), "x"),
    ];
    for (refusal, at) in refusals {
        assert!(
            matches!(refusal, Err(Error::Shape { name, .. }) if name == at),
            "{refusal:?}"
        );
    }
    assert_eq!(x, before);
    let no_frequency = rotate_axes(&mut [1.0; 8], &[1, 2], &[], layout);
    assert!(matches!(
        no_frequency,
        Err(Error::Parameter {
            name: "inv_freq",
            ..
        })
    ));
}

#[test]
fn an_odd_rotary_width_is_refused_before_anything_is_built() {
    for width in [0, 1, 65] {
        let refusals = [
            inv_freq(width, BASE).err(),
            lanes(Layout::Half, Layout::Interleaved, width).err(),
        ];
        for refusal in refusals {
            let message = refusal.unwrap().to_string();
            let expected = format!("rotary_dim is {width}, but must be an even number above zero");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
    for base in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            inv_freq(64, base),
            Err(Error::Parameter { name: "base", .. })
        ));
    }
}
