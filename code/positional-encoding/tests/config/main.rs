//! How a `config.json` is read: one module for each module of `config`, and one for odd files.

mod block;
mod describe;
mod file;
mod head;
mod keys;
mod layers;
mod rotary;
mod schemes;
mod stubborn_files;

use positional_encoding::config::{self, Model};
use serde_json::{Value, json};

/// A file of the type `llama` with these keys more, or instead.
fn llama(more: Value) -> Value {
    with(
        json!({
            "model_type": "llama", "head_dim": 128, "max_position_embeddings": 8192,
            "rope_theta": 10000.0,
        }),
        more,
    )
}

fn with(mut file: Value, more: Value) -> Value {
    let keys = more.as_object().unwrap().clone();
    file.as_object_mut().unwrap().extend(keys);
    file
}

fn read_at(file: &Value, length: Option<usize>) -> Model {
    config::read(&serde_json::to_vec(file).unwrap(), length)
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn read(file: &Value) -> Model {
    read_at(file, None)
}

fn refusal_at(file: &Value, length: Option<usize>) -> String {
    match config::read(&serde_json::to_vec(file).unwrap(), length) {
        Ok(model) => panic!("accepted at {length:?}: {file}\n{model}"),
        Err(error) => error.to_string(),
    }
}

fn refusal(file: &Value) -> String {
    refusal_at(file, None)
}

/// Whether one of the notes says this.
fn says(model: &Model, words: &str) -> bool {
    model.notes.iter().any(|note| note.contains(words))
}
