//! Progress on standard error: a bar on a terminal, otherwise a line every ten seconds.

use crate::output::{self, count};
use curlew_app::{Counts, Tally};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

const TICK: Duration = Duration::from_millis(200);
/// Interval between lines if standard error is not a terminal.
const LINE: Duration = Duration::from_secs(10);

/// Progress that is shown until this is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    task: JoinHandle<()>,
}

impl Progress {
    /// Shows the counts of `tally`; nothing if `quiet` is set.
    pub(crate) fn start(tally: Arc<Tally>, quiet: bool) -> Progress {
        let is_drawn = !quiet && std::io::stderr().is_terminal();
        let bar = if is_drawn { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template(
            "{spinner:.cyan} {elapsed_precise} {bar:28.cyan/dim} {pos}/{len} pages  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let drawn = bar.clone();
        let task = tokio::spawn(async move {
            if quiet {
                return;
            }
            loop {
                if !is_drawn {
                    tokio::time::sleep(LINE).await;
                    output::error_line(format!("curlew: so far {}", words(&tally.counts())));
                    continue;
                }
                let c = tally.counts();
                drawn.set_length(c.entries_seen.max(1));
                drawn.set_position(c.accepted + c.rejections() + c.aliases);
                drawn.set_message(words(&c));
                drawn.tick();
                tokio::time::sleep(TICK).await;
            }
        });
        Progress { bar, task }
    }
}

fn words(counts: &Counts) -> String {
    format!(
        "{} accepted, {} rejected, {}, {}, {}",
        counts.accepted,
        counts.rejections(),
        count(counts.feeds_found, "feed"),
        count(counts.calls, "call"),
        HumanBytes(counts.bytes)
    )
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.task.abort();
        self.bar.finish_and_clear();
    }
}
