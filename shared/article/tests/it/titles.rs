//! Headlines and the names of sites.

use crate::story::{PROSE, TEXT, read};

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
fn a_sites_name_may_have_separators_in_it() {
    let name = "The Weir | Walks and Tides of the Valley at the River";
    let html = format!(
        "<meta property=og:site_name content='{name}'><meta property=og:title content='A bridge falls at the site - {name}'>{TEXT}"
    );
    assert_eq!(read(&html).title.as_deref(), Some("A bridge falls at the site"));
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
