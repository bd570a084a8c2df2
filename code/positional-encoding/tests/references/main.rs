//! Values computed elsewhere, kept with the script that made them, against ours.
//!
//! `modules.json` and `transformers.json` hold what PyTorch and transformers compute, `exact.json`
//! what the formulas give in arithmetic of 100 digits.

mod alibi;
mod attention;
mod block;
mod config;
mod exact;
mod learned;
mod precision;
mod rope;
mod scaling;
mod sinusoidal;
mod t5;
mod values;
