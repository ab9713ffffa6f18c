//! Rows of pages: written once, but for those that say something that may pass, or that get a second look.

use curlew_model::{Page, PageState, Rejection};
use curlew_policy::page::sampling;
use curlew_ports::stage::Result;
use curlew_ports::{Pages, PortError};

/// Writes a row if there is none, or one that [may be taken up](PageState::may_be_taken_up) or [looked at
/// again](sampling::may_look_again); says whether it was written. The second look at a page whose host cannot be
/// reached leaves the reason of its rejection.
pub(crate) async fn write(pages: &dyn Pages, row: &Page) -> Result<bool> {
    if pages.insert(row).await? {
        return Ok(true);
    }
    let Some((old, seen)) = pages.get(&row.id).await? else { return Ok(false) };
    let is_second_look = sampling::may_look_again(&old, row.at);
    if !is_second_look && (!old.state.may_be_taken_up() || old.state == row.state) {
        return Ok(false);
    }
    let mut row = Page { rejected_at: sampling::first_rejected(&old), ..row.clone() };
    if is_second_look && matches!(row.state, PageState::Rejected { reason: Rejection::HostUnavailable(_) }) {
        row.state = old.state;
    }
    match pages.swap(seen, &row).await {
        Ok(_) => Ok(true),
        // The first writer decides.
        Err(PortError::Conflict) => Ok(false),
        Err(other) => Err(other.into()),
    }
}
