//! Burn's rotary encoding on its CPU backend: interleaved, f32.

use std::hint::black_box;

use burn::nn::RotaryEncodingConfig;
use burn::tensor::{Device, Tensor};
use criterion::Criterion;

use crate::rotation::{HEAD_DIM, HEADS};

pub fn measure(criterion: &mut Criterion, name: &str, seq_len: usize) {
    let device = Device::flex();
    let rotary = RotaryEncodingConfig::new(seq_len, HEAD_DIM).init(&device);
    let x = Tensor::<4>::ones([1, HEADS, seq_len, HEAD_DIM], &device);
    let mut group = criterion.benchmark_group(name);
    group.bench_function("burn", |bencher| {
        bencher.iter_with_large_drop(|| rotary.forward(black_box(x.clone())));
    });
    group.finish();
}
