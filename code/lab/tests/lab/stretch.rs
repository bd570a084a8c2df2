use candle_core::Device;
use lab::language::{LONGEST, Stretch};
use lab::model::Model;
use lab::position::{Positions, Scheme};
use lab::text::Text;
use positional_encoding::scaling::Scaling;

/// Eight times the small model's length is met by windows eight times as long.
#[test]
fn the_longest_windows_hold_the_losses_of_all_shorter_ones() -> lab::Result<()> {
    let text = Text::moby_dick();
    for scheme in [Scheme::None, Scheme::Learned, Scheme::Rope] {
        let weights = crate::trained(&text, scheme, 5)?;
        let settings = crate::small(&text);
        let model = Model::frozen(settings, scheme, &weights);
        let measure = |seq_len| -> lab::Result<Stretch> {
            let device = Device::Cpu;
            let positions = Positions::new(&settings, scheme, &Scaling::None, 0, seq_len, &device)?;
            Stretch::measure(&model, &positions, &text.test, 4, &|_| ())
        };
        let longest = measure(LONGEST)?;
        for seq_len in [64, 128] {
            let own = measure(seq_len)?;
            // The two differ in nothing but the order of sums in single precision.
            approx::assert_abs_diff_eq!(
                own.sliding(seq_len),
                longest.sliding(seq_len),
                epsilon = 1e-5
            );
            approx::assert_abs_diff_eq!(
                own.separate(seq_len),
                longest.separate(seq_len),
                epsilon = 1e-5
            );
        }
    }
    Ok(())
}

/// A model that knows nothing is surprised by each character as its frequency says, wherever the
/// character stands: only if every length and position is asked about the same characters are
/// these means equal to rounding.
#[test]
fn every_length_and_position_is_asked_about_the_same_characters() -> lab::Result<()> {
    let text = Text::moby_dick();
    let settings = crate::small(&text);
    let weights = crate::trained(&text, Scheme::None, 0)?;
    // Without embeddings every position has the same output, which a bias-free head makes zero;
    // one entry of the embedding shared by all tokens makes it a fixed guess.
    let guess = crate::random("guess", &[1, settings.d_model])?;
    let guess = guess.broadcast_as((settings.vocabulary, settings.d_model))?;
    weights["embedding"].set(&guess.contiguous()?)?;
    let model = Model::frozen(settings, Scheme::None, &weights);
    let device = Device::Cpu;
    let positions = Positions::new(&settings, Scheme::None, &Scaling::None, 0, LONGEST, &device)?;
    let stretch = Stretch::measure(&model, &positions, &text.test, 16, &|_| ())?;
    let expected = stretch.sliding(64);
    for seq_len in [96, 128, 256, 512] {
        approx::assert_abs_diff_eq!(stretch.sliding(seq_len), expected, epsilon = 1e-5);
    }
    for seq_len in [64, 128, 256, 512] {
        approx::assert_abs_diff_eq!(stretch.separate(seq_len), expected, epsilon = 1e-5);
    }
    let within = |block: usize| {
        let bins = (0..4).map(|bin| stretch.at(32 * block + 8 * bin..32 * block + 8 * bin + 8));
        bins.sum::<f64>() / 4.0
    };
    for block in 0..16 {
        approx::assert_abs_diff_eq!(within(block), expected, epsilon = 1e-5);
    }
    Ok(())
}
