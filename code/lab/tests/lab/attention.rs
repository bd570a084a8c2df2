use candle_core::{Device, Tensor};
use lab::model::{Model, Settings, Weights, initial_weights};
use lab::position::{Positions, Scheme, T5_BUCKETS, T5_MAX_DISTANCE, trained};
use lab::text::Text;
use ndarray::{Array2, Array3, Axis};
use positional_encoding::attention::{Mask, attention_with_bias};
use positional_encoding::rope::{self, Layout};
use positional_encoding::scaling::{ByParts, Scaling};
use positional_encoding::{Direction, alibi, sinusoidal, t5};

const SEQ_LEN: usize = 40;
const SCHEMES: [Scheme; 7] = [
    Scheme::None,
    Scheme::Sinusoidal,
    Scheme::Learned,
    Scheme::Rope,
    Scheme::Alibi,
    Scheme::T5,
    Scheme::T5Unsigned,
];

fn settings(mask: Mask) -> Settings {
    Settings {
        heads: 4,
        d_model: 32,
        mask,
        ..crate::small(&Text::moby_dick())
    }
}

/// `(seq_len, heads, head_dim)` in f64 from `(1, heads, seq_len, head_dim)`.
fn by_position(tensor: &Tensor) -> lab::Result<Array3<f64>> {
    let tensor = tensor.squeeze(0)?.transpose(0, 1)?.contiguous()?;
    let values = tensor.flatten_all()?.to_vec1::<f32>()?;
    let values: Vec<f64> = values.into_iter().map(f64::from).collect();
    Ok(Array3::from_shape_vec(tensor.dims3()?, values).expect("the shape is the tensor's own"))
}

/// What the companion crate adds to the scores, shape `(heads, seq_len, seq_len)`.
fn bias(scheme: Scheme, settings: &Settings, weights: &Weights) -> lab::Result<Array3<f64>> {
    let places: Vec<usize> = (0..SEQ_LEN).collect();
    let direction = match settings.mask {
        Mask::Causal => Direction::Causal,
        Mask::None => Direction::Bidirectional,
    };
    let zeros = Array3::zeros((settings.heads, SEQ_LEN, SEQ_LEN));
    match scheme {
        Scheme::Alibi => {
            let slopes = alibi::slopes(settings.heads)?;
            Ok(alibi::bias(&slopes, &places, &places, direction))
        }
        Scheme::T5 | Scheme::T5Unsigned => {
            let rows = weights["t5"].to_vec2::<f32>()?;
            let table = Array2::from_shape_fn((T5_BUCKETS, settings.heads), |(bucket, head)| {
                f64::from(rows[bucket][head])
            });
            let signed =
                |direction| t5::bias(table.view(), &places, &places, T5_MAX_DISTANCE, direction);
            if scheme == Scheme::T5 {
                return Ok(signed(direction)?);
            }
            let past = signed(Direction::Causal)?;
            Ok(Array3::from_shape_fn(past.dim(), |(head, query, key)| {
                past[[head, query.max(key), query.min(key)]]
            }))
        }
        _ => Ok(zeros),
    }
}

fn largest_difference(scheme: Scheme, mask: Mask, scaling: &Scaling) -> lab::Result<f64> {
    let settings = settings(mask);
    let device = Device::Cpu;
    let weights = initial_weights(&settings, scheme, 5, &device)?;
    let model = Model::frozen(settings, scheme, &weights);
    let positions = Positions::new(&settings, scheme, scaling, 0, SEQ_LEN, &device)?;
    let shape = [1, settings.heads, SEQ_LEN, settings.head_dim()];
    let [q, k, v] = ["queries", "keys", "values"].map(|name| crate::random(name, &shape));
    let (q, k, v) = (q?, k?, v?);
    let ours = by_position(&model.heads(&q, &k, &v, &positions)?)?;
    let (mut q, mut k, v) = (by_position(&q)?, by_position(&k)?, by_position(&v)?);
    if scheme == Scheme::Rope {
        let places: Vec<usize> = (0..SEQ_LEN).collect();
        let frequencies = scaling.frequencies(&trained(&settings), SEQ_LEN)?;
        for x in [&mut q, &mut k] {
            rope::apply(x, &places, &frequencies.inv_freq, Layout::Half)?;
            *x *= frequencies.attention_factor;
        }
    }
    let bias = bias(scheme, &settings, &weights)?;
    let mut largest = 0.0_f64;
    for head in 0..settings.heads {
        let [q, k, v] = [&q, &k, &v].map(|x| x.index_axis(Axis(1), head));
        let bias = bias.index_axis(Axis(0), head);
        let theirs = attention_with_bias(q, k, v, bias, mask)?;
        let difference = &ours.index_axis(Axis(1), head) - &theirs;
        largest = difference.iter().fold(largest, |most, d| most.max(d.abs()));
    }
    Ok(largest)
}

/// Single precision carries seven digits and a row sums forty products: 1e-5 is what is left.
#[test]
fn the_attention_of_the_lab_is_that_of_the_companion_crate_for_every_scheme() -> lab::Result<()> {
    for mask in [Mask::None, Mask::Causal] {
        for scheme in SCHEMES {
            let difference = largest_difference(scheme, mask, &Scaling::None)?;
            assert!(difference < 1e-5, "{scheme:?} {mask:?}: {difference}");
        }
    }
    Ok(())
}

#[test]
fn an_extended_rotation_is_that_of_the_companion_crate() -> lab::Result<()> {
    let by_parts = ByParts {
        factor: 4.0,
        alpha: 0.5,
        beta: 2.0,
    };
    for scaling in [Scaling::NtkByParts(by_parts), Scaling::DynamicNtk] {
        let difference = largest_difference(Scheme::Rope, Mask::Causal, &scaling)?;
        assert!(difference < 1e-5, "{scaling:?}: {difference}");
    }
    Ok(())
}

/// A comparison that could not fail would prove nothing.
#[test]
fn another_rule_of_extension_gives_another_attention() -> lab::Result<()> {
    let settings = settings(Mask::Causal);
    let device = Device::Cpu;
    let weights = initial_weights(&settings, Scheme::Rope, 5, &device)?;
    let model = Model::frozen(settings, Scheme::Rope, &weights);
    let shape = [1, settings.heads, SEQ_LEN, settings.head_dim()];
    let q = crate::random("queries", &shape)?;
    let attended = |scaling| -> lab::Result<Tensor> {
        let positions = Positions::new(&settings, Scheme::Rope, &scaling, 0, SEQ_LEN, &device)?;
        model.heads(&q, &q, &q, &positions)
    };
    let plain = attended(Scaling::None)?;
    let slow = attended(Scaling::PositionInterpolation(4.0))?;
    let difference = (plain - slow)?.abs()?.max_all()?.to_scalar::<f32>()?;
    assert!(difference > 1e-2, "{difference}");
    Ok(())
}

#[test]
fn the_sinusoidal_table_is_the_companion_crates() -> lab::Result<()> {
    let settings = settings(Mask::Causal);
    let scheme = Scheme::Sinusoidal;
    let positions = Positions::new(&settings, scheme, &Scaling::None, 0, SEQ_LEN, &Device::Cpu)?;
    let ours = positions
        .table()
        .expect("a sinusoidal model has one")
        .to_vec2::<f32>()?;
    for ((row, column), value) in sinusoidal::table(SEQ_LEN, settings.d_model)?.indexed_iter() {
        assert_eq!(ours[row][column], *value as f32);
    }
    Ok(())
}
