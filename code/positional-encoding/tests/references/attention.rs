use positional_encoding::attention::{Mask, attention, attention_with_bias, scores, weights};

use crate::values::{assert_close, list, matrix, modules, numbers};

/// Both are double precision: some tens of roundings of numbers below 10.
const TOLERANCE: f64 = 1e-13;

#[test]
fn attention_agrees_with_torch_with_and_without_mask_and_bias() {
    let mut compared = 0;
    for case in list(&modules("attention")) {
        let [queries, keys, values] = ["queries", "keys", "values"].map(|name| matrix(&case[name]));
        let mut check = |name: &str, mask, biased: bool| {
            if case[name].is_null() {
                return;
            }
            let (q, k, v) = (queries.view(), keys.view(), values.view());
            let ours = if biased {
                attention_with_bias(q, k, v, matrix(&case["bias"]).view(), mask)
            } else {
                attention(q, k, v, mask)
            };
            let theirs: Vec<f64> = list(&case[name]).iter().flat_map(numbers).collect();
            assert_close(name, &ours.unwrap(), &theirs, |_| TOLERANCE);
            compared += 1;
        };
        check("none", Mask::None, false);
        check("causal", Mask::Causal, false);
        check("bias_none", Mask::None, true);
        check("bias_causal", Mask::Causal, true);
    }
    assert_eq!(compared, 18);
}

#[test]
fn causal_weights_agree_with_torch() {
    let mut compared = 0;
    for case in list(&modules("attention")) {
        if case["weights"].is_null() {
            continue;
        }
        let [queries, keys] = ["queries", "keys"].map(|name| matrix(&case[name]));
        let scores = scores(queries.view(), keys.view()).unwrap();
        let theirs: Vec<f64> = list(&case["weights"]).iter().flat_map(numbers).collect();
        let ours = weights(scores.view(), Mask::Causal);
        assert_close("weights", &ours, &theirs, |_| TOLERANCE);
        compared += 1;
    }
    assert_eq!(compared, 4);
}
