//! Discovery of a feed's hub (WebSub §4). Subscriptions are in [`crate::polling::subscription`].

use crate::address;
use curlew_model::Hub;
use curlew_text::links::{MOST_LINKS, split, target};
use url::Url;

/// Returns the first hub of a feed, if its own address is given too; Link headers take precedence over the document.
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

    fn found(link: &str, hub: Option<&str>, own: Option<&str>) -> Option<Hub> {
        let base = Url::parse("https://example.org/blog/feed").unwrap_or_else(|e| panic!("{e}"));
        discover(&[link.to_owned()], hub, own, &base)
    }

    #[test]
    fn f10_link_headers_come_before_links_in_the_document_and_both_relations_are_needed() {
        let (hub, own) = (Some("https://doc.example/hub"), Some("https://example.org/doc"));
        let both = "<https://hub.example/>; rel=\"hub\", </feed>; rel=self";
        for (link, hub, own, expected) in [
            (both, hub, own, Some(("https://hub.example/", "https://example.org/feed"))),
            ("", hub, own, Some(("https://doc.example/hub", "https://example.org/doc"))),
            ("<https://hub.example/>;REL=Hub", None, own, Some(("https://hub.example/", "https://example.org/doc"))),
            ("", hub, None, None),
            ("", None, own, None),
            ("</feed>; rel=self", None, None, None),
        ] {
            let found = found(link, hub, own);
            assert_eq!(found.as_ref().map(|hub| (&*hub.url, &*hub.topic)), expected, "{link} {hub:?} {own:?}");
        }
    }

    #[test]
    fn f10_headers_are_read_as_they_are_written() {
        let link = "<https://a.example/?x=1,2;rel=hub>; title=\"a, b; \\\" <c>\"; rel=next, \
                    <https://hub.example/a,b>; type=x; rel=\"other  hub\"; rel=self, <s>; rel=\"self\"";
        let (url, topic) = ("https://hub.example/a,b".to_owned(), "https://example.org/blog/s".to_owned());
        assert_eq!(found(link, None, None), Some(Hub { url, topic }));
        for nonsense in
            ["", "<", "<>", "rel=hub", "<https://a.example/", "<javascript:x>; rel=hub", "<http://u:p@a/>; rel=hub"]
        {
            assert_eq!(found(nonsense, None, Some("https://example.org/")), None, "{nonsense}");
        }
    }
}
