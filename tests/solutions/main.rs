//! The exercises' solutions, tested.

mod learned_t5_alibi;
