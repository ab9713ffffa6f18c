//! Tests of extraction over pages of all kinds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod about_pages;
mod authors;
mod below;
mod days;
mod fixtures;
mod hostile;
mod images;
mod inline;
mod leftovers;
mod places_of_days;
mod programs;
mod scripts;
mod sorts;
mod soup;
mod stored;
mod story;
mod texts;
mod titles;
mod within;
mod work;
