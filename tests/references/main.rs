//! Values computed elsewhere, kept with the script that made them, against ours.

mod config;
