//! The built book in headless Chromium. Ignored by default: it needs a browser and a built book.
//!
//! ```sh
//! cargo run && cargo test --test browser -- --ignored
//! ```

mod driver;
mod pages;
mod server;
mod widgets;
