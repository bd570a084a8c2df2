//! Any bytes give a model whose numbers are finite, or an error, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use positional_encoding::config;

fuzz_target!(|bytes: &[u8]| {
    // A file of odd size is read at a length, so that files mutate as files.
    let length = (bytes.len() % 2 == 1).then_some(5_000);
    let Ok(model) = config::read(bytes, length) else {
        return;
    };
    for table in &model.tables {
        assert!(table.inv_freq.iter().all(|w| w.is_finite()));
        assert_eq!(2 * table.inv_freq.len(), table.rotary_dim);
    }
    let _ = model.to_json().to_string();
    let _ = model.to_string();
});
