use positional_encoding::scaling::{
    Llama3, LongRope, LongRopeAttention, Ramp, Scaling, Trained, Yarn,
};
use serde_json::Value;

use crate::values::{assert_close, list, modules, number, numbers, whole};

fn rule(name: &str, given: &Value) -> Scaling {
    let factor = number(&given["factor"]);
    let yarn = |ramp| {
        Scaling::Yarn(Yarn {
            factor,
            ramp,
            ..Yarn::default()
        })
    };
    match name {
        "linear" => Scaling::PositionInterpolation(factor),
        "dynamic" => Scaling::DynamicNtkWithFactor(factor),
        "yarn" => yarn(Ramp::WholePairs),
        "yarn pairs" => yarn(Ramp::Pairs),
        "llama3" => Scaling::Llama3(Llama3 {
            factor,
            ..Llama3::default()
        }),
        "longrope" => Scaling::LongRope(LongRope {
            short_factor: numbers(&given["short_factor"]),
            long_factor: numbers(&given["long_factor"]),
            attention: LongRopeAttention::FromFactor(factor),
        }),
        name => panic!("no rule {name}"),
    }
}

#[test]
fn every_rule_that_the_released_library_has_agrees_at_odd_sizes_and_far_lengths() {
    let mut compared = 0;
    for case in list(&modules("scaling")) {
        let trained = Trained {
            rotary_dim: whole(&case["rotary_dim"]),
            base: number(&case["base"]),
            length: whole(&case["length"]),
        };
        let name = case["rule"].as_str().unwrap();
        let seq_len = whole(&case["seq_len"]);
        let ours = rule(name, &case["given"])
            .frequencies(&trained, seq_len)
            .unwrap();
        let what = format!("{name}, {trained:?} at {seq_len}");
        // Single precision: a rounding of the exponent, times ln(base) of at most 21 where dynamic
        // scaling raises the base, and one of the power; the blend of llama3 cancels besides.
        let tolerance = |w: f64| 2e-6 * w;
        assert_close(
            &what,
            &ours.inv_freq,
            &numbers(&case["inv_freq"]),
            tolerance,
        );
        let theirs = number(&case["attention_factor"]);
        assert!((ours.attention_factor - theirs).abs() < 1e-12, "{what}");
        compared += 1;
    }
    assert!(compared >= 40, "{compared}");
}
