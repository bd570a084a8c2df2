//! The score at offset −2 while both tokens move, as the page shows it.

use positional_encoding::Error;
use positional_encoding::rope::{Layout, inv_freq, lanes, rotate};

fn main() -> Result<(), Error> {
    let weights = Layout::Interleaved;
    let query = Layout::Interleaved;
    let key = Layout::Half;
    let convert = false;

    let heads = [[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]];
    let lanes = lanes(weights, if convert { query } else { weights }, 4)?;
    let [q, k] = heads.map(|head| lanes.iter().map(|&lane| head[lane]).collect::<Vec<f64>>());
    let inv_freq = inv_freq(4, 10_000.0)?;
    for position in 2..=40 {
        let (mut q, mut k) = (q.clone(), k.clone());
        rotate(&mut q, position, &inv_freq, query)?;
        rotate(&mut k, position - 2, &inv_freq, key)?;
        let score: f64 = q.iter().zip(&k).map(|(a, b)| a * b).sum();
        println!("{score:.12}");
    }
    Ok(())
}
