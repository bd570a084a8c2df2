//! The solutions of the exercises, tested.

mod sinusoidal;
