//! Tests that leftovers of templates and scripts are neither titles nor names.

use crate::story::{FIRST, REST, linked, read_at};
use curlew_article::Article;

fn read(head: &str, body: &str) -> Article {
    let html = format!("<html lang=en><head>{head}</head><body>{body}<div>{FIRST}{REST}</div></body></html>");
    read_at(&html, "https://quay.example.org/ferry")
}

const LEFT: [&str; 6] =
    ["undefined", "{{ page.title }}", "[object Object]", "Loading...", "Wird geladen …", "{{ title }} | The Quay"];

#[test]
fn a_better_title_is_taken() {
    let title = "Off to the islands";
    let site = "<meta property=og:site_name content='The Quay'>";
    for left in LEFT {
        let data = linked(&format!(r#"{{"@type":"Article","headline":"{left}"}}"#));
        for (head, body) in [
            (
                format!("<title>{title} | The Quay</title>{site}<meta property=og:title content='{left}'>"),
                String::new(),
            ),
            (format!("<title>{left}</title><meta property=og:title content='{title}'>"), format!("<h1>{left}</h1>")),
            (format!("{data}<title>{title}</title>"), String::new()),
        ] {
            assert_eq!(read(&head, &body).title.as_deref(), Some(title), "{head}");
        }
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
