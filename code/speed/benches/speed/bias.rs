//! The biases of ALiBi and T5 for 4,096 queries, 4,096 keys and 32 heads.

use std::hint::black_box;

use criterion::Criterion;
use ndarray::{Array2, Array3};
use positional_encoding::{Direction, Error, alibi, in_place, t5};

use crate::{REFUSED, copy};

const SEQ_LEN: usize = 4_096;
const HEADS: usize = 32;
const BUCKETS: usize = 32;
const MAX_DISTANCE: usize = 128;

pub fn measure(criterion: &mut Criterion) -> Result<(), Error> {
    let slopes = alibi::slopes(HEADS)?;
    let of_alibi = |queries: &[usize], keys: &[usize]| {
        Ok(alibi::bias(&slopes, queries, keys, Direction::Causal))
    };
    rows(criterion, "alibi", of_alibi);
    let table = Array2::from_elem((BUCKETS, HEADS), 0.5);
    let of_t5 = |queries: &[usize], keys: &[usize]| {
        t5::bias(
            table.view(),
            queries,
            keys,
            MAX_DISTANCE,
            Direction::Bidirectional,
        )
    };
    rows(criterion, "t5", of_t5);
    Ok(())
}

type Bias = Result<Array3<f64>, Error>;

fn rows(criterion: &mut Criterion, scheme: &str, bias: impl Fn(&[usize], &[usize]) -> Bias) {
    let keys: Vec<usize> = (0..2 * SEQ_LEN - 1).collect();
    let offsets = || {
        let row = bias(&[SEQ_LEN - 1], &keys).expect(REFUSED);
        row.into_raw_vec_and_offset().0
    };
    {
        let mut group = criterion.benchmark_group(format!("{scheme} f32"));
        let mut square = vec![0.0_f32; HEADS * SEQ_LEN * SEQ_LEN];
        group.bench_function("in place", |bencher| {
            bencher.iter(|| {
                let offsets: Vec<f32> = offsets().iter().map(|&bias| bias as f32).collect();
                in_place::bias(black_box(&mut square), &offsets, SEQ_LEN).expect(REFUSED);
            });
        });
        copy(&mut group, &mut square);
        group.finish();
    }
    let mut group = criterion.benchmark_group(format!("{scheme} f64"));
    group.bench_function("book", |bencher| {
        bencher.iter_with_large_drop(|| bias(&keys[..SEQ_LEN], &keys[..SEQ_LEN]).expect(REFUSED));
    });
    let mut square = vec![0.0; HEADS * SEQ_LEN * SEQ_LEN];
    group.bench_function("in place", |bencher| {
        bencher.iter(|| {
            in_place::bias(black_box(&mut square), &offsets(), SEQ_LEN).expect(REFUSED);
        });
    });
    copy(&mut group, &mut square);
    group.finish();
}
