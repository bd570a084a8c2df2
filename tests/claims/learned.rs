//! Claims about learned position tables.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use figures::learned::{explained_by_distance, mean_by_distance, minilm_similarity, minilm_table};
use ndarray::{Array1, Array2, s};
use positional_encoding::attention::softmax;
use positional_encoding::{Error, learned, sinusoidal};
use proptest::prelude::*;

/// The table of the chapter: 48 positions that learned to look two places around.
fn trained() -> (Array2<f64>, Vec<f64>) {
    let mut table = learned::random_table(48, 16, 1);
    let target = learned::neighbourhood(48, 2);
    let losses = learned::train(&mut table, target.view(), 4.0, 200).unwrap();
    (table, losses)
}

fn any_table(rows: usize, columns: usize) -> impl Strategy<Value = Array2<f64>> {
    any::<u64>().prop_map(move |seed| learned::random_table(rows, columns, seed))
}

#[test]
fn training_lowers_the_loss_at_every_step() {
    let (_, losses) = trained();
    assert!(losses.windows(2).all(|pair| pair[1] < pair[0]));
    assert_abs_diff_eq!(losses[0], 48_f64.ln(), epsilon = 0.02);
    // The least there is: equal weights on five keys, on four or three at the two ends.
    let least = (44.0 * 5_f64.ln() + 2.0 * 4_f64.ln() + 2.0 * 3_f64.ln()) / 48.0;
    assert_abs_diff_eq!(least, 1.58, epsilon = 0.005);
    assert!(losses[199] > least && losses[199] < 1.74);
}

#[test]
fn the_step_follows_the_gradient_of_the_loss() {
    let target = learned::neighbourhood(6, 1);
    let table = learned::random_table(6, 4, 7);
    // A step of this size moves an entry by the size times its slope.
    let rate = 1e-6;
    let mut moved = table.clone();
    learned::train(&mut moved, target.view(), rate, 1).unwrap();
    let loss =
        |table: &Array2<f64>| learned::train(&mut table.clone(), target.view(), 0.0, 1).unwrap()[0];
    for ((row, column), before) in table.indexed_iter() {
        let mut nudged = [table.clone(), table.clone()];
        nudged[0][[row, column]] += 1e-5;
        nudged[1][[row, column]] -= 1e-5;
        let slope = (loss(&nudged[0]) - loss(&nudged[1])) / 2e-5;
        let step = (before - moved[[row, column]]) / rate;
        // The central difference is off by its width squared and by rounding, both near 1e-10;
        // so is the step, whose difference of 1e-8 keeps nine digits.
        assert_abs_diff_eq!(step, slope, epsilon = 1e-8);
    }
}

#[test]
fn training_finds_that_similarity_should_depend_on_distance() {
    let before = learned::similarity(learned::random_table(48, 16, 1).view());
    let after = learned::similarity(trained().0.view());
    assert!(explained_by_distance(&before) < 0.05);
    assert!(explained_by_distance(&after) > 0.95);
    let by_distance = mean_by_distance(&after);
    assert!(by_distance[1] > 0.9 && by_distance[10] < 0.0);
}

#[test]
fn too_large_a_step_is_refused_not_returned_as_nonsense() {
    let mut table = learned::random_table(8, 4, 1);
    let target = learned::neighbourhood(8, 1);
    let error = learned::train(&mut table, target.view(), 1e200, 50).unwrap_err();
    assert!(error.to_string().starts_with("learning_rate is 1"));
}

#[test]
fn a_stretched_table_looks_at_stretched_distances() {
    let (table, _) = trained();
    let longer = learned::interpolate(table.view(), 95).unwrap();
    let within = |table: &Array2<f64>, position: usize, radius: usize| {
        let weights = softmax(table.dot(&table.t()).view());
        let keys = s![position, position - radius..=position + radius];
        weights.slice(keys).sum()
    };
    assert!(within(&table, 24, 2) > 0.9);
    assert!(within(&longer, 48, 2) < 0.7);
    assert!(within(&longer, 48, 4) > 0.85);
}

#[test]
fn roberta_counts_from_the_row_after_the_padding_row() {
    assert_eq!(
        learned::positions_from_ids(&[0, 31414, 2, 1, 1], 1),
        [2, 3, 4, 1, 1]
    );
    assert_eq!(learned::positions_from_ids(&[4, 5, 6], 3), [4, 5, 6]);
    assert_eq!(learned::positions_from_ids(&[4, 3, 3], 3), [4, 3, 3]);
}

#[test]
fn a_roberta_table_of_514_rows_holds_512_tokens() {
    let table = learned::random_table(514, 2, 1);
    assert_eq!(learned::usable_positions(514, 1).unwrap(), 512);
    assert_eq!(learned::usable_positions(514, 3).unwrap(), 510);
    let fits = learned::positions_from_ids(&[7; 512], 1);
    assert!(learned::lookup(table.view(), &fits).is_ok());
    let too_long = learned::positions_from_ids(&[7; 513], 1);
    let error = Error::Position {
        position: 514,
        length: 514,
    };
    assert_eq!(learned::lookup(table.view(), &too_long), Err(error));
}

