//! A model that cannot use more than 512 tokens of context, measured in longer and longer windows.

fn main() {
    // ANCHOR: main
    println!("window   split up   sliding by one token");
    for window in [512, 1024, 2048, 3072] {
        // Split up: a window's first token has no context, its last has the rest.
        let split: f64 = (0..window).map(loss).sum::<f64>() / window as f64;
        // Sliding: every token is measured as the last of its own window.
        let sliding = loss(window - 1);
        println!("{window:>6}   {split:>8.3}   {sliding:>7.3}");
    }
    // ANCHOR_END: main
}

// ANCHOR: loss
/// An invented loss in nats. Each token of context helps, less and less,
/// and none helps past 512.
fn loss(context: usize) -> f64 {
    let used = context.min(511);
    2.8 + 1.2 / ((used + 1) as f64).sqrt()
}
// ANCHOR_END: loss
