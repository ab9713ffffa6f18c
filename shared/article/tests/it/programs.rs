//! Tests that extraction gives the same result for pages without scripts and style sheets, which are not sent to it.

use curlew_article::{Limits, extract, scan_head};
use url::Url;

const PROSE: &str = "<h1>The bridge</h1><p>On Monday morning the bridge over the weir was closed after a lorry had taken most of the railing with it, and the county says that it will stay so until the stones are back in their place.</p>";

/// Returns the page in the form in which it is sent, after an assertion that extraction reads the same from both forms.
fn sent(html: &str) -> String {
    let page: Url = "https://site.example.org/news/a".parse().unwrap();
    let limits = Limits::default();
    let html = format!("{html}{PROSE}");
    let sent = scan_head(&html, &page, &limits).unwrap().without_programs(&html).into_owned();
    assert_eq!(extract(&sent, &page, &limits), extract(&html, &page, &limits), "{html}");
    sent.strip_suffix(PROSE).unwrap_or(&sent).to_owned()
}

#[test]
fn programs_and_style_sheets_are_left_out() {
    for (html, want) in [
        ("<style>p { color: red }</style>", "<style></style>"),
        ("<STYLE media=print>p{}</Style ><script>a < b</script>", "<STYLE media=print></Style ><script></script>"),
        (
            "<script type=module>import x</script><script src=/a.js></script>",
            "<script type=module></script><script src=/a.js></script>",
        ),
        ("<script type=' Text/JavaScript '>'é'</script>", "<script type=' Text/JavaScript '></script>"),
        ("<script><!-- '<script></script>' --></script>", "<script></script>"),
        ("<script>document.write('<meta name=robots content=none><title>x')</script>", "<script></script>"),
    ] {
        assert_eq!(sent(html), want);
    }
}

#[test]
fn what_extraction_may_read_of_scripts_is_kept() {
    for html in [
        r#"<script type="application/ld+json">{"@type":"Article","headline":"A bridge"}</script>"#,
        r#"<script id=__NEXT_DATA__ type="application/json">{"a":1}</script>"#,
        r#"<script>self.__next_f.push([1,"a"])</script>"#,
        r#"<script>window.__NUXT__={a:1}</script>"#,
        r#"<script>window.__INITIAL_STATE__ = {"a":1}</script>"#,
        r#"<script>var post = {"datePublished":"2026-05-01T10:00:00Z"}</script>"#,
        r#"<script>push("{\"publishedAt\":\"2026-05-01\"}")</script>"#,
        r#"<script type="application/rsl+xml"><rsl/></script>"#,
        "<script type=text/template><p>a</p></script>",
        "<svg><style>a<b>c</style></svg>",
        "<textarea><style>a</style></textarea><title><script>a</script></title>",
        "<noscript><p>a</p></noscript><iframe>a</iframe><!-- a --><style></style><style",
    ] {
        assert_eq!(sent(html), html);
    }
}
