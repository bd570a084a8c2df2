use approx::assert_abs_diff_eq;
use positional_encoding::Error;
use positional_encoding::precision::{Format, angle_error};
use positional_encoding::rope::{Layout, inv_freq, rotate, rotate_pair, shift};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn rotated(x: &[f64], position: usize, layout: Layout) -> Vec<f64> {
    let inv_freq = inv_freq(x.len(), 1e4).unwrap();
    let mut x = x.to_vec();
    rotate(&mut x, position, &inv_freq, layout).unwrap();
    x
}

#[test]
fn the_same_numbers_at_other_places() -> Result<(), Error> {
    // ANCHOR: predict
    let x = [1.0, 0.0, 0.0, 1.0];
    let inv_freq = inv_freq(4, 10_000.0)?;
    let (mut half, mut interleaved) = (x, x);
    rotate(&mut half, 1, &inv_freq, Layout::Half)?;
    rotate(&mut interleaved, 1, &inv_freq, Layout::Interleaved)?;

    let two_decimals = |x: [f64; 4]| x.map(|entry| (100.0 * entry).round() / 100.0);
    assert_eq!(two_decimals(half), [0.54, -0.01, 0.84, 1.0]);
    assert_eq!(two_decimals(interleaved), [0.54, 0.84, -0.01, 1.0]);
    // ANCHOR_END: predict
    Ok(())
}

// ANCHOR: keeps_the_score
fn keeps_the_score(rotation: impl Fn(&[f64], usize) -> Vec<f64>) -> bool {
    let query = [1.0, 2.0, 3.0, 4.0, -1.0, 0.5, 2.0, -3.0];
    let key = [0.5, -1.0, 2.0, 1.0, 3.0, -2.0, 0.1, 1.5];
    let score = |start| dot(&rotation(&query, start + 2), &rotation(&key, start));
    [4, 10, 63, 500]
        .into_iter()
        .all(|start| (score(start) - score(1)).abs() < 1e-9)
}
// ANCHOR_END: keeps_the_score

#[test]
fn both_layouts_keep_the_score_and_the_mix_does_not() {
    assert!(keeps_the_score(|x, p| rotated(x, p, Layout::Half)));
    assert!(keeps_the_score(|x, p| rotated(x, p, Layout::Interleaved)));

    let frequencies = inv_freq(8, 1e4).unwrap();
    let mix = |x: &[f64], position: usize| -> Vec<f64> {
        let turn = |j: usize| (position as f64 * frequencies[j / 2]).sin_cos();
        let partner = |j: usize| if j < 4 { -x[j + 4] } else { x[j - 4] };
        (0..8)
            .map(|j| x[j] * turn(j).1 + partner(j) * turn(j).0)
            .collect()
    };
    assert!(!keeps_the_score(mix));
    assert!(!keeps_the_score(|x, position| {
        x.iter().map(|entry| entry + position as f64).collect()
    }));
}

// ANCHOR: two_back
fn query_for_two_back(content: &[f64], inv_freq: &[f64]) -> Result<Vec<f64>, Error> {
    let mut query = content.to_vec();
    shift(&mut query, -2, inv_freq, Layout::Half)?;
    Ok(query)
}
// ANCHOR_END: two_back

#[test]
fn the_query_finds_its_content_two_back() {
    let content = [1.0, 0.3, -0.5, 0.8, 0.2, 0.9, 0.4, -1.0];
    let query = query_for_two_back(&content, &inv_freq(8, 1e4).unwrap()).unwrap();
    let layout = Layout::Half;
    let at = |key| {
        dot(
            &rotated(&query, 20, layout),
            &rotated(&content, key, layout),
        )
    };
    assert_abs_diff_eq!(at(18), dot(&content, &content), epsilon = 1e-12);
    for other in (0..40).filter(|&other| other != 18) {
        assert!(at(other) < at(18));
    }
    assert!(at(22) < at(18) - 1.0);
}

// ANCHOR: which_layout
fn which_layout(before: &[f64], after: &[f64]) -> Option<Layout> {
    let turned_by_one_radian = |partner: usize| {
        let [x, y] = rotate_pair([before[0], before[partner]], 1.0);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
        close(x, after[0]) && close(y, after[partner])
    };
    match (
        turned_by_one_radian(1),
        turned_by_one_radian(before.len() / 2),
    ) {
        (true, false) => Some(Layout::Interleaved),
        (false, true) => Some(Layout::Half),
        _ => None,
    }
}
// ANCHOR_END: which_layout

#[test]
fn the_layout_shows_in_the_first_pair_whatever_the_base() {
    let before = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for layout in [Layout::Interleaved, Layout::Half] {
        for base in [100.0, 1e4, 5e5] {
            let mut after = before;
            rotate(&mut after, 1, &inv_freq(6, base).unwrap(), layout).unwrap();
            assert_eq!(which_layout(&before, &after), Some(layout));
        }
    }
    assert_eq!(which_layout(&before, &before), None);
}

// ANCHOR: rounded_frequencies
fn first_wrong_position(base: f64) -> Result<Option<usize>, Error> {
    let inv_freq = inv_freq(128, base)?;
    Ok((0..100_000).find(|position| angle_error(*position, &inv_freq, Format::F16) > 0.1))
}
// ANCHOR_END: rounded_frequencies

#[test]
fn a_larger_base_helps_rounded_frequencies_by_luck_alone() {
    assert_eq!(first_wrong_position(1e4).unwrap(), Some(414));
    assert_eq!(first_wrong_position(5e5).unwrap(), Some(610));
    for base in [1e3, 2e4, 1e5, 1e6, 1e7] {
        assert!((410..2000).contains(&first_wrong_position(base).unwrap().unwrap()));
    }
}
