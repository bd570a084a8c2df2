//! What the book claims, one module a chapter; each test is named as the sentence it proves.

mod alibi;
mod attention;
mod lab;
mod learned;
mod misunderstandings;
mod pitfalls;
mod precision;
mod rope;
mod scaling;
mod sinusoidal;
mod t5;
