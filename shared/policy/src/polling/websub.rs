//! Discovery of a feed's hub (WebSub §4). Subscriptions are in [`crate::polling::subscription`].

use crate::address;
use curlew_model::Hub;
use curlew_text::links::{MOST_LINKS, split, target};
use url::Url;

/// Returns the first hub of a feed, if its own address is named too: either by Link headers or else by the document.
pub fn discover(links: &[String], hub: Option<&str>, own: Option<&str>, base: &Url) -> Option<Hub> {
    let named =
        |rel: &str| links.iter().flat_map(|header| split(header)).take(MOST_LINKS).find_map(|link| target(link, rel));
    let url = |text: &str| address::parse(text, Some(base)).ok().map(String::from);
    let hub = named("hub").and_then(url).or_else(|| hub.and_then(url))?;
    let topic = named("self").and_then(url).or_else(|| own.and_then(url))?;
    Some(Hub { url: hub, topic })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(links: &[&str], hub: Option<&str>, own: Option<&str>) -> Option<(String, String)> {
        let base = Url::parse("https://example.org/blog/feed").unwrap_or_else(|e| panic!("{e}"));
        let links: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
        discover(&links, hub, own, &base).map(|hub| (hub.url, hub.topic))
    }

    fn both(hub: &str, topic: &str) -> Option<(String, String)> {
        Some((hub.to_owned(), topic.to_owned()))
    }

    #[test]
    fn f10_link_headers_come_before_links_in_the_document_and_both_relations_are_needed() {
        let (hub, own) = (Some("https://doc.example/hub"), Some("https://example.org/doc"));
        let header = ["<https://hub.example/>; rel=\"hub\", </feed>; rel=self"];
        assert_eq!(found(&header, hub, own), both("https://hub.example/", "https://example.org/feed"));
        assert_eq!(found(&[], hub, own), both("https://doc.example/hub", "https://example.org/doc"));
        assert_eq!(
            found(&["<https://hub.example/>;REL=Hub"], None, own),
            both("https://hub.example/", "https://example.org/doc")
        );
        assert_eq!(found(&header[..0], hub, None), None);
        assert_eq!(found(&[], None, own), None);
        assert_eq!(found(&["</feed>; rel=self"], None, None), None);
    }

    #[test]
    fn f10_headers_are_read_as_they_are_written() {
        let link = "<https://a.example/?x=1,2;rel=hub>; title=\"a, b; \\\" <c>\"; rel=next, \
                    <https://hub.example/a,b>; type=x; rel=\"other  hub\"; rel=self, <s>; rel=\"self\"";
        assert_eq!(found(&[link], None, None), both("https://hub.example/a,b", "https://example.org/blog/s"));
        for nonsense in
            ["", "<", "<>", "rel=hub", "<https://a.example/", "<javascript:x>; rel=hub", "<http://u:p@a/>; rel=hub"]
        {
            assert_eq!(found(&[nonsense], None, Some("https://example.org/")), None, "{nonsense}");
        }
    }
}
