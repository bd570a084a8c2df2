use positional_encoding::sinusoidal::{encoding, tensor2tensor_encoding};

use crate::values::{assert_close, list, modules, numbers, whole, wholes};

#[test]
fn both_layouts_agree_with_torch_and_transformers_at_near_and_far_positions() {
    let mut compared = 0;
    for case in list(&modules("sinusoidal")) {
        let d_model = whole(&case["d_model"]);
        let precision = case["precision"].as_str().unwrap();
        for (position, theirs) in wholes(&case["positions"])
            .into_iter()
            .zip(list(&case["rows"]))
        {
            let ours = match case["layout"].as_str().unwrap() {
                "paper" => encoding(position, d_model),
                _ => tensor2tensor_encoding(position, d_model),
            };
            // An angle is off by about its position times the rounding of frequency and product,
            // on either side; torch makes Tensor2Tensor's frequencies from a logarithm, whose
            // rounding is magnified by up to 9.2.
            let far = position as f64;
            let tolerance = match precision {
                "double" => 1e-15 * far + 1e-15,
                "single" => 5e-7 * far + 2e-7,
                _ => 6.1e-8,
            };
            let what = format!("{} {precision}: {position}, {d_model}", case["by"]);
            assert_close(&what, &ours.unwrap(), &numbers(theirs), |_| tolerance);
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}
