//! The seams between the rules.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use super::*;

fn read(html: &str) -> Article {
    extract(html, &"https://site.example.org/news/a-story".parse().unwrap(), &Limits::default()).unwrap()
}

const TEXT: &str = "<p>The bridge over the weir was closed on Monday after a lorry had taken away most of its northern railing.</p>\
    <p>Engineers from the county said that it would stay closed until the stone had been set again by hand.</p>";

/// Three paragraphs, long enough to be distinguished from their surroundings.
const PROSE: &str = "<p>The walk along the weir begins at the old mill, crosses the meadow where herons stand in winter, and ends at \
    the bridge, from where a bus leads back to the station every hour until six.</p>\
    <p>Whoever has more time can go on to the lock, where the keeper opens the gates by hand for two or three boats a day and likes \
    to be asked about the floods that he has seen.</p>\
    <p>In autumn the path is closed for a few weeks, since the county lays new stones along the bank and needs all of it for its carts, \
    so that walkers have to take the road.</p>";

#[test]
fn a_valid_page_has_a_title_a_text_and_an_image() {
    let image = Some("https://site.example.org/i.jpg");
    let (long, wordy) = ("x".repeat(250), "a ".repeat(50));
    assert_eq!(validity(Some("T"), &long, image), Ok(()));
    assert_eq!(validity(Some("T"), &wordy, image), Ok(()));
    assert_eq!(validity(Some(" "), &long, image), Err(Rejection::NoTitle));
    assert_eq!(validity(None, &long, image), Err(Rejection::NoTitle));
    assert_eq!(validity(Some("T"), &"x".repeat(249), image), Err(Rejection::ShortText));
    assert_eq!(validity(Some("T"), &"a ".repeat(49), image), Err(Rejection::ShortText));
    assert_eq!(validity(Some("T"), &long, None), Err(Rejection::NoImage));
    let japanese = "港の古い灯台が開いた。".repeat(10);
    assert_eq!(validity(Some("T"), &japanese, image), Ok(()));
    for (letter, fewest) in [("橋", 75), ("あ", 100), ("다", 100), ("ส", 150), ("ປ", 150), ("ក", 150), ("မ", 150)]
    {
        assert_eq!(validity(Some("T"), &letter.repeat(fewest), image), Ok(()), "{letter}");
        assert_eq!(validity(Some("T"), &letter.repeat(fewest - 2), image), Err(Rejection::ShortText), "{letter}");
    }
    assert_eq!(
        (text_words("The bridge fell"), text_words("橋が落ちた。 2 昨日"), text_words("다리가 무너졌다")),
        (3, 5, 3)
    );
}

