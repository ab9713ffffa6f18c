use super::*;

/// Returns the names of start tags found in a parse without a tree.
fn tags(html: &str) -> Vec<&str> {
    let mut pieces = Pieces::new(html, 9);
    let mut found = Vec::new();
    while let Some(piece) = pieces.next_without_tree() {
        if let Piece::Start(tag) = piece {
            found.push(tag.name);
        }
    }
    found
}

#[test]
fn texts_hide_tags_by_the_name_before_them() {
    for (html, wanted) in [
        ("<title><a></title><textarea><b></TEXTAREA ><p>", &["title", "textarea", "p"][..]),
        ("<style><a></style><script>'<b>'</script><xmp><i></xmp><p>", &["style", "script", "xmp", "p"]),
        ("<noscript><meta></noscript><template><link></template>", &["noscript", "meta", "template", "link"]),
        ("<svg><title><a></title><style><b></svg><style><i></style>", &["svg", "title", "a", "style", "b", "style"]),
        (
            "<svg/><style><i></style><math><style><p><style><b></style>",
            &["svg", "style", "math", "style", "p", "style"],
        ),
        ("<svg><![CDATA[<a>]]></svg><![CDATA[<b>]]>", &["svg"]),
        ("<!-- <a> --><!doctype '<b>'><p><plaintext><i>", &["p", "plaintext"]),
        ("<p><a href='<b>'><i class=", &["p", "a"]),
    ] {
        assert_eq!(tags(html), wanted, "{html}");
    }
}

#[test]
fn attributes_are_slices_of_the_page_and_counted() {
    let mut pieces = Pieces::new("<A HREF='x&amp;y' href=z b c=1/>", 3);
    assert_eq!(pieces.next_piece(|| false), Some(Piece::Start(Tag { name: "A", self_closing: false })));
    assert_eq!((pieces.attribute("href"), pieces.attribute("c")), (Some("x&amp;y"), Some("1/")));
    assert_eq!(pieces.attributes().len(), 4);
    assert!(pieces.has_too_many_attributes() && pieces.attribute("d").is_none());
}

#[test]
fn references_of_attributes_leave_addresses_alone() {
    let raw = "?a=1&copy=2&amp;lt=3&reg;\r\n\0&#x41;";
    assert_eq!(resolve(raw, TextKind::Data, true), "?a=1&copy=2&lt=3®\n\u{FFFD}A");
    assert_eq!(resolve(raw, TextKind::Data, false), "?a=1©=2&lt=3®\n\u{FFFD}A");
    assert_eq!(resolve("a&amp;b", TextKind::Script, false), "a&amp;b");
}
