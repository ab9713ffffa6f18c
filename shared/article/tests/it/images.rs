//! The main image, and further choices.

use crate::story::{TEXT, read};
use curlew_article::{Limits, scan_head};
use url::Url;

#[test]
fn the_main_image_has_second_choices_and_what_a_template_left_is_none() {
    let good = "<meta name=twitter:image content=/card.jpg><img src=/body.jpg>";
    let site = "https://site.example.org";
    for left in [
        "{{ page.image }}",
        "[object Object]",
        "http://localhost:4321/a.png",
        "http://127.0.0.1/a.png",
        "http://192.168.1.7/a.png",
        "https://site.examplehttps://cdn.example/a.png",
        "https://site.exampleundefined",
        "https://site.example.org/https://cdn.example/a.png",
        "http://blog.local/a.png",
        "http://[fd00::1]/a.png",
        "/icon.ico",
        "/drawing.svg",
    ] {
        let html = format!("<meta property=og:image content='{left}'>{good}");
        let read = read(&html);
        assert_eq!(read.image.map(String::from), Some(format!("{site}/card.jpg")), "{left}");
        assert_eq!(
            read.other_images.iter().map(Url::as_str).collect::<Vec<_>>(),
            [format!("{site}/body.jpg")],
            "{left}"
        );
        let page = Url::parse("https://site.example.org/a").unwrap_or_else(|e| panic!("{e}"));
        let head = scan_head(&html, &page, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(head.image.map(String::from), Some(format!("{site}/card.jpg")), "{left}");
    }
    let undecoded = read("<meta property=og:image content=/a.avif?w=9><img src=/body.jpg>");
    let choices: Vec<_> = undecoded.image.iter().chain(&undecoded.other_images).map(Url::path).collect();
    assert_eq!(choices, ["/body.jpg", "/a.avif"]);
    let three = read(&format!("<meta property=og:image content=/a.jpg><meta property=og:image content=/b.jpg>{good}"));
    let choices: Vec<_> = three.image.iter().chain(&three.other_images).map(Url::path).collect();
    assert_eq!(choices, ["/a.jpg", "/b.jpg", "/body.jpg"], "the last one is the text's");
}

#[test]
fn the_main_image_is_the_one_told_else_a_large_one_of_the_text() {
    for (html, want) in [
        ("<meta property=og:image content='/told.jpg'><img src=/other.jpg>", Some("https://site.example.org/told.jpg")),
        (
            "<meta property=og:image content='data:image/png;base64,AA'><img src=/other.jpg>",
            Some("https://site.example.org/other.jpg"),
        ),
        (
            "<meta property=og:image content='/logo.svg'><img src=/other.jpg>",
            Some("https://site.example.org/other.jpg"),
        ),
        (
            "<img src=/dot.gif width=1 height=1><img src=/avatar/1.jpg><img class=logo src=/l.png><img src=/big.jpg width=600>",
            Some("https://site.example.org/big.jpg"),
        ),
        ("<img src='data:image/gif;base64,R0' data-src=/lazy.jpg>", Some("https://site.example.org/lazy.jpg")),
        ("<img srcset='/s.jpg 320w, /l.jpg 1280w' src=/s.jpg>", Some("https://site.example.org/l.jpg")),
        (
            "<meta property=og:image content=/default-share.png><meta property=og:image content=/bridge.jpg><img src=/x.jpg>",
            Some("https://site.example.org/bridge.jpg"),
        ),
        (
            "<meta property=og:image content=/the-weir-logo.png><img src=/wp-content/themes/weir/head.jpg><img src=/own.jpg>",
            Some("https://site.example.org/own.jpg"),
        ),
        ("<meta property=og:image content=/the-weir-logo.png>", Some("https://site.example.org/the-weir-logo.png")),
        (
            "<section class=newsletter><img src=/ad.jpg></section><img src=/own.jpg>",
            Some("https://site.example.org/own.jpg"),
        ),
        (
            r#"<script type="application/ld+json">{"@graph":[{"@type":"Article","headline":"A bridge","image":{"@id":"/a#primaryimage"},
               "author":{"@id":"/#ada"}},{"@type":"ImageObject","@id":"/a#primaryimage","contentUrl":"/told.jpg"},{"@id":"/#ada","name":"Ada"}]}</script>"#,
            Some("https://site.example.org/told.jpg"),
        ),
        (
            r#"<script type="application/ld+json">{"@type":"Article","image":{"@id":"/a#primaryimage"}}</script><img src=/own.jpg>"#,
            Some("https://site.example.org/own.jpg"),
        ),
        // What a loader leaves in its place, and where the image is then.
        ("<img src=/grey.gif data-orig-file=/lock.jpg>", Some("https://site.example.org/lock.jpg")),
        ("<img src=/t.jpg lazy-src=/lock.jpg>", Some("https://site.example.org/lock.jpg")),
        ("<img src=data:, data-thumb=/s.jpg data-echo=/lock.jpg>", Some("https://site.example.org/lock.jpg")),
        ("<img src=data:, data-name=IMG_1.jpg data-lazy=/i/7>", Some("https://site.example.org/i/7")),
        ("<img src=/own.jpg data-pin-media=/tall.jpg data-url=/news/a-lock>", Some("https://site.example.org/own.jpg")),
        ("<img src=/own.jpg data-src='/lock_{width}.jpg'>", Some("https://site.example.org/own.jpg")),
        (
            "<picture><source srcset=/a.avif type=image/avif><source data-srcset='/s.webp 480w,/l.webp 1200w'><img src=data:,></picture>",
            Some("https://site.example.org/l.webp"),
        ),
        ("<picture><source srcset=/l.webp><img src=/grey.png></picture>", Some("https://site.example.org/l.webp")),
        (
            "<picture><source srcset=/l.jxl type=image/jxl><img src=/own.jpg></picture>",
            Some("https://site.example.org/own.jpg"),
        ),
        (
            "<img src=/grey.gif><noscript><img src='/scale?u=lock&amp;w=9'></noscript>",
            Some("https://site.example.org/scale?u=lock&w=9"),
        ),
        (
            "<noscript><img src=//count.example/p?x=1><img src=/hit.gif></noscript><noscript><img src=/lock.jpg></noscript>",
            Some("https://site.example.org/lock.jpg"),
        ),
        (
            "<img srcset='/s/fit,w_480/l.jpg 480w,/m/fit,w_1200/l.jpg 1200w, /x.jpg 6000w'>",
            Some("https://site.example.org/m/fit,w_1200/l.jpg"),
        ),
        (
            "<div style='color:red; background: #eee url(\"/hero.jpg\")'></div>",
            Some("https://site.example.org/hero.jpg"),
        ),
        ("<div style='background:url(/wall.jpg)'></div><img src=/own.jpg>", Some("https://site.example.org/own.jpg")),
        ("<video poster=/still.jpg></video>", Some("https://site.example.org/still.jpg")),
        ("<section data-bg=/hero.jpg></section>", Some("https://site.example.org/hero.jpg")),
        (
            "<img src=javascript:alert(1)><img src=//user@cdn.example.com/x.png#f>",
            Some("https://cdn.example.com/x.png"),
        ),
        ("<img src=favicon.ico>", None),
        ("<meta property=og:image content=/><img src=/own.jpg>", Some("https://site.example.org/own.jpg")),
        (
            "<meta property=og:image content=/media/undefined><img src=/own.jpg>",
            Some("https://site.example.org/own.jpg"),
        ),
        // The sign of the site, whatever its file is called.
        (
            "<link rel='shortcut icon' href=/heron.png><meta property=og:image content=/heron.png?w=1200><img src=/own.jpg>",
            Some("https://site.example.org/own.jpg"),
        ),
        (
            r#"<meta property=og:image content=/heron.png><script type="application/ld+json">{"@type":"Article","publisher":
               {"@type":"Organization","logo":{"url":"/heron.png"}}}</script><img src=/own.jpg>"#,
            Some("https://site.example.org/own.jpg"),
        ),
        (
            "<link rel=icon href='/scale?file=a.png'><meta property=og:image content='/scale?file=b.png'><img src=/own.jpg>",
            Some("https://site.example.org/scale?file=b.png"),
        ),
    ] {
        let html = format!("<title>A bridge</title><article>{html}{TEXT}</article>");
        assert_eq!(read(&html).image.as_ref().map(Url::as_str), want, "{html}");
    }
}
