//! The program: what the command line and the functions run, over any store.
//!
//! A driver opens its store and gives its ports and settings to [`program()`]; what comes out are the three doors of
//! [`program::Program`]. Nothing here knows which store it is.
mod assembly;
mod clock;
mod contact;
mod error;
mod histogram;
mod keys;
pub mod program;
mod screening;
mod secret;
mod settings;
mod tally;
mod threads;

pub use assembly::{Memory, Surroundings, fetcher, program};
#[cfg(target_os = "linux")]
pub use clock::kernel_time;
pub use clock::{SystemClock, SystemSeeds};
pub use error::BadSettings;
pub use histogram::Histogram;
pub use keys::{KeyStore, KeyVersion};
pub use screening::{ImageScreening, MODEL_FOLDER};
pub use secret::{random_secret, web_secret};
pub use settings::{
    AdminPages, Effective, Flags, Limits, LogForm, MetricsAccess, Origin, STACK_MODEL, STACK_SETTINGS, Settings, Web,
    with_paused,
};
pub use tally::{Counts, Tally, status_class};
pub use threads::{CpuThreads, PARSE_TIME};
