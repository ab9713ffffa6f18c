//! Everyday use in simulated time: the real functions over services in memory, which bill as AWS does, and a web whose
//! answers take their time. Nothing waits for a real clock, so a day takes minutes, and two machines agree.
//!
//! | file | job |
//! |---|---|
//! | `cloud.rs` | tables, queues and objects in memory, and the door through which one function calls them |
//! | `tables.rs` | the operations of DynamoDB that Curlew uses |
//! | `objects.rs` | those of S3 |
//! | `queues.rs` | those of SQS |
//! | `mappings.rs` | whether mappings are on, and the API by which dispatch switches them |
//! | `pollers.rs` | the pollers that receive for a mapping |
//! | `functions.rs` | execution environments, their time and their bill |
//! | `processor.rs` | what work costs in processor time, and how long it takes on a share of a core |
//! | `history.rs` | how often feeds had news before |
//! | `sites.rs` | the web: feeds with news, pages, latency |
//! | `template.rs` | memory, timeouts, batches and windows, as the template has them |
//! | `clock.rs` | the simulated time |
//! | `run.rs` | the days that are simulated |

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
