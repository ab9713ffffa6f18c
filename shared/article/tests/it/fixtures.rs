//! Compares extraction with snapshots: `fixtures/*.html` and the snapshots of the same names.

use curlew_article::{Limits, decode, extract, scan_head, validity};

fn check(name: &str, body: &[u8], url: &str) {
    let (html, url) = (decode(body, Some("text/html; charset=utf-8")), url.parse().unwrap());
    let seen = scan_head(&html, &url, &Limits::default()).unwrap();
    let article = extract(&html, &url, &Limits::default()).unwrap();
    assert_eq!(extract(&seen.without_programs(&html), &url, &Limits::default()).as_ref(), Ok(&article));
    assert_eq!(seen.robots_meta, article.robots_meta);
    let show = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let image = article.image.map(String::from);
    let valid = validity(article.title.as_deref(), &article.text, image.as_deref());
    let report = format!(
        "title: {}\nauthor: {}\nsite: {}\nlanguage: {}\npublished: {}\nmodified: {}\nimage: {}\ncanonical: {}\nrobots: {:?}\nfrom: {}\nvalid: {valid:?}\n\n{}",
        show(article.title.clone()),
        show(article.author),
        show(article.site_name),
        show(article.language),
        show(article.published.map(|t| t.to_string())),
        show(article.modified.map(|t| t.to_string())),
        show(image.clone()),
        show(article.canonical.map(String::from)),
        article.robots_meta,
        article.from,
        article.text,
    );
    insta::with_settings!({ snapshot_path => "fixtures", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, report);
    });
}

#[test]
fn pages_of_four_sorts_are_read_as_their_snapshots_say() {
    let wordpress = "https://gazzetta.example.it/2026/05/il-faro-riapre/?utm_source=x";
    check("wordpress_it", include_bytes!("fixtures/wordpress_it.html"), wordpress);
    check("microdata_en", include_bytes!("fixtures/microdata_en.html"), "https://fenland.example.org/heron");
    check("jsonld_en", include_bytes!("fixtures/jsonld_en.html"), "https://harbour.example.com/clockmaker");
    check("plain_en", include_bytes!("fixtures/plain_en.html"), "http://walls.example.net/mend.html");
}
