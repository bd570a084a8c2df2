//! The rotation of 32 heads, 128 wide, at 4,096 and at 131,072 positions.

use std::error::Error;
use std::hint::black_box;

use criterion::Criterion;
use ndarray::{Array3, NdFloat};
use positional_encoding::in_place::Rotation;
use positional_encoding::rope::{self, Layout};
use positional_encoding::scaling::Frequencies;

use crate::{REFUSED, burn_peer, candle_peer, copy};

pub const HEADS: usize = 32;
pub const HEAD_DIM: usize = 128;
const LENGTHS: [usize; 2] = [4_096, 131_072];

pub fn measure(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let frequencies = Frequencies {
        inv_freq: rope::inv_freq(HEAD_DIM, 10_000.0)?,
        attention_factor: 1.0,
    };
    for seq_len in LENGTHS {
        for (name, layout) in [("half", Layout::Half), ("interleaved", Layout::Interleaved)] {
            let rotation = Rotation::new(seq_len, &frequencies, layout)?;
            let single = format!("rotation f32 {name} {seq_len}");
            in_place(criterion, &single, &rotation.single());
            candle_peer::measure(criterion, &single, seq_len, layout, candle_core::DType::F32)?;
            if layout == Layout::Interleaved && seq_len == LENGTHS[0] {
                // At the other length it would take six times the memory of the array.
                burn_peer::measure(criterion, &single, seq_len);
            }
            let double = format!("rotation f64 {name} {seq_len}");
            in_place(criterion, &double, &rotation);
            candle_peer::measure(criterion, &double, seq_len, layout, candle_core::DType::F64)?;
            book(criterion, &double, seq_len, &frequencies.inv_freq, layout);
        }
    }
    Ok(())
}

fn in_place<T: NdFloat>(criterion: &mut Criterion, name: &str, rotation: &Rotation<T>) {
    let positions: Vec<usize> = (0..rotation.seq_len()).collect();
    let mut group = criterion.benchmark_group(name);
    let mut x = vec![T::one(); positions.len() * HEADS * HEAD_DIM];
    group.bench_function("in place", |bencher| {
        bencher.iter(|| {
            let turned = rotation.apply(black_box(&mut x), &positions, HEAD_DIM);
            turned.expect(REFUSED);
        });
    });
    copy(&mut group, &mut x);
    group.finish();
}

fn book(criterion: &mut Criterion, name: &str, seq_len: usize, inv_freq: &[f64], layout: Layout) {
    let positions: Vec<usize> = (0..seq_len).collect();
    let mut x = Array3::ones((seq_len, HEADS, HEAD_DIM));
    let mut group = criterion.benchmark_group(name);
    group.bench_function("book", |bencher| {
        bencher
            .iter(|| rope::apply(black_box(&mut x), &positions, inv_freq, layout).expect(REFUSED));
    });
    group.finish();
}
