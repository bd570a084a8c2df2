use positional_encoding::Direction;
use positional_encoding::alibi::{bias, column_bias, key_positions, slopes};

use crate::values::{assert_close, list, matrix, modules, numbers, whole, wholes};

/// BLOOM raises a slope rounded to single precision to up to the 64th power.
const BLOOM: f64 = 64.0 * 6e-8;

/// MPT rounds exponent, power and quotient: the exponent is at most 8, times ln 2.
const MPT: f64 = 5e-7;

#[test]
fn slopes_agree_with_bloom_for_every_number_of_heads() {
    for (heads, theirs) in modules("alibi")["slopes"].as_object().unwrap() {
        let ours = slopes(heads.parse().unwrap()).unwrap();
        assert_close(heads, &ours, &numbers(theirs), |slope| BLOOM * slope);
    }
}

#[test]
fn biases_agree_with_mpt_up_to_a_million_positions_back() {
    for case in list(&modules("alibi")["mpt"]) {
        let distances = wholes(&case["distances"]);
        let here = 1_000_000;
        let keys: Vec<usize> = distances.iter().map(|ago| here - ago).collect();
        let slopes = slopes(whole(&case["heads"])).unwrap();
        let theirs: Vec<f64> = list(&case["bias"]).iter().flat_map(numbers).collect();
        for direction in [Direction::Causal, Direction::Bidirectional] {
            let ours = bias(&slopes, &[here], &keys, direction);
            assert_close("mpt", &ours, &theirs, |bias| MPT * bias.abs());
        }
    }
}

#[test]
fn column_biases_agree_with_bloom_padded_and_far() {
    let modules = modules("alibi");
    for case in list(&modules["bloom"]) {
        let tokens: Vec<bool> = wholes(&case["tokens"]).iter().map(|&t| t == 1).collect();
        let slopes = slopes(whole(&case["heads"])).unwrap();
        let ours = column_bias(&slopes, &key_positions(&tokens));
        let theirs = matrix(&case["bias"]);
        assert_eq!(ours.dim(), theirs.dim());
        assert_close("bloom", &ours, theirs.as_slice().unwrap(), |bias| {
            BLOOM * bias
        });
    }
    let far = &modules["bloom_far"];
    let slopes = slopes(whole(&far["heads"])).unwrap();
    let ours = column_bias(&slopes, &wholes(&far["positions"]));
    let theirs = matrix(&far["bias"]);
    assert_close("far", &ours, theirs.as_slice().unwrap(), |bias| {
        BLOOM * bias
    });
}
