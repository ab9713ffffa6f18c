//! Reads schema.org microdata (HTML, "microdata"). An item has the properties below it up to the next item, which is
//! itself a value, so a comment's author is not taken for the article's.

use crate::markup::{MAX_AUTHORS, Statements, is_article, is_false};
use crate::read::dom::attr;
use crate::read::elements::{is_long_property, property_value};
use crate::read::outline::Outline;
use curlew_text::leftovers::is_leftover;
use ego_tree::{NodeId, NodeRef};
use scraper::{Html, Node};
use std::collections::HashMap;

const MAX_ITEMS: usize = 200;
const MAX_NAMES: usize = 8;
const MAX_PROPERTIES: usize = 200;
/// Maximum number of nodes examined for all items.
const ELEMENTS: usize = 100_000;
/// Steps for reading the texts of all properties; elements nest, so one text may contain another.
const LOOKS: usize = 500_000;

/// Reads the statements of the article's item; for missing ones, the first such property that is outside of items.
pub(crate) fn read(tree: &Html, outline: &Outline<'_>) -> Statements {
    let items = if outline.items.is_empty() { Items::default() } else { Items::read(tree, &outline.items) };
    let article = items.article();
    let mut out = article.map(|article| items.says(article)).unwrap_or_default();
    out.steps = items.steps;
    let loose = |wanted: &str| {
        // If there is an article's item, only properties outside of all items are added to it.
        let own = outline.props.iter().filter(|prop| article.is_none() || !prop.in_item);
        own.filter(|prop| prop.names.split_ascii_whitespace().any(|name| name == wanted))
            .map(|prop| prop.value.trim())
            .find(|value| !value.is_empty() && !is_leftover(value))
            .map(str::to_owned)
    };
    out.headline = out.headline.or_else(|| loose("headline"));
    out.published = out.published.or_else(|| loose("datePublished")).or_else(|| loose("dateCreated"));
    out.modified = out.modified.or_else(|| loose("dateModified"));
    out.image = out.image.or_else(|| loose("image")).or_else(|| loose("thumbnailUrl"));
    out.author = out.author.or_else(|| loose("author")).or_else(|| loose("creator"));
    out
}

#[derive(Debug)]
enum Value {
    Text(String),
    Item(usize),
}

#[derive(Debug, Default)]
struct Item<'a> {
    kinds: Vec<&'a str>,
    properties: Vec<(&'a str, Value)>,
    inner: bool,
}

struct Budget {
    nodes: usize,
    looks: usize,
}

impl Budget {
    /// Returns the child elements of a node, last one first, as long as the budget lasts.
    fn elements<'a>(&mut self, node: NodeRef<'a, Node>) -> Vec<NodeRef<'a, Node>> {
        let mut children: Vec<_> = node.children().take(self.nodes).collect();
        self.nodes -= children.len();
        children.retain(|child| child.value().is_element());
        children.reverse();
        children
    }
}

#[derive(Debug, Default)]
struct Items<'a> {
    list: Vec<Item<'a>>,
    steps: u64,
}

