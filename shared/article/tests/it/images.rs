//! The main image, and further choices.

use crate::story::{TEXT, read};
use curlew_article::{Limits, scan_head};

#[test]
fn the_main_image_has_second_choices_and_what_a_template_left_is_none() {
    let good = "<meta name=twitter:image content=/card.jpg><img src=/body.jpg>";
    let choices = |html: &str| -> Vec<String> {
        let read = read(html);
        read.image.iter().chain(&read.other_images).map(|url| url.path().to_owned()).collect()
    };
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
        assert_eq!(choices(&html), ["/card.jpg", "/body.jpg"], "{left}");
        let head = scan_head(&html, &"https://site.example.org/a".parse().unwrap(), &Limits::default()).unwrap();
        assert_eq!(head.image.map(String::from).as_deref(), Some("https://site.example.org/card.jpg"), "{left}");
    }
    let undecoded = choices("<meta property=og:image content=/a.avif?w=9><img src=/body.jpg>");
    assert_eq!(undecoded, ["/body.jpg", "/a.avif"]);
    let three = format!("<meta property=og:image content=/a.jpg><meta property=og:image content=/b.jpg>{good}");
    assert_eq!(choices(&three), ["/a.jpg", "/b.jpg", "/body.jpg"], "the last image is from the text");
}

#[test]
fn the_main_image_is_the_one_told_else_a_large_one_of_the_text() {
    // `<og …>` stands for a meta tag `og:image`, and `<data>` for the beginning of a JSON-LD script.
    for (html, want) in [
        ("<og '/told.jpg'><img src=/other.jpg>", "/told.jpg"),
        ("<og 'data:image/png;base64,AA'><img src=/other.jpg>", "/other.jpg"),
        ("<og '/logo.svg'><img src=/other.jpg>", "/other.jpg"),
        ("<img src=/d.gif width=1><img src=/avatar/1.jpg><img class=logo src=/l.png><img src=/big.jpg>", "/big.jpg"),
        ("<img src='data:image/gif;base64,R0' data-src=/lazy.jpg>", "/lazy.jpg"),
        ("<img srcset='/s.jpg 320w, /l.jpg 1280w' src=/s.jpg>", "/l.jpg"),
        ("<og /default-share.png><og /bridge.jpg><img src=/x.jpg>", "/bridge.jpg"),
        ("<og /the-weir-logo.png><img src=/themes/weir/head.jpg><img src=/own.jpg>", "/own.jpg"),
        ("<og /the-weir-logo.png>", "/the-weir-logo.png"),
        ("<section class=newsletter><img src=/ad.jpg></section><img src=/own.jpg>", "/own.jpg"),
        (
            r#"<data>[{"@type":"Article","image":{"@id":"/#i"}},{"@id":"/#i","contentUrl":"/told.jpg"}]</script>"#,
            "/told.jpg",
        ),
        (r#"<data>{"@type":"Article","image":{"@id":"/#i"}}</script><img src=/own.jpg>"#, "/own.jpg"),
        // These images have placeholders of lazy loaders, and the URL in another attribute.
        ("<img src=/grey.gif data-orig-file=/lock.jpg>", "/lock.jpg"),
        ("<img src=/t.jpg lazy-src=/lock.jpg>", "/lock.jpg"),
        ("<img src=data:, data-thumb=/s.jpg data-echo=/lock.jpg>", "/lock.jpg"),
        ("<img src=data:, data-name=IMG_1.jpg data-lazy=/i/7>", "/i/7"),
        ("<img src=/own.jpg data-pin-media=/tall.jpg data-url=/news/a-lock>", "/own.jpg"),
        ("<img src=/own.jpg data-src='/lock_{width}.jpg'>", "/own.jpg"),
        (
            "<picture><source srcset=/a.avif><source data-srcset='/s.webp 480w,/l.webp 1200w'><img src=data:,></picture>",
            "/l.webp",
        ),
        ("<picture><source srcset=/l.webp><img src=/grey.png></picture>", "/l.webp"),
        ("<picture><source srcset=/l.jxl type=image/jxl><img src=/own.jpg></picture>", "/own.jpg"),
        ("<img src=/grey.gif><noscript><img src='/scale?u=lock&amp;w=9'></noscript>", "/scale?u=lock&w=9"),
        (
            "<noscript><img src=//c.example/p?x=1><img src=/h.gif></noscript><noscript><img src=/lock.jpg></noscript>",
            "/lock.jpg",
        ),
        ("<img srcset='/s/fit,w_480/l.jpg 480w,/m/fit,w_1200/l.jpg 1200w, /x.jpg 6000w'>", "/m/fit,w_1200/l.jpg"),
        ("<div style='color:red; background: #eee url(\"/hero.jpg\")'></div>", "/hero.jpg"),
        ("<div style='background:url(/wall.jpg)'></div><img src=/own.jpg>", "/own.jpg"),
        ("<video poster=/still.jpg></video>", "/still.jpg"),
        ("<section data-bg=/hero.jpg></section>", "/hero.jpg"),
        ("<img src=javascript:alert(1)><img src=//user@cdn.example.com/x.png#f>", "//cdn.example.com/x.png"),
        ("<img src=favicon.ico>", ""),
        ("<og /><img src=/own.jpg>", "/own.jpg"),
        ("<og /media/undefined><img src=/own.jpg>", "/own.jpg"),
        // This image is the site's emblem, whatever its file is called.
        ("<link rel='shortcut icon' href=/heron.png><og /heron.png?w=1200><img src=/own.jpg>", "/own.jpg"),
        (
            r#"<og /heron.png><data>{"@type":"Article","publisher":{"@type":"Organization","logo":{"url":"/heron.png"}}}</script><img src=/own.jpg>"#,
            "/own.jpg",
        ),
        ("<link rel=icon href='/scale?file=a.png'><og '/scale?file=b.png'><img src=/own.jpg>", "/scale?file=b.png"),
    ] {
        let html = html.replace("<og ", "<meta property=og:image content=");
        let html = html.replace("<data>", "<script type=application/ld+json>");
        let html = format!("<title>A bridge</title><article>{html}{TEXT}</article>");
        let image = read(&html).image.map(String::from).unwrap_or_default();
        assert_eq!(image.trim_start_matches("https:").trim_start_matches("//site.example.org"), want, "{html}");
    }
}
