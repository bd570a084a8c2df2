//! rotary
