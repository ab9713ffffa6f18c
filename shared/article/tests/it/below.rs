//! Texts that replace embedded content, and boxes below the text.

use crate::story::{FIRST, REST, read};

#[test]
fn what_stands_in_the_place_of_embeds_and_below_the_text_is_left_out() {
    let text = |end: &str| {
        read(&format!(
            "<title>A bridge</title><article><h1>A bridge falls at the weir</h1>{FIRST}{REST}{end}</article>"
        ))
        .text
    };
    let bare = text("");
    for dropped in [
        "<p>Empfohlener externer Inhalt: ich bin damit einverstanden, dass mir externe Inhalte angezeigt werden.</p>",
        "<p>To watch this, accept all cookies to go on. You can change this at any time in the settings of your browser.</p>",
        "<p>Pour afficher ce contenu, il faut accepter les traceurs de la plateforme qui le fournit à ses lecteurs.</p>",
        "<p>The views expressed in this article are the writer’s own and do not necessarily reflect the county’s.</p>",
        "<div class=print-only><p>This page was printed from the pages of the county on the first of May at noon.</p></div>",
        "<div class=printfooter>Retrieved from the pages of the county on the first of May, at noon or shortly after it.</div>",
        "<div class=factbox><p>The weir was built in 1790.</p><p>It is nine metres high.</p></div>",
    ] {
        assert_eq!(text(dropped), bare, "{dropped}");
    }
    for kept in [
        "<p>The address of the county’s page on the weir is https://county.example.net/weir</p>",
        "<p>Ben Example is a farmer on the other bank, and has seen the bridge from his window for thirty years.</p>",
        "<p>The cookies that the keeper’s wife bakes are known on both banks, and are sold at the gate in summer.</p>",
    ] {
        assert_ne!(text(kept), bare, "{kept}");
    }
    let said = "He had been at the gate since the morning, and then it came.";
    let teaser = |n: usize| format!("<h3><a href=/n/{n}>What the keeper saw on day {n}</a></h3><p>{said}</p>");
    // If a page is a list of links with a few words each, the list is its text.
    let teasers: String = (0..12).map(teaser).collect();
    let list = read(&format!("<title>Walks</title><main><h1>All our walks</h1>{teasers}</main>"));
    assert!(list.text.contains("day 11"), "{}", list.text);
}
