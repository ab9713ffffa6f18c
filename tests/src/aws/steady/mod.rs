//! Everyday use in simulated time: the real functions over in-memory services that bill as AWS does, and a web whose
//! answers take time. Nothing waits for a real clock, so a day takes minutes, and two machines give the same result.
//!
//! | file | job |
//! |---|---|
//! | `cloud.rs` | tables, queues and objects in memory, and the endpoint through which a function calls them |
//! | `tables.rs` | the operations of DynamoDB that Curlew uses |
//! | `objects.rs` | the operations of S3 that Curlew uses |
//! | `queues.rs` | the operations of SQS that Curlew uses |
//! | `mappings.rs` | the switches of mappings, and the API with which dispatch switches them |
//! | `pollers.rs` | the pollers that receive for a mapping |
//! | `functions.rs` | execution environments, the duration of invocations, and the bill |
//! | `processor.rs` | the processor time of each kind of work, and how long that takes on a share of a core |
//! | `history.rs` | how often feeds had news before the run |
//! | `sites.rs` | the web: feeds with news, pages, latency |
//! | `template.rs` | memory, timeouts, batches and windows, read from the template |
//! | `clock.rs` | the simulated time |
//! | `run.rs` | the simulated days |

mod access;
mod clock;
mod cloud;
mod functions;
mod history;
mod mappings;
mod objects;
mod pollers;
mod processor;
mod queues;
mod run;
mod sites;
mod tables;
mod template;

pub use history::Load;
pub use run::{Measured, Stored, measure};
pub use sites::Traffic;
pub use template::dispatch_every;
