//! Headlines and the names of sites.

use crate::story::{FIRST, REST, TEXT, linked, read, read_at};

#[test]
fn the_site_name_is_no_part_of_the_headline() {
    for (title, body, want) in [
        ("A bridge falls | The Weir", "", "A bridge falls"),
        ("The Weir: A bridge falls</title><meta property=og:title content='A bridge falls'>", "", "A bridge falls"),
        ("A bridge falls – The Weir", "<h1>The Weir</h1>", "A bridge falls"),
        ("Bridge falls - The Weir", "<h1>The Weir</h1><h2>A bridge falls</h2>", "A bridge falls"),
        ("Notes: A bridge falls", "<h3 class=post-title>A bridge falls</h3>", "A bridge falls"),
        ("A bridge falls at the weir | The Weir", "<h1>A bridge falls at the weir</h1>", "A bridge falls at the weir"),
        ("Tom &amp; Ann – one bridge", "", "Tom & Ann – one bridge"),
        ("港の古い灯台、十年ぶりに公開｜みなと新聞デジタル", "", "港の古い灯台、十年ぶりに公開"),
        ("港の古い灯台、十年ぶりに公開_The Weir", "", "港の古い灯台、十年ぶりに公開"),
        ("港の古い灯台、公開|みなと", "<h1>みなと</h1><h2>港の古い灯台、公開</h2>", "港の古い灯台、公開"),
        ("Почему мост упал — The Weir", "", "Почему мост упал"),
        ("سقوط جسر النهر القديم | صحيفة المدينة", "", "سقوط جسر النهر القديم"),
        // Other separators, and separators within headlines where the name of the site is known.
        ("A bridge falls › The Weir", "", "A bridge falls"),
        ("A bridge: falls : The Weir", "", "A bridge: falls"),
        ("The Weir: A bridge falls: why", "", "A bridge falls: why"),
        ("A bridge falls - The Weir - The Weir", "", "A bridge falls"),
        // Names known only from the host: one of its labels, a short label next to another word, or initials.
        ("A bridge falls - Site", "", "A bridge falls"),
        ("A bridge falls - Stones in the East", "", "A bridge falls"),
        // Words of a headline that contain the host's name are not the site's name.
        ("Why the site by the mill stays closed - a story", "", "Why the site by the mill stays closed - a story"),
        // What else stands in the heading is no part of the headline, and a title of every page is none.
        (
            "A bridge falls | The Weir",
            "<h1>A bridge falls <small>in a wet and cold spring</small></h1>",
            "A bridge falls",
        ),
        ("A bridge falls", "<h1>A bridge falls <a href=/edit>Edit</a></h1>", "A bridge falls"),
        ("A bridge falls", "<h1><span>Local news</span> A bridge falls</h1>", "A bridge falls"),
        ("Untitled Page", "<h1>Why the bridge falls</h1>", "Why the bridge falls"),
        ("http://site.example.org/a.html", "<h1>Why the bridge falls</h1>", "Why the bridge falls"),
        // The title starts with the only heading.
        ("Weir Definition and Meaning | The Weir", "<h1>weir</h1>", "weir"),
    ] {
        let site = "<meta property=og:site_name content='The Weir'>";
        let html = format!("<head>{site}<title>{title}</title></head><body>{body}{TEXT}");
        assert_eq!(read(&html).title.as_deref(), Some(want), "{title} {body}");
    }
}

#[test]
fn a_sites_name_may_have_separators_in_it() {
    let name = "The Weir | Walks and Tides of the Valley at the River";
    let title = format!("<meta property=og:title content='A bridge falls at the site - {name}'>");
    assert_eq!(
        read(&format!("<meta property=og:site_name content='{name}'>{title}{TEXT}")).title.as_deref(),
        Some("A bridge falls at the site")
    );
}

#[test]
fn the_sites_name_is_what_it_calls_itself_before_who_publishes_it() {
    let of = |head: &str| read(&format!("<head>{head}</head><h1>A bridge falls</h1>{FIRST}{REST}")).site_name;
    let article = "{\"@type\":\"BlogPosting\",\"headline\":\"A bridge falls\",\"publisher\":{\"@id\":\"#us\"}}";
    let us = "{\"@type\":\"Organization\",\"@id\":\"#us\",\"name\":\"The Weir Publishing Company\"}";
    let site = "{\"@type\":\"WebSite\",\"name\":\"The Weir\"}";
    assert_eq!(of(&linked(&format!("[{us},{article},{site}]"))).as_deref(), Some("The Weir"));
    assert_eq!(of(&linked(&format!("[{us},{article}]"))).as_deref(), Some("The Weir Publishing Company"));
    for title in ["A bridge falls – The Weir", "The Weir | A bridge falls", "A bridge falls · The Weir"] {
        assert_eq!(of(&format!("<title>{title}</title>")).as_deref(), Some("The Weir"), "{title}");
    }
    for title in ["A bridge falls", "A bridge falls at the weir", "A bridge falls - News - The Weir - England"] {
        assert_eq!(of(&format!("<title>{title}</title>")), None, "{title}");
    }
    let own = "<title>A bridge falls – News</title><meta property=og:site_name content='The Weir'>";
    assert_eq!(of(own).as_deref(), Some("The Weir"));
}

#[test]
fn a_title_that_is_the_sites_name_is_that_of_its_home_page_only() {
    let body = format!("<h1>A bridge falls on Monday</h1>{TEXT}");
    let named = "<meta property=og:site_name content='The Weir'><meta property=og:title content='The Weir'>";
    for head in [format!("<title>The Weir</title>{named}"), "<title>site.example.org</title>".into()] {
        let title = |path: &str| read_at(&format!("{head}{body}"), &format!("https://site.example.org/{path}")).title;
        assert_eq!(title("a").as_deref(), Some("A bridge falls on Monday"), "{head}");
        assert_ne!(title("").as_deref(), Some("A bridge falls on Monday"), "{head}");
    }
    let nothing_else = format!("<title>The Weir</title>{named}{TEXT}");
    assert_eq!(read(&nothing_else).title.as_deref(), Some("The Weir"));
    let home = format!("<title>Home</title><nav><a href=/>Home</a></nav>{body}");
    assert_eq!(read(&home).title.as_deref(), Some("A bridge falls on Monday"));
}

#[test]
fn what_is_only_beside_a_headline_is_no_part_of_it() {
    for (title, body, want) in [
        ("A bridge falls | ", "", "A bridge falls"),
        ("A bridge falls –", "", "A bridge falls"),
        (" - A bridge falls", "", "A bridge falls"),
        ("« A bridge »", "", "« A bridge »"),
        ("[2605.01] A bridge falls", "<h1><span>Title:</span>A bridge falls</h1>", "A bridge falls"),
        ("Category:Bridges", "<h1>Category:Bridges</h1>", "Category:Bridges"),
        ("A bridge falls", "<h1>A bridge falls<b class=visually-hidden> (a new window)</b></h1>", "A bridge falls"),
        ("A bridge", "<h1><b class=sr-only>A bridge falls</b></h1>", "A bridge falls"),
    ] {
        let html = format!("<title>{title}</title>{body}{TEXT}");
        assert_eq!(read(&html).title.as_deref(), Some(want), "{title} {body}");
    }
}
