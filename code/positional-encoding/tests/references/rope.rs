use positional_encoding::rope::{Layout, inv_freq, rotate};

use crate::values::{assert_close, list, modules, number, numbers, whole, wholes};

#[test]
fn both_layouts_agree_with_transformers_and_with_complex_numbers() {
    let modules = modules("rope");
    let mut compared = 0;
    for case in list(&modules["double"]) {
        let inv_freq = inv_freq(whole(&case["rotary_dim"]), number(&case["base"])).unwrap();
        let theirs = numbers(&case["inv_freq"]);
        // A rounding of the exponent, times ln(base) of at most 14, on either side.
        assert_close("inv_freq", &inv_freq, &theirs, |w| 4e-15 * w);
        let layouts = [
            ("half", Layout::Half),
            ("interleaved", Layout::Interleaved),
            ("complex", Layout::Interleaved),
        ];
        for (name, layout) in layouts {
            for (row, position) in wholes(&case["positions"]).into_iter().enumerate() {
                let mut x = numbers(&case["x"][row]);
                rotate(&mut x, position, &inv_freq, layout).unwrap();
                // Entries up to 2, pairs up to 2.9; the angle as in the sinusoid.
                let tolerance = 3.0 * (4.6e-16 * position as f64 + 1e-15);
                let what = format!("{name} {} at {position}", x.len());
                assert_close(&what, &x, &numbers(&case[name][row]), |_| tolerance);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 90);
}

#[test]
fn the_released_rotation_agrees_to_the_rounding_of_its_single_precision_angle() {
    let case = &modules("rope")["single"];
    let inv_freq = inv_freq(whole(&case["head_dim"]), number(&case["base"])).unwrap();
    for (row, position) in wholes(&case["positions"]).into_iter().enumerate() {
        let mut x = numbers(&case["x"][row]);
        rotate(&mut x, position, &inv_freq, Layout::Half).unwrap();
        // Frequency and product are rounded to 24 bits: 6e-8 of the position each.
        let tolerance = 3.0 * (1.3e-7 * position as f64 + 2e-7);
        let what = format!("position {position}");
        assert_close(&what, &x, &numbers(&case["half"][row]), |_| tolerance);
    }
}