impl<'a> Items<'a> {
    fn read(tree: &'a Html, roots: &[NodeId]) -> Items<'a> {
        let roots: Vec<NodeRef<'a, Node>> = roots.iter().take(MAX_ITEMS).filter_map(|id| tree.tree.get(*id)).collect();
        let numbers: HashMap<NodeId, usize> = roots.iter().enumerate().map(|(at, root)| (root.id(), at)).collect();
        let mut budget = Budget { nodes: ELEMENTS, looks: LOOKS };
        let mut list: Vec<Item<'a>> = roots.iter().map(|root| item(*root, &numbers, &mut budget)).collect();
        let properties = list.iter().flat_map(|item| item.properties.iter());
        let items = properties.filter_map(|(_, value)| if let Value::Item(at) = value { Some(*at) } else { None });
        for at in items.collect::<Vec<usize>>() {
            list[at].inner = true;
        }
        let steps = (ELEMENTS - budget.nodes + LOOKS - budget.looks) as u64;
        Items { list, steps }
    }

    /// Returns the index of the page's article: the main entity, else the one with most statements, else the only one.
    fn article(&self) -> Option<usize> {
        let is_kind = |item: &&Item<'_>| item.kinds.iter().any(|kind| is_article(kind));
        let main = self.list.iter().flat_map(|item| item.properties.iter()).find_map(|(name, value)| match value {
            Value::Item(at) if *name == "mainEntity" => self.list.get(*at).filter(is_kind).map(|_| *at),
            _ => None,
        });
        let tells = |item: &Item<'_>| {
            let telling = ["headline", "articleBody", "datePublished", "author", "image"];
            telling.iter().filter(|wanted| item.properties.iter().any(|(name, _)| name == *wanted)).count()
        };
        let outer = self.list.iter().enumerate().filter(|(_, item)| is_kind(item) && !item.inner);
        // The only post of a blog is a value of the blog's item.
        let mut posts = self.list.iter().enumerate().filter(|(_, item)| is_kind(item) && item.kinds != ["Review"]);
        let only = posts.next().filter(|_| posts.next().is_none()).map(|(at, _)| at);
        // The first of the items with the most statements wins: lists of posts have many with equal counts.
        main.or_else(|| outer.rev().max_by_key(|(_, item)| tells(item)).map(|(at, _)| at)).or(only)
    }

    fn says(&self, article: usize) -> Statements {
        let text = |names: &[&str]| names.iter().find_map(|name| self.texts(article, name).into_iter().next());
        let authors = [self.texts(article, "author"), self.texts(article, "creator")];
        let authors = authors.into_iter().find(|names| !names.is_empty()).unwrap_or_default();
        let authors: Vec<String> = authors.into_iter().take(MAX_AUTHORS).collect();
        Statements {
            headline: text(&["headline", "name"]),
            published: text(&["datePublished", "dateCreated"]),
            modified: text(&["dateModified"]),
            image: self.image(article, &["image", "thumbnailUrl", "primaryImageOfPage", "associatedMedia"]),
            author: (!authors.is_empty()).then(|| authors.join(", ")),
            publisher: text(&["publisher"]),
            language: text(&["inLanguage"]),
            is_paywalled: text(&["isAccessibleForFree"]).is_some_and(|is_free| is_false(&is_free)),
            steps: self.steps,
            ..Statements::default()
        }
    }
    fn values(&self, item: usize, wanted: &str) -> impl Iterator<Item = &Value> {
        let properties = self.list.get(item).into_iter().flat_map(|item| item.properties.iter());
        properties.filter(move |(name, _)| *name == wanted).map(|(_, value)| value)
    }

    fn text(&self, item: usize, wanted: &str) -> Option<String> {
        self.values(item, wanted)
            .find_map(|value| if let Value::Text(text) = value { Some(text.clone()) } else { None })
    }

    /// Returns the texts of a property; for an item as value, its name.
    fn texts(&self, item: usize, wanted: &str) -> Vec<String> {
        let texts = self.values(item, wanted).filter_map(|value| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Item(at) => self.text(*at, "name"),
        });
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    /// Returns the address of the first image; for an ImageObject, its `contentUrl`, `url` or `image`.
    fn image(&self, item: usize, names: &[&str]) -> Option<String> {
        let address = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            Value::Item(at) => ["contentUrl", "url", "image"].iter().find_map(|name| self.text(*at, name)),
        };
        names.iter().find_map(|wanted| self.values(item, wanted).find_map(address))
    }
}

