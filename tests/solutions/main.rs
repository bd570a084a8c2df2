//! Solutions of the exercises, one module a chapter.

mod attention;
