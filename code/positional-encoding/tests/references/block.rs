use positional_encoding::attention::Mask;
use positional_encoding::block::{Block, forward};
use positional_encoding::recurrent::read;

use crate::values::{assert_close, list, matrix, modules, numbers};

/// Double precision on both sides, sums of at most seven products of numbers below 100.
const TOLERANCE: f64 = 1e-12;

#[test]
fn a_block_agrees_with_one_put_together_from_torch() {
    let modules = modules("block");
    let weight = |name: &str| matrix(&modules["weights"][name]);
    let block = Block {
        query: weight("query"),
        key: weight("key"),
        value: weight("value"),
        output: weight("output"),
        expand: weight("expand"),
        contract: weight("contract"),
    };
    let x = matrix(&modules["x"]);
    for (name, mask) in [("none", Mask::None), ("causal", Mask::Causal)] {
        let ours = forward(&block, x.view(), mask).unwrap();
        let theirs: Vec<f64> = list(&modules[name]).iter().flat_map(numbers).collect();
        assert_close(name, &ours, &theirs, |_| TOLERANCE);
    }
}

#[test]
fn the_recurrent_network_agrees_with_torch() {
    let given = &modules("block")["recurrent"];
    let [tokens, state_weight, token_weight] =
        ["tokens", "state_weight", "token_weight"].map(|name| matrix(&given[name]));
    let ours = read(tokens.view(), state_weight.view(), token_weight.view()).unwrap();
    assert_close("state", &ours, &numbers(&given["state"]), |_| TOLERANCE);
}
