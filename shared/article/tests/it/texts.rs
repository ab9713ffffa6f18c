//! Tests which containers of a page are its text, and which of their lines are not.

use crate::story::{FIRST, REST, TEXT, WALK, assert_parts, read};

#[test]
fn what_only_leads_elsewhere_is_left_out() {
    let links = |host: &str| {
        let link = |n: i32| format!("<li><a href='{host}/{n}'>Another of our walks, number {n}</a></li>");
        (0..4).map(link).collect::<String>()
    };
    let page = |end: &str| read(&format!("<article><ul>{}</ul>{FIRST}{REST}{end}</article>", links(""))).text;
    let own = page(&format!("<h2>Our walks</h2><ul>{}</ul>", links("https://site.example.org")));
    assert!(!own.contains("Another of our walks"), "{own}");
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
fn text_in_several_containers_is_put_together_but_posts_are_not() {
    let split = format!(
        "<div><div class=article-body>{TEXT}</div><div class=ad>x</div><div class=article-body><p>{}</p></div></div>",
        "Another part of the same long read. ".repeat(12)
    );
    let article = read(&split);
    assert!(article.text.contains("northern railing") && article.text.contains("same long read"), "{}", article.text);
}

#[test]
fn text_that_looks_like_labels_captions_or_headings_is_read_if_there_is_no_other() {
    let lines = WALK.map(|paragraph| paragraph.split(", ").map(str::to_owned).collect::<Vec<_>>()).concat();
    let menu = "<header><a href=/>Home</a> <a href=/a>All of our walks</a></header>";
    let footer = "<footer><a href=/ink>The Weir is printed whenever there is ink</a></footer>";
    for text in [
        format!("<div>{}</div>", lines.join("<br>")),
        format!("<div class=song><div>{}</div></div>", lines.join("</div><div>")),
        WALK.map(|told| format!("<figure><img src=/1.jpg><figcaption>{told}</figcaption></figure>")).concat(),
        WALK.map(|told| format!("<h5>{told}</h5>")).concat(),
    ] {
        let read = read(&format!("{menu}<h1>A walk along the weir</h1>{text}{footer}")).text;
        assert!(lines.iter().all(|line| read.contains(line.as_str())), "{text}\n{read}");
        assert_parts(&read, &[], &["All of our walks", "printed whenever", "A walk along"]);
    }
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
