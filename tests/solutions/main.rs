//! Solutions of the exercises, one module a chapter.

mod attention;
//! The solutions of the exercises, tested.

mod sinusoidal;