/// Reads one item (HTML, "the properties of an item"), without recursion; ignores its `itemref`.
fn item<'a>(root: NodeRef<'a, Node>, numbers: &HashMap<NodeId, usize>, budget: &mut Budget) -> Item<'a> {
    let Some(element) = root.value().as_element() else { return Item::default() };
    let kinds = attr(element, "itemtype").unwrap_or_default().split_ascii_whitespace();
    let kinds = kinds.map(|kind| kind.rsplit(['/', '#', ':']).next().unwrap_or(kind)).collect();
    let mut out = Item { kinds, properties: Vec::new(), inner: false };
    let mut waiting = budget.elements(root);
    while let Some(node) = waiting.pop() {
        let Some(element) = node.value().as_element() else { continue };
        if budget.nodes == 0 || out.properties.len() >= MAX_PROPERTIES {
            break;
        }
        let scope = attr(element, "itemscope").is_some();
        if let Some(names) = attr(element, "itemprop") {
            for name in names.split_ascii_whitespace().take(MAX_NAMES) {
                let name = name.rsplit('/').next().unwrap_or(name);
                match numbers.get(&node.id()) {
                    Some(at) => out.properties.push((name, Value::Item(*at))),
                    None if scope || is_long_property(name) => {}
                    None => {
                        let text = property_value(name, node, element, &mut budget.looks);
                        if !is_leftover(&text) {
                            out.properties.push((name, Value::Text(text)));
                        }
                    }
                }
            }
        }
        if !scope {
            waiting.extend(budget.elements(node));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::Limits;

    fn says(html: &str) -> Statements {
        let tree = crate::read::dom::build(html, &Limits::default(), &mut 0).unwrap();
        let page = "https://site.example.org/a".parse().unwrap();
        let outline = crate::read::walk::walk(&tree, &page, &Limits::default()).unwrap();
        read(&tree, &outline)
    }

    #[test]
    fn what_inner_items_say_is_not_the_articles() {
        let micro = says(
            "<div itemscope itemtype=http://schema.org/Comment><b itemprop=author>A reader</b><time itemprop=dateCreated>2026-05-09</time></div>\
             <article itemscope itemtype=https://schema.org/NewsArticle><h1 itemprop=headline>A bridge falls</h1>\
             <div itemprop=publisher itemscope itemtype=Organization><b itemprop=name>The Weir</b><img itemprop=logo src=/logo.png></div>\
             <div itemprop=comment itemscope itemtype=https://schema.org/Comment><b itemprop=author>Another reader</b></div>\
             <div itemprop=image itemscope itemtype=https://schema.org/ImageObject><meta itemprop=width content=800><meta itemprop=url content=/bridge.jpg></div>\
             <p itemprop=author itemscope itemtype=https://schema.org/Person><a itemprop='url' href=/ada><span itemprop=name>Ada Example</span></a></p>\
             <p itemprop='author creator' itemscope><span itemprop=name>Ben Example</span></p>\
             <time itemprop='datePublished dateModified' datetime=2026-05-01>yesterday</time></article>",
        );
        assert_eq!(micro.headline.as_deref(), Some("A bridge falls"));
        assert_eq!(micro.author.as_deref(), Some("Ada Example, Ben Example"));
        assert_eq!(micro.image.as_deref(), Some("/bridge.jpg"));
        assert_eq!(micro.publisher.as_deref(), Some("The Weir"));
        assert_eq!(micro.published.as_deref(), Some("2026-05-01"));
        assert_eq!(micro.modified.as_deref(), Some("2026-05-01"));
    }

    #[test]
    fn of_several_items_the_main_one_speaks() {
        let teaser = "<div itemscope itemtype=https://schema.org/Article><b itemprop=headline>A teaser</b></div>";
        let article = "<div itemscope itemtype=https://schema.org/BlogPosting><b itemprop=headline>The story</b><b itemprop=author>Ada</b></div>";
        assert_eq!(says(&format!("{teaser}{article}{teaser}")).headline.as_deref(), Some("The story"));
        let main = "<body itemscope itemtype=https://schema.org/WebPage><div itemprop=mainEntity itemscope itemtype=https://schema.org/Article>\
            <b itemprop=headline>The story</b></div>";
        assert_eq!(says(&format!("{main}{article}")).headline.as_deref(), Some("The story"));
        let blog = "<div itemscope itemtype=https://schema.org/Blog><h2 itemprop=name>My blog</h2><div itemprop=blogPost itemscope \
            itemtype=https://schema.org/BlogPosting><b itemprop=headline>The story</b></div></div>";
        assert_eq!(says(blog).headline.as_deref(), Some("The story"));
    }

    #[test]
    fn properties_without_an_item_count_too() {
        let micro =
            says("<p><span itemprop=author>Ada Example</span> <time itemprop=datePublished>1 May 2026</time></p>");
        assert_eq!((micro.author.as_deref(), micro.published.as_deref()), (Some("Ada Example"), Some("1 May 2026")));
    }
}
