//! Rows of pages: written once, but for those that say something that may pass.

use crate::stage::StageError;
use curlew_model::Page;
use curlew_ports::{Pages, PortError};

/// Writes a row if there is none, or one that [may be taken up](curlew_model::PageState::may_be_taken_up); says whether it
/// was written.
pub(crate) async fn write(pages: &dyn Pages, row: &Page) -> Result<bool, StageError> {
    if pages.insert(row).await? {
        return Ok(true);
    }
    match pages.get(&row.id).await? {
        Some((old, seen)) if old.state.may_be_taken_up() && old.state != row.state => {
            match pages.swap(seen, row).await {
                Ok(_) => Ok(true),
                // Whoever was first decides.
                Err(PortError::Conflict) => Ok(false),
                Err(other) => Err(other.into()),
            }
        }
        _ => Ok(false),
    }
}
