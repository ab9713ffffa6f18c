//! A line of progress on standard error, only on a terminal.

use crate::output::count;
use curlew_wiring::Tally;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Interval at which the line is redrawn.
const TICK: Duration = Duration::from_millis(200);

/// Progress that is drawn until it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    task: JoinHandle<()>,
}

impl Progress {
    /// Draws the counts of `tally`; nothing if `quiet` is set or standard error is no terminal.
    pub(crate) fn start(tally: Arc<Tally>, quiet: bool) -> Progress {
        let bar = ProgressBar::new(0);
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template(
            "{spinner:.cyan} {elapsed_precise} {bar:28.cyan/dim} {pos}/{len} pages  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let drawn = bar.clone();
        let task = tokio::spawn(async move {
            loop {
                let c = tally.counts();
                drawn.set_length(c.entries_seen.max(1));
                drawn.set_position(c.accepted + c.rejections() + c.aliases);
                drawn.set_message(format!(
                    "{} accepted, {} rejected, {}, {}, {}",
                    c.accepted,
                    c.rejections(),
                    count(c.feeds_found, "feed"),
                    count(c.calls, "call"),
                    HumanBytes(c.bytes)
                ));
                drawn.tick();
                tokio::time::sleep(TICK).await;
            }
        });
        Progress { bar, task }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.task.abort();
        self.bar.finish_and_clear();
    }
}
