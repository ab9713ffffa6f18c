//! Classifies elements, in any language, by the e-mail fields, embedded media and comment anchors in them.

use crate::read::dom::attr;
use crate::read::outline::{Block, Kind, Tag};
use scraper::node::Element;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contents {
    asks: bool,
    embeds: bool,
    /// Anchor after which comments begin.
    pub(super) comments: Option<Anchor>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub(super) block: usize,
    pub(super) serial: usize,
}

impl Contents {
    pub(super) fn of_mute(element: &Element) -> Contents {
        let embeds = matches!(element.name(), "iframe" | "video" | "audio" | "object" | "embed");
        Contents { asks: asks_for_address(element), embeds, comments: None }
    }

    pub(super) fn of_anchor(block: usize, serial: usize) -> Contents {
        Contents { comments: Some(Anchor { block, serial }), ..Contents::default() }
    }

    pub(super) fn add(&mut self, inner: Contents) {
        self.asks |= inner.asks;
        self.embeds |= inner.embeds;
        self.comments = self.comments.or(inner.comments);
    }

    /// Returns the kind of an element that ends here; leaves in `self` what concerns the element around it.
    pub(super) fn judged(&mut self, tag: &str, in_line: bool, blocks: &[Block]) -> Option<Kind> {
        const MAX_ASKING_LINES: usize = 4;
        const MAX_ASKING_WIDTH: usize = 240;
        const MAX_BESIDE_LINES: usize = 2;
        const MAX_BESIDE_WIDTH: usize = 90;
        if in_line || !(self.asks || self.embeds) {
            self.embeds = false;
            return None;
        }
        // The number of lines examined is limited, however deep elements nest.
        let is_small = |lines: usize, width: usize| {
            blocks.len() <= lines && blocks.iter().map(|block| block.chars).sum::<usize>() <= width
        };
        let is_box = matches!(tag, "div" | "section" | "figure" | "center");
        let has_heading = || blocks.iter().any(|block| matches!(block.tag, Tag::Heading(_)));
        let captioned = std::mem::take(&mut self.embeds)
            && is_box
            && is_small(MAX_BESIDE_LINES, MAX_BESIDE_WIDTH)
            && !has_heading();
        self.asks &= is_small(MAX_ASKING_LINES, MAX_ASKING_WIDTH);
        if self.asks { Some(Kind::Widget) } else { captioned.then_some(Kind::Caption) }
    }
}

fn asks_for_address(element: &Element) -> bool {
    let is_mail = |value: &str| value.to_ascii_lowercase().contains("mail");
    element.name() == "input"
        && attr(element, "type").is_none_or(|kind| !kind.eq_ignore_ascii_case("hidden"))
        && ["type", "name", "placeholder", "id", "value"].iter().any(|key| attr(element, key).is_some_and(is_mail))
}

pub(crate) fn begins_comments(element: &Element) -> bool {
    let named =
        |key| attr(element, key).is_some_and(|name| matches!(name, "comments" | "comment" | "Comments" | "kommentare"));
    attr(element, "href").is_none() && (named("name") || named("id"))
}
