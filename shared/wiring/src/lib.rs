//! Settings, and the stages put together over any store.
//!
//! A driver (the command line, a function) opens its store, gives its ports to [`program()`], and runs what comes out.
//! Nothing here knows which store it is.

mod clock;
mod contact;
mod error;
mod histogram;
mod keys;
mod program;
mod screening;
mod secret;
mod settings;
mod tally;
mod threads;

#[cfg(target_os = "linux")]
pub use clock::kernel_time;
pub use clock::{SystemClock, SystemSeeds};
pub use error::BadSettings;
pub use histogram::Histogram;
pub use keys::{KeyStore, KeyVersion};
pub use program::{Memory, fetcher, program, program_over};
pub use screening::{ImageScreening, MODEL_FOLDER};
pub use secret::{random_secret, web_secret};
pub use settings::{
    AdminPages, Effective, Flags, Limits, LogForm, MetricsAccess, Origin, STACK_SETTINGS, Settings, Web, with_paused,
};
pub use tally::{Counts, Tally, status_class};
pub use threads::{CpuThreads, PARSE_TIME};
