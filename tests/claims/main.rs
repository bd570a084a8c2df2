//! What the book claims, one module a chapter; each test is named as the sentence it proves.

mod attention;
mod scaling;
mod sinusoidal;
