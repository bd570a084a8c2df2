//! The table of 131,072 positions, 512 wide, in f64.

use std::hint::black_box;

use criterion::Criterion;
use positional_encoding::{Error, in_place, sinusoidal};

use crate::{REFUSED, copy};

const SEQ_LEN: usize = 131_072;
const D_MODEL: usize = 512;

pub fn measure(criterion: &mut Criterion) -> Result<(), Error> {
    let mut group = criterion.benchmark_group("sinusoidal");
    group.bench_function("book, sine and cosine", |bencher| {
        bencher.iter_with_large_drop(|| sinusoidal::table(SEQ_LEN, D_MODEL).expect(REFUSED));
    });
    group.bench_function("book, by rotation", |bencher| {
        bencher.iter_with_large_drop(|| {
            sinusoidal::table_by_rotation(SEQ_LEN, D_MODEL).expect(REFUSED)
        });
    });
    let mut table = vec![1.0; SEQ_LEN * D_MODEL];
    let inv_freq = sinusoidal::inv_freq(D_MODEL)?;
    group.bench_function("in place, sine and cosine", |bencher| {
        bencher.iter(|| by_sine_and_cosine(black_box(&mut table), &inv_freq));
    });
    group.bench_function("in place", |bencher| {
        bencher.iter(|| in_place::sinusoidal_table(black_box(&mut table), D_MODEL).expect(REFUSED));
    });
    copy(&mut group, &mut table);
    group.finish();
    Ok(())
}

/// The plain loop, to tell what rotating saves from what the memory costs.
fn by_sine_and_cosine(table: &mut [f64], inv_freq: &[f64]) {
    for (position, row) in table.chunks_exact_mut(D_MODEL).enumerate() {
        for (pair, frequency) in row.as_chunks_mut().0.iter_mut().zip(inv_freq) {
            let (sin, cos) = (position as f64 * frequency).sin_cos();
            *pair = [sin, cos];
        }
    }
}
