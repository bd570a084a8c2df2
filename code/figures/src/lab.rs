//! Figures of the lab.
