//! The program behind the command line and the AWS functions. A driver opens its store, and passes its ports and
//! settings to [`program()`], which returns a [`program::Program`].
mod assembly;
mod clock;
mod contact;
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
pub use histogram::Histogram;
pub use keys::{KeyStore, KeyVersion};
pub use screening::{ImageScreening, MODEL_FOLDER};
pub use secret::{random_secret, web_secret};
pub use settings::{
    BadSettings, Effective, Flags, LogForm, Origin, STACK_MODEL, STACK_SETTINGS, Settings, with_paused,
};
pub use tally::{Counts, Tally};
