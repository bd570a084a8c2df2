//! Candle's rotation: `rope_thd` for the half layout, which takes the same order of axes as ours,
//! and `rope_i` for the interleaved one, which takes the heads first.

use std::error::Error;
use std::hint::black_box;

use candle_core::{DType, Device, Tensor};
use candle_nn::rotary_emb::{rope_i, rope_thd};
use criterion::Criterion;
use positional_encoding::rope::{self, Layout};

use crate::REFUSED;
use crate::rotation::{HEAD_DIM, HEADS};

pub fn measure(
    criterion: &mut Criterion,
    name: &str,
    seq_len: usize,
    layout: Layout,
    kind: DType,
) -> Result<(), Box<dyn Error>> {
    let (cos, sin) = cosines_and_sines(seq_len, kind)?;
    let shape = match layout {
        Layout::Half => (1, seq_len, HEADS, HEAD_DIM),
        Layout::Interleaved => (1, HEADS, seq_len, HEAD_DIM),
    };
    let rotate = match layout {
        Layout::Half => rope_thd,
        Layout::Interleaved => rope_i,
    };
    let x = Tensor::ones(shape, kind, &Device::Cpu)?;
    let mut group = criterion.benchmark_group(name);
    group.bench_function("candle", |bencher| {
        bencher.iter_with_large_drop(|| rotate(black_box(&x), &cos, &sin).expect(REFUSED));
    });
    group.finish();
    Ok(())
}

/// Both of shape `(seq_len, HEAD_DIM / 2)`.
fn cosines_and_sines(seq_len: usize, kind: DType) -> Result<(Tensor, Tensor), Box<dyn Error>> {
    let inv_freq = Tensor::new(rope::inv_freq(HEAD_DIM, 10_000.0)?, &Device::Cpu)?;
    let positions = Tensor::arange(0, seq_len as i64, &Device::Cpu)?.to_dtype(DType::F64)?;
    let angles = positions
        .unsqueeze(1)?
        .broadcast_mul(&inv_freq.unsqueeze(0)?)?;
    Ok((angles.cos()?.to_dtype(kind)?, angles.sin()?.to_dtype(kind)?))
}
