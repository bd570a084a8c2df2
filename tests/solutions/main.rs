//! Tested solutions of the exercises, one module a chapter.

mod scaling;