#[test]
fn in_a_real_table_the_most_similar_row_is_a_neighbour() {
    let similarity = minilm_similarity();
    let beside = (0..512).filter(|&row| {
        let others = (0..512).filter(|&other| other != row);
        let nearest = others.max_by(|&a, &b| similarity[[row, a]].total_cmp(&similarity[[row, b]]));
        nearest.is_some_and(|nearest| nearest.abs_diff(row) == 1)
    });
    assert_eq!(beside.count(), 511); // all but row 0
}

#[test]
fn in_a_real_table_similarity_does_not_fall_steadily() {
    let by_distance = mean_by_distance(minilm_similarity());
    for (distance, mean) in [(1, 0.83), (3, 0.36), (6, 0.65), (9, 0.10), (12, 0.51)] {
        assert_abs_diff_eq!(by_distance[distance], mean, epsilon = 0.005);
    }
}

#[test]
fn distance_alone_explains_half_of_a_real_table() {
    let explained = explained_by_distance(minilm_similarity());
    assert_abs_diff_eq!(explained, 0.49, epsilon = 0.005);
}

#[test]
fn for_a_sinusoid_distance_explains_nearly_all() {
    let table = sinusoidal::table(512, 384).unwrap();
    let explained = explained_by_distance(&learned::similarity(table.view()));
    assert_abs_diff_eq!(explained, 0.97, epsilon = 0.005);
    // With its mean row left in: all rows have one length, so the products are the cosines.
    let raw = table.dot(&table.t()) / 192.0;
    assert_abs_diff_eq!(explained_by_distance(&raw), 1.0, epsilon = 1e-12);
}

#[test]
fn row_0_of_a_real_table_stands_apart() {
    let table = minilm_table();
    let norm = |row: usize| table.row(row).dot(&table.row(row)).sqrt();
    assert_abs_diff_eq!(norm(0), 2.36, epsilon = 0.005);
    assert!((1..512).all(|row| norm(row) < 1.0));
    let mean = (1..512).map(norm).sum::<f64>() / 511.0;
    assert_abs_diff_eq!(mean, 0.47, epsilon = 0.005);
}

#[test]
fn a_seam_runs_through_a_real_table_before_row_128() {
    let similarity = minilm_similarity();
    let beside = |row: usize| similarity[[row, row + 1]];
    assert!((64..126).chain(128..192).all(|row| beside(row) > 0.75));
    assert!(beside(126) < 0.5 && beside(127) < 0.6);
}

proptest! {
    #[test]
    fn a_position_past_the_end_is_refused_with_the_limit(
        rows in 1_usize..50,
        past in 0_usize..1_000_000,
    ) {
        let table = learned::random_table(rows, 3, 1);
        prop_assert!(learned::lookup(table.view(), &[rows - 1]).is_ok());
        let position = rows + past;
        let error = learned::lookup(table.view(), &[0, position]).unwrap_err();
        prop_assert_eq!(&error, &Error::Position { position, length: rows });
        let limit = format!("a table of {rows} positions");
        prop_assert!(error.to_string().contains(&limit));
    }

    #[test]
    fn interpolation_keeps_both_ends_and_stays_between_neighbours(
        table in any_table(9, 3),
        longer in 2_usize..60,
    ) {
        let new = learned::interpolate(table.view(), longer).unwrap();
        for column in 0..3 {
            assert_relative_eq!(new[[0, column]], table[[0, column]]);
            assert_abs_diff_eq!(new[[longer - 1, column]], table[[8, column]], epsilon = 1e-15);
            for position in 0..longer {
                let place = (position * 8) as f64 / (longer - 1) as f64;
                let (below, above) = (place.floor() as usize, place.ceil() as usize);
                let (a, b) = (table[[below, column]], table[[above, column]]);
                let entry = new[[position, column]];
                prop_assert!(entry >= a.min(b) - 1e-15 && entry <= a.max(b) + 1e-15);
            }
        }
    }

    #[test]
    fn interpolation_to_the_same_length_changes_nothing(table in any_table(12, 4)) {
        prop_assert_eq!(&learned::interpolate(table.view(), 12).unwrap(), &table);
    }

    #[test]
    fn what_all_rows_share_does_not_count_as_similarity(
        table in any_table(10, 4),
        shared in prop::collection::vec(-5.0_f64..5.0, 4),
    ) {
        let plain = learned::similarity(table.view());
        let moved = learned::similarity((&table + &Array1::from(shared)).view());
        // Adding 5 to entries near 0.1 costs two digits of sixteen.
        prop_assert!((plain - moved).iter().all(|difference| difference.abs() < 1e-12));
    }
}
