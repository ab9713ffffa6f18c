//! The bundled sites, one file for each group.

mod broken;
mod content;
mod directives;
mod feeds;
mod hostile;
mod markup;
mod redirects;
mod robots;
mod status;
mod wordpress;

use crate::site::Site;

/// Returns all sites, in the order of the files.
pub(crate) fn all() -> Vec<Site> {
    [
        wordpress::sites(),
        markup::sites(),
        feeds::sites(),
        broken::sites(),
        robots::sites(),
        redirects::sites(),
        directives::sites(),
        status::sites(),
        content::sites(),
        hostile::sites(),
    ]
    .concat()
}
