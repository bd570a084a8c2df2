use positional_encoding::learned::{interpolate, positions_from_ids};

use crate::values::{assert_close, list, matrix, modules, numbers, whole, wholes};

#[test]
fn interpolated_tables_agree_with_torch() {
    for case in list(&modules("learned")["interpolated"]) {
        let table = matrix(&case["table"]);
        let max_positions = whole(&case["max_positions"]);
        let ours = interpolate(table.view(), max_positions).unwrap();
        assert_eq!(ours.dim(), (max_positions, table.ncols()));
        for (row, theirs) in wholes(&case["rows"]).into_iter().zip(list(&case["values"])) {
            let what = format!("{} to {max_positions}, row {row}", table.nrows());
            // The place is rounded to a part in 2^53 of at most 64 rows, which lie at most 4 apart.
            assert_close(&what, ours.row(row), &numbers(theirs), |_| 1e-13);
        }
    }
}

#[test]
fn positions_agree_with_roberta() {
    let modules = modules("learned");
    let mut theirs = list(&modules["positions"]).iter();
    for padding in wholes(&modules["padding"]) {
        for ids in list(&modules["ids"]) {
            let ours = positions_from_ids(&wholes(ids), padding);
            assert_eq!(ours, wholes(theirs.next().unwrap()));
        }
    }
    assert!(theirs.next().is_none());
}
