//! Properties of pages of all kinds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod below;
mod days;
mod fixtures;
mod hostile;
mod inline;
mod leftovers;
mod programs;
mod scripts;
mod sorts;
mod soup;
mod stored;
mod within;
mod work;
