//! The solutions of the exercises, one module a chapter, each tested.

mod attention;
mod sinusoidal;
