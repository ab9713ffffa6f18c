//! Several checks on one crawled store. Each check runs whatever the outcome of the others, and all failures are
//! reported.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The checks of one test, so far.
#[derive(Debug, Default)]
pub struct Steps {
    failed: Vec<String>,
    ended: bool,
}

impl Steps {
    /// Creates an empty list.
    pub fn new() -> Steps {
        Steps::default()
    }

    /// Runs one check.
    pub fn step(&mut self, name: &str, check: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(check)).is_err() {
            self.failed.push(name.to_owned());
        }
    }

    /// Ends the test.
    ///
    /// # Panics
    /// Panics if any check has failed; the message of each failure is printed above.
    pub fn end(mut self) {
        self.ended = true;
        assert!(self.failed.is_empty(), "failed: {}", self.failed.join("; "));
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        assert!(self.ended || std::thread::panicking(), "a test with steps must end them");
    }
}
