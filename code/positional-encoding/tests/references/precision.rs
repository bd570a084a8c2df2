use positional_encoding::precision::{Format, round};

use crate::values::{list, modules, number, numbers};

#[test]
fn roundings_agree_with_the_casts_of_torch() {
    let modules = modules("precision");
    let formats = [
        ("f32", Format::F32),
        ("f16", Format::F16),
        ("bf16", Format::Bf16),
    ];
    for (name, format) in formats {
        for (x, theirs) in numbers(&modules["x"]).into_iter().zip(list(&modules[name])) {
            assert_eq!(round(x, format), number(theirs), "{x} as {name}");
        }
    }
}