#[test]
fn the_site_name_is_no_part_of_the_headline() {
    for (head, body, want) in [
        ("<title>A bridge falls | The Weir</title>", "", "A bridge falls"),
        (
            "<title>The Weir: A bridge falls</title><meta property=og:title content='A bridge falls'>",
            "",
            "A bridge falls",
        ),
        (
            "<title>A bridge falls – The Weir</title><meta property=og:site_name content='The Weir'>",
            "<h1>The Weir</h1>",
            "A bridge falls",
        ),
        ("<title>Bridge falls - The Weir</title>", "<h1>The Weir</h1><h2>A bridge falls</h2>", "A bridge falls"),
        (
            "<title>A bridge falls at the weir | The Weir</title>",
            "<h1>A bridge falls at the weir</h1>",
            "A bridge falls at the weir",
        ),
        ("<title>Tom &amp; Ann – one bridge</title>", "", "Tom & Ann – one bridge"),
        ("<title>港の古い灯台、十年ぶりに公開｜みなと新聞デジタル</title>", "", "港の古い灯台、十年ぶりに公開"),
        ("<title>港の古い灯台、十年ぶりに公開_The Weir</title>", "", "港の古い灯台、十年ぶりに公開"),
        (
            "<title>港の古い灯台、公開|みなと</title>",
            "<h1>みなと</h1><h2>港の古い灯台、公開</h2>",
            "港の古い灯台、公開",
        ),
        ("<title>Почему мост упал — The Weir</title>", "", "Почему мост упал"),
        ("<title>سقوط جسر النهر القديم | صحيفة المدينة</title>", "", "سقوط جسر النهر القديم"),
        // Other separators, and marks within headlines where the name is known.
        ("<title>A bridge falls › The Weir</title>", "", "A bridge falls"),
        ("<title>A bridge: falls : The Weir</title>", "", "A bridge: falls"),
        ("<title>The Weir: A bridge falls: why</title>", "", "A bridge falls: why"),
        ("<title>A bridge falls - The Weir - The Weir</title>", "", "A bridge falls"),
        // Names that only the host tells: a label of it, a short one beside another word, the initials.
        ("<title>A bridge falls - Site</title>", "", "A bridge falls"),
        ("<title>A bridge falls - Stones in the East</title>", "", "A bridge falls"),
        // Words of a headline in which the host's name occurs are no name.
        (
            "<title>Why the site of the fallen bridge by the old mill stays closed - a long story</title>",
            "",
            "Why the site of the fallen bridge by the old mill stays closed - a long story",
        ),
        // A stated title begins with the only heading.
        ("<title>Weir Definition and Meaning | The Weir</title>", "<h1>weir</h1>", "weir"),
    ] {
        let html = format!("<head><meta property=og:site_name content='The Weir'>{head}</head><body>{body}{TEXT}");
        assert_eq!(read(&html).title.as_deref(), Some(want), "{head} {body}");
    }
}

#[test]
fn an_id_as_the_title_of_a_wikis_page_gives_way_to_its_heading() {
    let page = |title: &str, generator: &str, headings: &str| {
        read(&format!(
            "<head><title>{title}</title><meta name=generator content='{generator}'></head><body>{headings}{TEXT}"
        ))
    };
    let headings = "<h1><a href='/start'>Tides &amp; Terns</a></h1><div class=page><h1>The coast in winter</h1>";
    for title in ["blog:the_coast [Tides &amp; Terns]", "coast [Tides &amp; Terns]"] {
        let article = page(title, "DokuWiki Release 2024", headings);
        assert_eq!(article.title.as_deref(), Some("The coast in winter"), "{title}");
        assert!(!article.text.contains("The coast in winter"), "the heading is no part of the text: {}", article.text);
    }
    let without = page("blog:the_coast [Tides]", "DokuWiki", "");
    assert_eq!(without.title.as_deref(), Some("blog:the_coast [Tides]"), "there is nothing better");
    let of_another = page("Coasts [updated]", "Mill 3", "<h1>Tides and terns</h1>");
    assert_eq!(of_another.title.as_deref(), Some("Coasts [updated]"));
}

