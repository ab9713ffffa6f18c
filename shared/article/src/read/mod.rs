//! Reads a page: its limits, its tags, its tree, and the outline of the tree that all rules use.

pub(crate) mod boilerplate;
mod boxes;
pub(crate) mod changes;
pub(crate) mod dom;
pub(crate) mod elements;
pub(crate) mod gate;
pub(crate) mod images;
pub(crate) mod links;
pub(crate) mod outline;
pub(crate) mod place;
pub(crate) mod scan_head;
pub(crate) mod sink;
pub(crate) mod stored;
pub(crate) mod tokens;
pub(crate) mod walk;
