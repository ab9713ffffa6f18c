//! The bundled sites, one file for each group of shapes.

mod wordpress;

use crate::farm::Site;

/// All sites, in the order of the files.
pub(crate) fn all() -> Vec<Site> {
    [wordpress::sites()].concat()
}
