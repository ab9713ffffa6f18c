//! Tests that leftovers of templates and scripts are neither titles nor names.

use curlew_article::{Article, Limits, extract};

const PROSE: &str = "<p>The ferry to the islands leaves from the old quay at seven in the morning and comes back at six, if the wind \
    allows it, with the mail and whoever has business in the town.</p>\
    <p>In winter it stays in the harbour for weeks, and the islanders light a fire on the hill when they need a doctor or the priest.</p>";

fn read(head: &str, body: &str) -> Article {
    let html = format!("<html lang=en><head>{head}</head><body>{body}<div>{PROSE}</div></body></html>");
    extract(&html, &"https://quay.example.org/ferry".parse().unwrap(), &Limits::default()).unwrap()
}

const LEFT: [&str; 6] =
    ["undefined", "{{ page.title }}", "[object Object]", "Loading...", "Wird geladen …", "{{ title }} | The Quay"];

#[test]
fn a_better_title_is_taken() {
    let title = Some("Off to the islands".to_owned());
    for left in LEFT {
        let page = read(
            &format!(
                "<title>Off to the islands | The Quay</title><meta property=og:site_name content='The Quay'><meta property=og:title content='{left}'>"
            ),
            "",
        );
        assert_eq!(page.title, title, "{left}");
        let page = read(
            &format!("<title>{left}</title><meta property=og:title content='Off to the islands'>"),
            &format!("<h1>{left}</h1>"),
        );
        assert_eq!(page.title, title, "{left}");
        let linked =
            format!("<script type=application/ld+json>{{\"@type\":\"Article\",\"headline\":\"{left}\"}}</script>");
        assert_eq!(read(&format!("{linked}<title>Off to the islands</title>"), "").title, title, "{left}");
    }
    assert_eq!(read("<title>undefined</title>", "").title, None);
    for own in ["Undefined behaviour in C", "How to use {{ braces }} in a template"] {
        assert_eq!(read(&format!("<title>{own}</title>"), &format!("<h1>{own}</h1>")).title.as_deref(), Some(own));
    }
}

#[test]
fn a_title_has_no_markup_in_it_unless_it_is_about_markup() {
    for (title, want) in [
        ("The &lt;em&gt;Heron&lt;/em&gt; sails", "The Heron sails"),
        ("The Heron&lt;br&gt;sails", "The Heron sails"),
        ("How to use the &lt;em&gt; element", "How to use the <em> element"),
    ] {
        assert_eq!(read(&format!("<title>{title}</title>"), "").title.as_deref(), Some(want));
        let graph = format!("<title>Quay</title><meta property=og:title content='{title}'>");
        assert_eq!(read(&graph, "").title.as_deref(), Some(want));
    }
}

#[test]
fn a_better_name_is_taken() {
    for left in ["undefined", "{{ page.author }}", "[object Object]", "admin", "wp-admin", "user3", "Loading..."] {
        let meta = format!("<meta name=author content='{left}'>");
        assert_eq!(read(&meta, "<p class=byline>By Ada Example</p>").author.as_deref(), Some("Ada Example"), "{left}");
        assert_eq!(read(&meta, "").author, None, "{left}");
    }
}
