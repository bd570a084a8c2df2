//! Tested solutions of the exercises, one module a chapter.

mod attention;
mod scaling;
mod sinusoidal;
