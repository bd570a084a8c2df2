use candle_core::Device;
use lab::language::shift_difference;
use lab::model::{Model, initial_weights};
use lab::position::Scheme;
use lab::text::Text;

/// Logits are of the size of ten; a rotation in single precision moves them in the sixth digit.
#[test]
fn a_trained_model_sees_offsets_alone_with_rope_alibi_and_t5_but_not_with_a_table()
-> lab::Result<()> {
    let text = Text::moby_dick();
    for scheme in Scheme::LANGUAGE {
        let weights = crate::trained(&text, scheme, 30)?;
        let model = Model::frozen(crate::small(&text), scheme, &weights);
        let difference = shift_difference(&model, &text.test, &Device::Cpu)?;
        match scheme {
            Scheme::Sinusoidal | Scheme::Learned => {
                assert!(difference > 1e-2, "{scheme:?}: {difference}");
            }
            _ => assert!(difference < 1e-4, "{scheme:?}: {difference}"),
        }
    }
    Ok(())
}

#[test]
fn schemes_begin_with_the_same_weights_wherever_they_share_them() -> lab::Result<()> {
    let settings = crate::small(&Text::moby_dick());
    let initial = |scheme, seed| initial_weights(&settings, scheme, seed, &Device::Cpu);
    let plain = initial(Scheme::None, 1)?;
    for scheme in Scheme::LANGUAGE {
        let mut shared = initial(scheme, 1)?;
        shared.retain(|name, _| plain.contains_key(name));
        assert_eq!(crate::bits(&shared)?, crate::bits(&plain)?, "{scheme:?}");
    }
    assert_ne!(
        crate::bits(&initial(Scheme::None, 2)?)?,
        crate::bits(&plain)?
    );
    Ok(())
}
