//! Politeness towards hosts: admission, pauses, holds, the reading of answers, redirects, the limits of the crawl.

pub mod admission;
pub mod deferral;
mod hold;
pub mod http;
pub mod interstitial;
pub mod marks;
pub mod outage;
pub mod outcome;
pub mod pace;
pub mod redirect;
pub mod robots_notes;
pub mod scope;
pub mod visit;
pub mod window;
