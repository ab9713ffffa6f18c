//! Settings, and the stages put together over any store.
//!
//! A driver (the command line, a function) opens its store, gives its ports to [`Program::new`], and runs what comes out.
//! Nothing here knows which store it is.

mod clock;
mod contact;
mod error;
mod program;
mod screening;
mod secret;
mod settings;
mod tally;
mod threads;
mod words;

pub use clock::{SystemClock, SystemSeeds};
pub use error::BadSettings;
pub use program::{Memory, Ports, Program};
pub use screening::ImageScreening;
pub use secret::web_secret;
pub use settings::{Flags, Limits, LogForm, Settings, Web};
pub use tally::{Counts, Tally};
pub use threads::{CpuThreads, PARSE_TIME};
pub use words::{said_in_panic, with_causes};
