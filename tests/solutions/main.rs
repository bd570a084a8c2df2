//! Tested solutions of the exercises, one module a chapter.

mod attention;
mod learned_t5_alibi;
mod scaling;
mod sinusoidal;
