//! Tests of the screening of texts and images.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and some are asked for their figures"
)]

mod image;
mod labelled;
mod pages;
mod screen;
