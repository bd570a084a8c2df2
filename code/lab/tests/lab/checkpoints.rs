use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use candle_core::Device;
use lab::checkpoint::{load_outcome, save_outcome};
use lab::model::Model;
use lab::position::{Positions, Scheme};
use lab::text::Text;
use lab::train::{Keep, Training};
use lab::{Error, Result};
use positional_encoding::scaling::Scaling;

fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

fn keep(name: &str) -> Keep {
    Keep {
        path: file(name),
        identity: "a test".into(),
        every: Duration::ZERO,
    }
}

#[test]
fn an_interrupted_training_ends_with_the_weights_of_an_uninterrupted_one() -> Result<()> {
    let text = Text::moby_dick();
    let settings = crate::small(&text);
    let course = crate::course(&text, 8);
    let keep = keep("interrupted.checkpoint");
    // The schedule of eight steps, broken off by an error in the batch of the sixth.
    let weights = lab::model::initial_weights(&settings, Scheme::T5, 7, &Device::Cpu)?;
    let model = Model::new(settings, Scheme::T5, &weights);
    let positions = Positions::new(&settings, Scheme::T5, &Scaling::None, 0, 16, &Device::Cpu)?;
    let broken = Training::new(model, weights)?.run(
        &course.plan,
        &positions,
        &|step| match step {
            5 => Err(Error::Worker("pulled the plug".into())),
            _ => course.batch(step, &Device::Cpu),
        },
        Some(&keep),
        &|_| (),
    );
    assert!(broken.is_err());
    let resumed = course.begin(settings, Scheme::T5, Some(&keep), &Device::Cpu, &|_| ())?;
    let whole = course.begin(settings, Scheme::T5, None, &Device::Cpu, &|_| ())?;
    assert_eq!(crate::bits(&resumed)?, crate::bits(&whole)?);
    Ok(())
}

#[test]
fn a_damaged_checkpoint_is_refused_with_its_name() -> Result<()> {
    let text = Text::moby_dick();
    let settings = crate::small(&text);
    let course = crate::course(&text, 1);
    let keep = keep("damaged.checkpoint");
    course.begin(settings, Scheme::None, Some(&keep), &Device::Cpu, &|_| ())?;
    let whole = fs::read(&keep.path).expect("just written");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for bytes in [&flipped[..], &whole[..whole.len() / 2], &[]] {
        fs::write(&keep.path, bytes).expect("just written");
        let again = course.begin(settings, Scheme::None, Some(&keep), &Device::Cpu, &|_| ());
        let message = again.expect_err("the file is damaged").to_string();
        assert!(message.contains("damaged.checkpoint"), "{message}");
    }
    Ok(())
}

#[test]
fn a_checkpoint_of_something_else_is_refused_with_its_name() -> Result<()> {
    let text = Text::moby_dick();
    let course = crate::course(&text, 1);
    let mut keep = keep("foreign.checkpoint");
    let settings = crate::small(&text);
    course.begin(settings, Scheme::None, Some(&keep), &Device::Cpu, &|_| ())?;
    keep.identity = "another test".into();
    let again = course.begin(settings, Scheme::None, Some(&keep), &Device::Cpu, &|_| ());
    let message = again.expect_err("it is another's").to_string();
    assert!(message.contains("foreign.checkpoint"), "{message}");
    Ok(())
}

#[test]
fn an_outcome_is_read_back_to_the_last_bit_and_refused_when_damaged() -> Result<()> {
    let path = file("some.outcome");
    assert_eq!(load_outcome(&path, "a test")?, None);
    let numbers = [1.0 / 3.0, 2.5e-9, -7.0];
    save_outcome(&path, "a test", &numbers)?;
    assert_eq!(
        load_outcome(&path, "a test")?.as_deref(),
        Some(&numbers[..])
    );
    assert!(load_outcome(&path, "another test").is_err());
    let text = fs::read_to_string(&path).expect("just written");
    fs::write(&path, text.replace("-7", "-6")).expect("just written");
    let message = load_outcome(&path, "a test")
        .expect_err("a digit changed")
        .to_string();
    assert!(message.contains("some.outcome"), "{message}");
    Ok(())
}
