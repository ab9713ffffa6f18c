//! Reads the attributes of an element that say what it is, once for all who ask.

use crate::read::boilerplate::conceals;
use scraper::node::Element;

/// The attributes of an element that say what it is; texts are empty where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) class: &'a str,
    pub(crate) id: &'a str,
    pub(crate) role: &'a str,
    pub(crate) rel: &'a str,
    /// Its properties of microdata.
    pub(crate) itemprop: &'a str,
    /// True if it begins an item of microdata.
    pub(crate) itemscope: bool,
    /// True if it is hidden, or asks not to be quoted, by anything but its class.
    pub(crate) conceals: bool,
}

impl<'a> Attributes<'a> {
    pub(crate) fn of(element: &'a Element) -> Attributes<'a> {
        let mut found = Attributes::default();
        for (name, value) in &element.attrs {
            let value: &str = value;
            match &*name.local {
                "class" => found.class = value,
                "id" => found.id = value,
                "role" => found.role = value,
                "rel" => found.rel = value,
                "itemprop" => found.itemprop = value,
                "itemscope" => found.itemscope = true,
                name => found.conceals |= conceals(name, value),
            }
        }
        found
    }
}
