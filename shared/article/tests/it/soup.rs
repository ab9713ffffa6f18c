//! Tests that arbitrary markup never makes extraction panic, and that its result has the documented properties.

use curlew_article::{Limits, decode, extract, scan_head, validity};
use proptest::prelude::*;
use url::Url;

/// Generates fragments that the rules react to, and fragments that are difficult for tree builders.
fn piece() -> impl Strategy<Value = String> {
    let tags = "html head body div p a b i table tr td ul li svg path math template select option frameset article main h1 \
        h2 time script style title textarea pre noscript img br form button nobr";
    let attributes = "|class=entry-content|class='related posts'|hidden|itemprop=articleBody|itemprop=author|id=S:1|id=B:1|\
        datetime=2026-05-01|style='display:none'|role=main|src='a.jpg' srcset='b.jpg 2x, c.jpg 3x'|href='?x#y'|\
        class='byline date'|content=&#0;&amp";
    let tag = || prop::sample::select(tags.split(' ').collect::<Vec<_>>());
    let attribute = prop::sample::select(attributes.split('|').collect::<Vec<_>>());
    prop_oneof![
        (tag(), attribute).prop_map(|(tag, attribute)| format!("<{tag} {attribute}>")),
        tag().prop_map(|tag| format!("</{tag}>")),
        prop::sample::select(vec![
            "<meta property=og:title content='Tide &amp; time - News'>", "<link rel=canonical href=/a>", "<base href=//x/>", "<!--", "-->", "<![CDATA[", "]]>", "<", "&", "\0",
            "<script type=application/ld+json>{\"@graph\":[{\"@type\":[\"Article\"],\"articleBody\":\"a\nb\",}]};</script>", "Published May 1, 2026", "By Ada Example | 2026/05/01",
        ]).prop_map(str::to_owned),
        "\\PC{0,40}",
        "[a-z ]{0,200}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soup_is_read_without_panic(pieces in prop::collection::vec(piece(), 0..120)) {
        let html = pieces.concat();
        let page: Url = "https://news.example.org/a/b?c=d".parse().map_err(|_| TestCaseError::fail("url"))?;
        let limits = Limits { text_chars: 500, title_chars: 50, ..Limits::default() };
        let _ = scan_head(&html, &page, &limits);
        if let Ok(article) = extract(&html, &page, &limits) {
            prop_assert!(article.text.chars().count() <= 500);
            for title in [&article.title, &article.author, &article.site_name].into_iter().flatten() {
                prop_assert!(!title.is_empty() && title.chars().count() <= 50);
                prop_assert!(!title.chars().any(char::is_control), "{title:?}");
            }
            prop_assert!(!article.text.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(article.image.iter().chain(&article.canonical).all(|url| matches!(url.scheme(), "http" | "https")));
            let _ = validity(article.title.as_deref(), &article.text, None);
        }
    }

    #[test]
    fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..400), label in "[a-z0-9-]{0,12}") {
        let text = decode(&bytes, Some(&format!("text/html; charset={label}")));
        let again = decode(&bytes, Some(&format!("text/html; charset={label}")));
        prop_assert_eq!(text, again);
    }
}
