//! `curlew --aws tick`: has functions of a stack do what its schedules would have them do.

use crate::args::TickArgs;
use crate::optional::invoke;
use crate::output;
use anyhow::Result;
use curlew_app::SystemClock;
use curlew_ports::Clock as _;
use serde_json::json;

/// Invokes dispatch, and if they are named sample and index, one after the other, with the events of their schedules.
pub(super) async fn run(stack: &str, args: &TickArgs) -> Result<()> {
    let events = [
        (true, "dispatch", json!({})),
        (args.sample, "sample", json!({ "time": SystemClock::new().now() })),
        (args.publish, "index", json!({ "what": "publish" })),
    ];
    for (_, function, event) in events.into_iter().filter(|(is_named, ..)| *is_named) {
        invoke(stack, function, &event.to_string()).await?;
        output::line(&format!("{function} is done"))?;
    }
    Ok(())
}
