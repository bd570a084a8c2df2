//! The solutions of the exercises, one module a chapter, each tested.

mod attention;
mod learned_t5_alibi;
mod rope;
mod scaling;
mod sinusoidal;
