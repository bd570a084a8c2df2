//! The frequencies of 100,000 configurations: six rules, each with its own factors and bases.

use std::hint::black_box;

use criterion::Criterion;
use positional_encoding::Error;
use positional_encoding::scaling::{ByParts, Llama3, Scaling, Trained, Yarn};

use crate::REFUSED;

const CONFIGS: usize = 100_000;

pub fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scaling");
    group.bench_function("book", |bencher| {
        bencher.iter(|| black_box(all().expect(REFUSED)))
    });
    group.finish();
}

/// The sum of all attention factors, so that no answer can be left out.
fn all() -> Result<f64, Error> {
    (0..CONFIGS).map(attention_factor).sum()
}

fn attention_factor(index: usize) -> Result<f64, Error> {
    let trained = Trained {
        rotary_dim: 128,
        base: 10_000.0 + index as f64,
        length: 4_096,
    };
    let factor = 2.0 + (index % 32) as f64;
    let scaling = match index % 6 {
        0 => Scaling::PositionInterpolation(factor),
        1 => Scaling::NtkAware(factor),
        2 => Scaling::DynamicNtkWithFactor(factor),
        3 => Scaling::NtkByParts(ByParts {
            factor,
            ..ByParts::default()
        }),
        4 => Scaling::Yarn(Yarn {
            factor,
            ..Yarn::default()
        }),
        _ => Scaling::Llama3(Llama3 {
            factor,
            ..Llama3::default()
        }),
    };
    Ok(black_box(scaling.frequencies(&trained, 65_536)?).attention_factor)
}
