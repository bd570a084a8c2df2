use candle_core::Device;
use lab::measure::rectangle;
use lab::model::{Model, initial_weights};
use lab::position::{Positions, Scheme};
use lab::text::{Text, windows};
use lab::train::{Batch, loss};
use positional_encoding::scaling::Scaling;

/// A step of `distance` along the gradient must change the loss by `distance` times its length.
/// The curvature over a step of 0.02 and single precision together leave two parts in a hundred.
#[test]
fn a_step_along_the_gradient_changes_the_loss_by_its_length() -> lab::Result<()> {
    let text = Text::moby_dick();
    let settings = crate::small(&text);
    let device = Device::Cpu;
    let windows = windows(&text.train, 1, 0, 4, 16);
    let tokens: Vec<&[u32]> = windows.iter().map(|window| &window[..16]).collect();
    let targets: Vec<&[u32]> = windows.iter().map(|window| &window[1..]).collect();
    let batch = Batch {
        tokens: rectangle(&tokens, &device)?,
        targets: rectangle(&targets, &device)?,
        read_from: 0,
    };
    for scheme in Scheme::LANGUAGE {
        let weights = initial_weights(&settings, scheme, 1, &device)?;
        let model = Model::new(settings, scheme, &weights);
        let positions = Positions::new(&settings, scheme, &Scaling::None, 0, 16, &device)?;
        let gradients = loss(&model, &positions, &batch)?.backward()?;
        for (name, weight) in &weights {
            let gradient = gradients.get(weight).expect("every weight has a gradient");
            let length = gradient.sqr()?.sum_all()?.to_scalar::<f32>()?.sqrt();
            let before = weight.copy()?;
            let at = |distance: f64| -> lab::Result<f32> {
                weight.set(&(&before + (gradient * (distance / f64::from(length)))?)?)?;
                Ok(loss(&model, &positions, &batch)?.to_scalar()?)
            };
            let slope = (at(0.02)? - at(-0.02)?) / 0.04;
            at(0.0)?;
            let off = (slope - length).abs() / length.max(1e-2);
            assert!(
                off < 0.02,
                "{scheme:?} {name}: slope {slope}, gradient {length}"
            );
        }
    }
    Ok(())
}
