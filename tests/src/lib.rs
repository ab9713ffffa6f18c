//! Shared parts of the end-to-end tests in `tests/`, which run the real program, read its store, serve the fixture web,
//! and drive a browser.
//!
//! `cargo xtask test` builds the programs and sets `CURLEW_BIN`, `CURLEW_FIXTUREWEB_BIN`, `CHROMIUM`, `CHROMEDRIVER`
//! and `CURLEW_AXE` to their paths. If a program is missing, its tests fail with a message; no test is skipped.
//! Functions panic when they cannot do what their comment says.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

pub mod aws;

mod browser;
mod conduct;
mod http;
mod program;
mod receiver;
mod server;
mod steps;
mod store;
mod tree;
mod wait;
mod web;

pub use browser::{Browser, Element, Screen};
pub use conduct::{judge_manners, judge_pauses};
pub use http::{Answer, answer_of, get, request, request_with};
pub use program::{Child, LIMIT, Ran, binary, curlew, curlew_with_input, named, start};
pub use receiver::{Receiver, Request};
pub use server::Server;
pub use steps::Steps;
pub use store::{BRISK, BRISK_PAUSE, Store, args, text, unpacked_objects};
pub use tree::{read, root};
pub use wait::until;
pub use web::Web;