#[test]
fn a_sites_name_may_have_separators_in_it() {
    let name = "The Weir | Walks and Tides of the Valley at the River";
    let html = format!(
        "<meta property=og:site_name content='{name}'><meta property=og:title content='A bridge falls at the site - {name}'>{TEXT}"
    );
    assert_eq!(read(&html).title.as_deref(), Some("A bridge falls at the site"));
}

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
fn what_a_page_hides_behind_a_paywall_is_no_text_of_it() {
    let hidden =
        "In the third year the keeper of the lock wrote down what nobody else had seen, the otters under the gate. "
            .repeat(9);
    let sold = |said: &str| {
        format!(
            r#"<script type="application/ld+json">{{"@type":"NewsArticle","headline":"A lock",{said},"articleBody":"{hidden}"}}</script>"#
        )
    };
    let data = format!(r#"<script type="application/json">{{"body":"{hidden}"}}</script>"#);
    let behind = format!("<article><h1>A lock</h1>{TEXT}<div class=rest hidden><p>{hidden}</p></div></article>{data}");
    for said in [
        r#""isAccessibleForFree":false"#,
        r#""isAccessibleForFree":"False""#,
        r#""isAccessibleForFree":"http://schema.org/False""#,
        r#""hasPart":[{"@type":"WebPageElement","isAccessibleForFree":"false","cssSelector":".rest"}]"#,
    ] {
        let article = read(&format!("<title>A lock</title>{}{behind}", sold(said)));
        assert!(article.is_paywalled && article.text.starts_with("The bridge"), "{said}: {}", article.text);
        assert!(!article.text.contains("otters"), "{said}: {}", article.text);
    }
    let free =
        read(&format!("<title>A lock</title>{}<article>{TEXT}</article>", sold(r#""isAccessibleForFree":true"#)));
    assert!(!free.is_paywalled && free.text.contains("otters"), "{}", free.text);
    let other = format!(
        "{}{}",
        sold(r#""inLanguage":"en""#),
        sold(r#""isAccessibleForFree":false"#).replace("A lock", "A tide")
    );
    let another = read(&format!("<title>A lock</title>{other}<article>{TEXT}</article>"));
    assert!(!another.is_paywalled, "a related article is not free");
    let micro =
        "<article itemscope itemtype=https://schema.org/Article><meta itemprop=isAccessibleForFree content=False>";
    assert!(read(&format!("{micro}{TEXT}</article>")).is_paywalled);
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

#[test]
fn dates_come_from_markup_then_address_then_text() {
    let day = |html: &str, url: &str| {
        extract(html, &url.parse().unwrap(), &Limits::default()).unwrap().published.map(|t| t.day())
    };
    let plain = "https://site.example.org/a";
    let dated = "https://site.example.org/2026/05/01/a";
    assert_eq!(day(&format!("<meta name=date content=2026-04-30>{TEXT}"), dated).as_deref(), Some("2026-04-30"));
    assert_eq!(day(TEXT, dated).as_deref(), Some("2026-05-01"));
    assert_eq!(day(TEXT, "https://site.example.org/a-2026-05-01").as_deref(), None);
    assert_eq!(day(TEXT, "https://site.example.org/2026-05-01-a").as_deref(), Some("2026-05-01"));
    assert_eq!(
        day(&format!("<h1>A bridge falls</h1><div>1 May 2026</div>{TEXT}"), plain).as_deref(),
        Some("2026-05-01")
    );
    assert_eq!(
        day(&format!("<html lang=en-GB><h1>A bridge falls</h1><div>02/05/2026</div>{TEXT}"), plain).as_deref(),
        Some("2026-05-02")
    );
    assert_eq!(day(&format!("{TEXT}<div class=comments><time datetime=2026-05-09>x</time></div>"), plain), None);
}

#[test]
fn a_day_is_read_where_only_style_parts_it_from_a_name_or_only_a_script_has_it() {
    let day = |html: &str| {
        read(&format!("<title>A bridge</title><h1>A bridge falls at the weir</h1>{html}")).published.map(|at| at.day())
    };
    let glued =
        format!("<div><span>By</span><a href=/ada>Ada Example</a><span>May 1, 2026</span> | 6 comments</div>{PROSE}");
    assert_eq!(day(&glued).as_deref(), Some("2026-05-01"));
    assert_eq!(day(&format!("<div>Ada Example1 May 2026Walks</div>{PROSE}")).as_deref(), Some("2026-05-01"));
    for data in [
        r#"{"post":{"publishedAt":"2026-05-01T09:30:00Z","updatedAt":"2026-05-09T00:00:00Z"}}"#,
        r#"push([1,"{\"published_at\":\"2026-05-01T09:30:00.000+02:00\"}"])"#,
    ] {
        assert_eq!(day(&format!("{PROSE}<script>{data}</script>")).as_deref(), Some("2026-05-01"), "{data}");
    }
    let video = r#"<script type=application/ld+json>{"@type":"VideoObject","name":"A bridge","uploadDate":"2026-05-01"}</script>"#;
    assert_eq!(day(&format!("{video}{PROSE}")).as_deref(), Some("2026-05-01"));
    let article = r#"<script type=application/ld+json>{"@type":"Article","headline":"A bridge","datePublished":"2026-04-30"}</script>"#;
    assert_eq!(day(&format!("{video}{article}{PROSE}")).as_deref(), Some("2026-04-30"));
}

#[test]
fn a_line_below_the_text_that_speaks_of_publication_tells_its_day() {
    let day = |end: &str| {
        let article = format!(
            "<article><h1>A bridge falls at the weir</h1>{}</article>{end}",
            PROSE.repeat(6).replace("The walk", "A walk")
        );
        read(&format!("<title>A bridge</title>{article}")).published.map(|at| at.day())
    };
    for line in [
        "<p>Posted by Ada Example on May 1, 2026 in Walks</p>",
        "<div>Veröffentlicht am 1. Mai 2026 | Wege</div>",
        "<div>Publié le 1er mai 2026</div>",
        "<div>投稿日：2026年5月1日</div>",
    ] {
        assert_eq!(day(line).as_deref(), Some("2026-05-01"), "{line}");
    }
    for line in ["<p>The lock opens on May 1, 2026</p>", "<div class=comments><p>Posted on May 1, 2026</p></div>"] {
        assert_eq!(day(line), None, "{line}");
    }
}

#[test]
fn data_that_names_the_pages_own_path_tells_its_canonical_address() {
    let of = |head: &str| read(&format!("{head}{PROSE}")).canonical.map(String::from);
    let linked = |url: &str| {
        of(&format!(
            "<script type=application/ld+json>{{\"@type\":\"Article\",\"mainEntityOfPage\":{{\"@id\":\"{url}\"}}}}</script>"
        ))
    };
    let own = "https://site.example.org/news/a-story/";
    assert_eq!(linked(own).as_deref(), Some(own));
    assert_eq!(of(&format!("<meta name=twitter:url content={own}>")).as_deref(), Some(own));
    assert_eq!(linked("https://site.example.org/news/"), None);
    assert_eq!(linked("https://other.example.net/news/a-story"), None);
    assert_eq!(
        of(&format!("<link rel=canonical href=/b><meta name=twitter:url content={own}>")).as_deref(),
        Some("https://site.example.org/b")
    );
}

#[test]
fn the_hour_is_read_where_an_attribute_states_it() {
    let at = |line: &str| {
        let article = read(&format!("<title>A bridge falls</title><h1>A bridge falls</h1>{line}{TEXT}"));
        article.published.map(|at| at.to_string()).unwrap_or_default()
    };
    let stated = "datetime='2026-05-01T07:30:00+02:00'";
    for line in [
        &*format!("<div class=wp-block-post-date><time {stated}>1 May 2026</time></div>"),
        &*format!("<p class='posted-on'>On <a href=/x><time class=entry-date {stated}>May 1</time></a></p>"),
        "<abbr class=published title='2026-05-01T05:30:00Z'>Fri 01 May 2026</abbr>",
        "<div class=post-info><span class=date>1 May 2026 <meta content='2026-05-01T05:30:00Z'></span></div>",
        "<span class=published content='2026-05-01T05:30:00.000Z'>1 May 2026</span>",
        &*format!(
            "<div class=post-date><time class=updated datetime=2026-05-03T10:00:00Z>3 May</time> <time {stated}>1 May</time></div>"
        ),
        &*format!("<p itemprop=datePublished><time {stated}>1 May 2026</time></p>"),
        "<time title='2026-05-01T05:30:00Z' pubdate>yesterday</time>",
    ] {
        assert_eq!(at(line), "2026-05-01T05:30:00Z", "{line}");
    }
    // A date in words in an attribute says no more than the text does.
    assert_eq!(at("<span class=date title='Posted on'>1 May 2026</span>"), "2026-05-01T00:00:00Z");
    // The words beside the date still decide its event.
    assert_eq!(
        at(&format!("<div class=date>1 May 2026</div><div class=date>Updated <time {stated}>x</time></div>")),
        "2026-05-01T00:00:00Z"
    );
}

#[test]
fn what_the_page_shows_beside_its_headline_decides_between_two_dates() {
    let day = |html: &str| read(html).published.map(|at| at.day()).unwrap_or_default();
    let both = "<meta property=article:published_time content=2024-01-02T08:00:00Z><meta property=article:modified_time \
        content=2026-05-01T09:30:00+02:00>";
    let page =
        |line: &str| format!("<title>A bridge falls</title>{both}<h1>A bridge falls at the weir</h1>{line}{TEXT}");
    for (line, want) in [
        ("<div>By Ada Example</div><div>1 May 2026</div>", "2026-05-01"),
        ("<div>Updated 1 May 2026</div>", "2024-01-02"),
        ("<div>Aggiornato il 1 maggio 2026</div>", "2024-01-02"),
        ("<div>Last updated</div><div>1 May 2026</div>", "2024-01-02"),
        ("<div>2 January 2024, 1 May 2026</div>", "2024-01-02"),
        (
            "<span>Updated</span> <time class='entry-date published updated' datetime=2026-05-01>1 May</time>",
            "2024-01-02",
        ),
        ("", "2024-01-02"),
    ] {
        assert_eq!(day(&page(line)), want, "{line}");
    }
}

#[test]
fn a_day_of_today_and_a_deadline_are_no_days_of_publication() {
    let day = |html: &str| read(html).published.map(|at| at.day());
    let menu = "<li><a href=/x>Section</a></li>".repeat(14);
    let today = format!(
        "<div class=block-date>Friday, 19 June 2026</div><ul>{menu}</ul><h1>A bridge falls at the weir</h1>{PROSE}"
    );
    assert_eq!(day(&today), None);
    let deadline = format!(
        "<h1>How to appeal against the toll</h1><p>Updated 17 January 2026</p>{PROSE}\
        <p>Appeals must be in by <time>15 April 2026</time>.</p><p>Until 15 April 2026</p>"
    );
    assert_eq!(day(&deadline).as_deref(), Some("2026-01-17"));
}

#[test]
fn an_author_is_found_below_a_label_and_in_the_tags_of_papers() {
    let of = |html: &str| read(html).author;
    let label = format!("<h1>A walk along the weir</h1><div>Written by:</div><div>Ada Example</div>{PROSE}");
    assert_eq!(of(&label).as_deref(), Some("Ada Example"));
    let paper = format!(
        "<meta name=citation_author content='Ada Example'><meta name=citation_author content='Ben Example'>{PROSE}"
    );
    assert_eq!(of(&paper).as_deref(), Some("Ada Example, Ben Example"));
}

#[test]
fn an_author_is_found_in_cards_links_and_lines_and_an_office_is_asked_last() {
    let of =
        |html: &str| read(&format!("<title>A bridge</title><h1>A bridge falls at the weir</h1>{html}{PROSE}")).author;
    let ada = Some("Ada Example".to_owned());
    for html in [
        "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content='Ada Example'>",
        "<meta name=twitter:label1 content='Reading time'><meta name=twitter:label2 content='Verfasst von'>\
         <meta name=twitter:data2 content='Ada Example'>",
        "<div><img src=/ada.jpg><a href=/authors/ada-example>Ada Example</a></div>",
        "<p>Ada Example | Senior Writer | July 2, 2026</p>",
        "<div class=authors-data>& <a href=/u/ada>Ada Example</a> <span>Writer, Weirs</span></div>",
        "<div class=author-info><p>Article by:</p><a href=#author>Ada Example</a></div>",
        r#"<script type=application/ld+json>{"@type":"Article","author":{"@type":"Organization","name":"The Weir Company"}}</script>
           <div>By Ada Example</div>"#,
    ] {
        assert_eq!(of(html), ada, "{html}");
    }
    let both = "<meta name=dc.creator content='Ada Example'><meta name=dc.creator content='Ben Example'>";
    assert_eq!(of(both).as_deref(), Some("Ada Example, Ben Example"));
    let office = r#"<script type=application/ld+json>{"@type":"Article","author":[{"@type":"Organization","name":"The Weir Company"}]}</script>"#;
    assert_eq!(of(office).as_deref(), Some("The Weir Company"));
    for none in [
        "<p>Latest News | July 2, 2026</p>",
        "<a href=/team/more>Our Whole Team</a>",
        "<a href=/walks/ada>Ada Example</a>",
    ] {
        assert_eq!(of(none), None, "{none}");
    }
}

#[test]
fn what_only_leads_elsewhere_is_left_out() {
    let links = |host: &str| {
        let link = |n: i32| format!("<li><a href='{host}/{n}'>Another of our walks, number {n}</a></li>");
        (0..4).map(link).collect::<String>()
    };
    let page = |end: &str| read(&format!("<article><ul>{}</ul>{PROSE}{end}</article>", links(""))).text;
    let own = page(&format!("<h2>Our walks</h2><ul>{}</ul>", links("https://site.example.org")));
    assert!(!own.contains("Another of our walks") && !own.contains("Our walks"), "{own}");
    let sources = page(&format!("<h2>Sources</h2><ul>{}</ul>", links("https://other.example.net")));
    assert!(sources.contains("Sources") && sources.contains("number 3"), "{sources}");
    for notice in [
        "<p>We may receive a commission when you buy through links on this page.</p>",
        "<p>How we use your data is told in <a href=/p>our privacy policy</a>.</p>",
        "<div>Related companies: <a href=//other.example.net/a>The Weir Stone Company</a>, <a href=//other.example.net/b>The \
         County Bridge Builders of the North and Their Many Sons</a>, <a href=//other.example.net/c>Lorries for Hire and Sale</a></div>",
    ] {
        let text = page(&format!("{notice}<p>And that is where the walk ends.</p>"));
        assert!(!text.contains("commission") && !text.contains("privacy") && !text.contains("Lorries"), "{text}");
    }
}

#[test]
fn links_to_the_posts_before_and_after_are_no_text() {
    let page = |end: &str| read(&format!("<main>{PROSE}{end}</main>")).text;
    for end in [
        "<ul><li>Previous: <a href=/a/>The other bank</a></li><li>Next: <a href=/b/>Up to the lock</a></li></ul>",
        "<ul><li>← Previous<br><a href=/a/>The other bank</a></li><li>Next →<br><a href=/b/>Up to the lock</a></li></ul>",
        "<p>« Articolo precedente <a href=/a/>The other bank</a></p><p>Articolo successivo: <a href=/b/>Up to the lock</a> »</p>",
        "<dl><dt>Nächster Beitrag: <a href=/a/>The other bank</a></dt><dd>前の記事：<a href=/b/>Up to the lock</a></dd></dl>",
        "<blockquote>Read on with <a rel=next href=/a/>The other bank, and back to</a> <a rel=prev href=/b/>Up to the lock</a></blockquote>",
    ] {
        let text = page(end);
        assert!(!text.contains("other bank") && !text.contains("the lock\n") && !text.ends_with("the lock"), "{text}");
        assert!(
            !text.to_lowercase().contains("previous") && !text.contains("uccessivo") && text.contains("by hand"),
            "{text}"
        );
    }
    for kept in [
        "<p>Next: the county closes the bank, as <a href=/a/>it has said</a>, and opens it in May.</p>",
        "<p>Previous owners of the <a href=/a/>mill by the river</a></p><p>They left it in the spring of that year to the county, which has kept \
         it as it was, with all its wheels and stones, to this day.</p>",
    ] {
        assert!(page(kept).contains("county"), "{kept}");
    }
}

#[test]
fn the_sites_name_is_what_it_calls_itself_before_who_publishes_it() {
    let of = |head: &str| read(&format!("<head>{head}</head><h1>A bridge falls</h1>{PROSE}")).site_name;
    let linked = |json: &str| of(&format!("<script type=application/ld+json>{json}</script>"));
    let article = "{\"@type\":\"BlogPosting\",\"headline\":\"A bridge falls\",\"publisher\":{\"@id\":\"#us\"}}";
    let us = "{\"@type\":\"Organization\",\"@id\":\"#us\",\"name\":\"The Weir Publishing Company\"}";
    let site = "{\"@type\":\"WebSite\",\"name\":\"The Weir\"}";
    assert_eq!(linked(&format!("[{us},{article},{site}]")).as_deref(), Some("The Weir"));
    assert_eq!(linked(&format!("[{us},{article}]")).as_deref(), Some("The Weir Publishing Company"));
    for title in ["A bridge falls – The Weir", "The Weir | A bridge falls", "A bridge falls · The Weir"] {
        assert_eq!(of(&format!("<title>{title}</title>")).as_deref(), Some("The Weir"), "{title}");
    }
    for title in ["A bridge falls", "A bridge falls at the weir", "A bridge falls - News - The Weir - England"] {
        assert_eq!(of(&format!("<title>{title}</title>")), None, "{title}");
    }
    assert_eq!(
        of("<title>A bridge falls – News</title><meta property=og:site_name content='The Weir'>").as_deref(),
        Some("The Weir")
    );
}

#[test]
fn the_language_is_the_markups_unless_the_text_is_plainly_another() {
    let italian = "<p>La mattina di lunedì il ponte sopra la chiusa è stato chiuso dopo che un camion aveva portato via quasi tutta la ringhiera. I tecnici della provincia dicono che resterà chiuso finché le pietre non saranno di nuovo al loro posto, e che ci vorranno almeno tre settimane di lavoro.</p>";
    assert_eq!(read(&format!("<html lang=it-IT>{italian}")).language.as_deref(), Some("it"));
    assert_eq!(read(&format!("<html lang=en>{italian}")).language.as_deref(), Some("it"));
    assert_eq!(
        read(&format!("<html lang=en><meta property=og:locale content=it_IT>{italian}")).language.as_deref(),
        Some("it")
    );
    assert_eq!(read("<html lang=de><p>Kurz.</p>").language.as_deref(), Some("de"));
    assert_eq!(read("<p>123</p>").language, None);
}

#[test]
fn every_robots_directive_is_told_with_the_name_that_it_is_for() {
    let html = "<META NAME=Robots CONTENT='NOINDEX, follow'><meta name=CurlewBot content='nosnippet'><meta name=description content='none of this'>\
        <meta name=viewport content='width=device-width'><meta name=robots content='unavailable_after: 1 May 2026 10:00 GMT'>";
    let names: Vec<(String, String)> = read(html).robots_meta;
    let want = [
        ("robots", "NOINDEX, follow"),
        ("curlewbot", "nosnippet"),
        ("robots", "unavailable_after: 1 May 2026 10:00 GMT"),
    ];
    assert_eq!(names, want.map(|(name, content)| (name.to_owned(), content.to_owned())));
}

#[test]
fn text_in_several_containers_is_put_together_but_posts_are_not() {
    let split = format!(
        "<div><div class=article-body>{TEXT}</div><div class=ad>x</div><div class=article-body><p>{}</p></div></div>",
        "Another part of the same long read. ".repeat(12)
    );
    let article = read(&split);
    assert!(article.text.contains("northern railing") && article.text.contains("same long read"), "{}", article.text);
}

#[test]
fn a_page_whose_wrapper_is_named_like_a_widget_is_still_read() {
    let html = format!("<div class=newsletter><div class=modal><h1>A bridge falls at the weir</h1>{TEXT}</div></div>");
    assert!(read(&html).text.contains("northern railing"));
}

#[test]
fn json_ld_text_is_taken_when_the_page_shows_none() {
    let html = r#"<script type="application/ld+json">{"@type":"NewsArticle","headline":"A bridge falls","articleBody":"<p>The bridge over the weir was closed.</p><p>It stays so.</p>"}</script><div id=app></div>"#;
    let article = read(html);
    assert_eq!(
        (article.from, article.text.as_str()),
        ("jsonld", "The bridge over the weir was closed.\n\nIt stays so.")
    );
    assert_eq!(article.title.as_deref(), Some("A bridge falls"));
}
