//! Rows of pages, one after another, and the reasons that they give, for a terminal.

use crate::output::{ADDRESS, printable};
use crate::world::{LIST, World};
use anyhow::Result;
use curlew_model::{Page, PageId, PageState};
use curlew_people::descriptions;

/// Visits all rows of pages, one after another.
pub(super) async fn each_page(world: &World, mut each: impl AsyncFnMut(&Page) -> Result<()>) -> Result<()> {
    let mut after: Option<PageId> = None;
    loop {
        let rows = world.ports.pages.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.id.clone());
        for page in &rows {
            each(page).await?;
        }
    }
}

/// Returns the reason why a page is not found, if it is not, for the end of a line.
pub(super) fn why(state: &PageState) -> String {
    descriptions::why(state).map(|why| format!("  {}", printable(&why, ADDRESS))).unwrap_or_default()
}
