//! Any bytes give a model whose numbers are finite, or an error, and never a panic.
//!
//! With `cargo install cargo-fuzz`, in `code/positional-encoding`, on the stable compiler:
//!
//! ```sh
//! mkdir -p fuzz/corpus/config && cp models/*.json fuzz/corpus/config
//! RUSTC_BOOTSTRAP=1 cargo fuzz run -O config --sanitizer none -- -runs=10000000 -timeout=1
//! ```
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
