//! Authors in markup, cards, links, and lines of text.

use crate::story::{FIRST, REST, read};

#[test]
fn an_author_is_found_below_a_label_and_in_the_tags_of_papers() {
    let of = |html: &str| read(html).author;
    let label = format!("<h1>A walk along the weir</h1><div>Written by:</div><div>Ada Example</div>{FIRST}{REST}");
    assert_eq!(of(&label).as_deref(), Some("Ada Example"));
    let paper = format!(
        "<meta name=citation_author content='Ada Example'><meta name=citation_author content='Ben Example'>{FIRST}{REST}"
    );
    assert_eq!(of(&paper).as_deref(), Some("Ada Example, Ben Example"));
}

#[test]
fn an_author_is_found_in_cards_links_and_lines_and_an_office_is_asked_last() {
    let of = |html: &str| {
        read(&format!("<title>A bridge</title><h1>A bridge falls at the weir</h1>{html}{FIRST}{REST}")).author
    };
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
fn words_that_begin_like_a_byline_or_name_a_helper_are_no_author() {
    let of = |above: &str| read(&format!("<title>A bridge</title><h1>A bridge falls</h1>{above}{FIRST}{REST}")).author;
    for (line, want) in [
        ("By Ada Example", Some("Ada Example")),
        ("By ADA EXAMPLE", Some("ADA EXAMPLE")),
        ("By 3i Global", Some("3i Global")),
        ("by ada", Some("ada")),
        ("By our correspondent Ada Example in Weirstead", Some("Ada Example")),
        ("Por: Ada Example", Some("Ada Example")),
        ("Yazar: Ada Example", Some("Ada Example")),
        ("作者：王小明", Some("王小明")),
        ("By the numbers", None),
        ("By law, all gates have to be shut at dusk", None),
        ("By 2030, half of all gates will be new", None),
        ("By then it was too late.", None),
        ("Von Berlin nach Hamburg", None),
    ] {
        assert_eq!(of(&format!("<p>{line}</p>")).as_deref(), want, "{line}");
    }
    for (line, want) in [
        ("Photo by Ben Example", None),
        ("Edited by Ben Example", None),
        ("Contributed by Ada Example", Some("Ada Example")),
        ("Written by Ada Example. Medically reviewed by Ben Example, MD", Some("Ada Example")),
        ("Written by Ada Q. Example Jr.", Some("Ada Q. Example Jr")),
    ] {
        assert_eq!(of(&format!("<p class=byline>{line}</p>")).as_deref(), want, "{line}");
    }
    assert_eq!(of("<meta property=article:author content=https://social.example/ada>"), None);
}
