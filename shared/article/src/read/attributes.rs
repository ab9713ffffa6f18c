//! Reads the attributes of an element that say what it is, once for all who ask.

use crate::read::images::{background, is_photo};
use scraper::node::Element;

/// The attributes of an element that say what it is; absent ones are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) class: &'a str,
    pub(crate) id: &'a str,
    pub(crate) role: &'a str,
    pub(crate) rel: &'a str,
    pub(crate) itemprop: &'a str,
    /// Properties of RDFa.
    pub(crate) property: &'a str,
    pub(crate) itemscope: bool,
    /// True if it is hidden, or asks not to be quoted, by anything but its class and `aria-hidden`.
    pub(crate) conceals: bool,
    /// True if it is kept from screen readers, as ornaments are.
    pub(crate) is_unspoken: bool,
    pub(crate) background: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn read(element: &'a Element) -> Attributes<'a> {
        let mut found = Attributes::default();
        for (name, value) in &element.attrs {
            let value: &str = value;
            match &*name.local {
                "class" => found.class = value,
                "id" => found.id = value,
                "role" => found.role = value,
                "rel" => found.rel = value,
                "itemprop" => found.itemprop = value,
                "property" => found.property = value,
                "itemscope" => found.itemscope = true,
                "aria-hidden" => found.is_unspoken = value.eq_ignore_ascii_case("true"),
                "style" => {
                    found.conceals |= concealing(value);
                    found.background = found.background.or_else(|| background(value));
                }
                name if name.starts_with("data-b") && is_photo(value) => found.background = Some(value),
                "data-nosnippet" => found.conceals = true,
                "hidden" => found.conceals |= !value.eq_ignore_ascii_case("until-found"),
                _ => {}
            }
        }
        found
    }
}

/// True if a style attribute hides the element.
fn concealing(style: &str) -> bool {
    is_undisplayed(style)
        || declares(style, "visibility", |value| value.eq_ignore_ascii_case("hidden"))
        || declares(style, "font-size", |value| matches!(value, "0" | "0px" | "1px"))
}

/// True if a style attribute takes the element out of the page; a script may show it again.
pub(crate) fn is_undisplayed(style: &str) -> bool {
    declares(style, "display", |value| value.eq_ignore_ascii_case("none"))
}

/// True if a style attribute gives a property such a value.
fn declares(style: &str, property: &str, is: impl Fn(&str) -> bool) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(name, value)| {
        name.trim().eq_ignore_ascii_case(property) && is(value.trim().trim_end_matches("!important").trim_end())
    })
}
