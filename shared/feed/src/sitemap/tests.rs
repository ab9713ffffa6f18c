//! Tests parsing of sitemaps of each kind, valid and broken.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

fn read_with(body: &[u8], limits: &SitemapLimits) -> Result<Sitemap, SitemapError> {
    let url = Url::parse("https://a.example/maps/sitemap.xml").unwrap_or_else(|error| panic!("{error}"));
    parse(body, None, &url, limits)
}

fn read(body: &str) -> Sitemap {
    read_with(body.as_bytes(), &SitemapLimits::default()).unwrap_or_else(|error| panic!("{error}: {body:.200}"))
}

fn refused(body: &[u8]) -> String {
    match read_with(body, &SitemapLimits::default()) {
        Err(error) => error.to_string(),
        Ok(sitemap) => panic!("{sitemap:?}"),
    }
}

fn locs(sitemap: &Sitemap) -> Vec<&str> {
    sitemap.pages.iter().map(|page| page.loc.as_str()).collect()
}

fn urlset(inside: &str) -> String {
    format!(
        "<?xml version='1.0' encoding='UTF-8'?><?xml-stylesheet type='text/xsl' href='/main.xsl'?>\n<!-- made by hand -->\
         <urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{inside}</urlset>\n<!-- 0.2 s -->"
    )
}

fn page(number: usize) -> String {
    format!("<url><loc>https://a.example/{number}</loc></url>")
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_index_names_sitemaps() {
    let index = read(
        "<sitemapindex><sitemap><loc> https://a.example/1.xml.gz </loc><lastmod>2024-05-03T17:05:09+02:00</lastmod>\
         </sitemap><url><lastmod>2024</lastmod><loc>/2.xml</loc></url><sitemap><loc>//b.example/3.xml</loc>\
         <lastmod>yesterday</lastmod></sitemap></sitemapindex>",
    );
    let said: Vec<_> = index.sitemaps.iter().map(|s| (s.loc.as_str(), s.lastmod.map(|t| t.to_string()))).collect();
    assert_eq!(
        said,
        [
            ("https://a.example/1.xml.gz", Some("2024-05-03T15:05:09Z".to_owned())),
            ("https://a.example/2.xml", Some("2024-01-01T00:00:00Z".to_owned())),
            ("https://b.example/3.xml", None),
        ]
    );
    assert!(index.pages.is_empty() && !index.is_cut);
    let list = read("<urlset><url><loc>/posts.xml?page=2</loc></url><url><loc>/about-xml</loc></url></urlset>");
    assert_eq!((list.sitemaps.len(), list.pages.len()), (1, 1));
}

#[test]
fn pages_have_what_the_news_and_image_extensions_say() {
    let body = urlset(
        "<url><loc>https://a.example/?a=1&amp;b=2</loc><lastmod>2024-05-03</lastmod><changefreq>daily</changefreq>\
           <image:image><image:loc>/one.jpg</image:loc><image:title>No</image:title></image:image>\
           <image:image><image:loc>/two.jpg</image:loc></image:image>\
           <news:news><news:publication><news:name>No</news:name></news:publication>\
             <news:publication_date>2024-05-02T10:00Z</news:publication_date>\
             <news:title>Curlews &amp; <![CDATA[<b>godwits</b>]]></news:title></news:news></url>\
         <url><video:video><video:title>No</video:title><video:publication_date>2020-01-01</video:publication_date>\
           <video:content_loc>/no.mp4</video:content_loc></video:video><loc><![CDATA[https://a.example/2]]></loc>\
           <xhtml:link rel='alternate' hreflang='de' href='/de/2'/><loc>/no</loc></url>",
    );
    let sitemap = read(&body);
    let time = |text: Option<Timestamp>| text.map(|time| time.to_string());
    assert_eq!(locs(&sitemap), ["https://a.example/?a=1&b=2", "https://a.example/2"]);
    let first = &sitemap.pages[0];
    assert_eq!(time(first.lastmod).as_deref(), Some("2024-05-03T00:00:00Z"));
    assert_eq!(time(first.published).as_deref(), Some("2024-05-02T10:00:00Z"));
    assert_eq!(first.title.as_deref(), Some("Curlews & godwits"));
    assert_eq!(first.image.as_deref(), Some("https://a.example/one.jpg"));
    assert_eq!(sitemap.pages[1], SitemapUrl { loc: "https://a.example/2".to_owned(), ..SitemapUrl::default() });
    // Namespace prefixes are ignored.
    let prefixed = body.replace("<url", "<s:url").replace("</url", "</s:url").replace("loc>", "LOC>");
    assert_eq!(read(&prefixed), sitemap);
}

#[test]
fn dates_are_kept_as_they_are_stated() {
    let sitemap = read(&urlset(&format!(
        "{0}9999-12-31</lastmod></url>{0}0001-01-01</lastmod></url>{0}{1}</lastmod></url>",
        "<url><loc>/a</loc><lastmod>",
        "2024-05-03 ".repeat(100_000)
    )));
    let years: Vec<_> = sitemap.pages.iter().map(|p| p.lastmod.map(|time| time.to_string()[..4].to_owned())).collect();
    assert_eq!(years, [Some("9999".to_owned()), Some("0001".to_owned()), None]);
}

#[test]
fn a_plain_text_has_an_address_a_line() {
    let sitemap = read("\u{feff}https://a.example/1\r\n\r\n# a comment\n  http://b.example/2 \nmailto:c@a.example");
    assert_eq!(locs(&sitemap), ["https://a.example/1", "http://b.example/2"]);
    assert!(!sitemap.is_cut);
}

#[test]
fn a_feed_is_a_sitemap_too() {
    let rss = "<rss version='2.0'><channel><title>T</title><item><title>One</title><link>/1</link>\
        <pubDate>Fri, 03 May 2024 17:05:09 GMT</pubDate></item><item><title>None</title></item></channel></rss>";
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [{"id": "1", "url": "/1",
        "title": "One", "date_published": "2024-05-03T17:05:09Z"}]}"#;
    for body in [rss, json] {
        let sitemap = read(body);
        assert_eq!(locs(&sitemap), ["https://a.example/1"], "{body}");
        assert_eq!(sitemap.pages[0].title.as_deref(), Some("One"));
        assert_eq!(sitemap.pages[0].published.map(|time| time.to_string()).as_deref(), Some("2024-05-03T17:05:09Z"));
    }
    assert!(refused(b"{\"a\": 1}").contains("is a feed that cannot be read"));
}

#[test]
fn a_gzip_file_is_unfolded() {
    let body = urlset(&(page(1) + &page(2)));
    let unfolded = read_with(&gzip(body.as_bytes()), &SitemapLimits::default());
    assert_eq!(unfolded, Ok(read(&body)));
    let members = [gzip(&body.as_bytes()[..150]), gzip(&body.as_bytes()[150..])].concat();
    assert_eq!(read_with(&members, &SitemapLimits::default()), Ok(read(&body)));
    let mut cut = gzip(urlset(&(0..20_000).map(page).collect::<String>()).as_bytes());
    cut.truncate(cut.len() / 2);
    let cut = read_with(&cut, &SitemapLimits::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(cut.is_cut && cut.pages.len() > 1_000, "{}", cut.pages.len());
    assert!(refused(&[0x1f, 0x8b, 8, 0, 0]).contains("is a broken gzip file"));
    assert_eq!(refused(&gzip(b"")), "not a sitemap: the document is empty");
}

#[test]
fn what_is_not_well_formed_costs_no_other_page() {
    let two = page(2);
    for broken in [
        "<url><loc>https://a.example/1</loc>",
        "<url><loc>https://a.example/1",
        "<url><loc>https://a.example/1</url>",
        "</url></loc><url><loc>https://a.example/1</loc></url>",
        "<url><loc>https://a.example/1</loc><image:image></url>",
        "<url><loc>https://a.example/1</loc><news:news><news:title>T</url>",
        "<url/>junk < > & <url>\n<loc>\nhttps://a.example/1\n</loc>\n</url>",
        "<url><loc>javascript:alert(1)</loc></url><url><loc></loc></url><url><loc>https://a.example/1</loc></url>",
    ] {
        assert_eq!(locs(&read(&urlset(&format!("{broken}{two}")))), ["https://a.example/1", "https://a.example/2"]);
        assert_eq!(locs(&read(&urlset(&format!("{two}{broken}")))), ["https://a.example/2", "https://a.example/1"]);
    }
    assert_eq!(locs(&read(&page(1))), ["https://a.example/1"]);
}

#[test]
fn a_document_that_ends_in_the_middle_is_cut_and_its_last_address_is_not_guessed() {
    let whole = urlset(&(page(1) + &page(23)));
    let last = whole.find("23").unwrap_or_default();
    for end in last..whole.rfind("</urlset>").unwrap_or_default() {
        let sitemap = read(&whole[..end]);
        let complete = usize::from(end >= last + "23</".len());
        assert!(sitemap.is_cut && sitemap.pages.len() == 1 + complete, "{}: {sitemap:?}", &whole[..end]);
    }
    assert!(!read(&whole).is_cut);
}

#[test]
fn what_precedes_a_sitemap_is_passed_over_as_before_a_feed() {
    for junk in [
        "<br />\n<b>Warning</b>: line 3 in <b>/srv/a.php</b><br />\n",
        "PHP Notice: undefined index in /srv/a.php\n",
        "https://a.example/broken.php: line 3\n",
        "<script>document.write('<urlset><url><loc>/x</loc></url>')</script>",
        "<html><body><p>Debug</p>",
        "[1] notice\n",
    ] {
        let index = "<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>";
        assert_eq!(read(&format!("{junk}{index}")).sitemaps.len(), 1, "{junk}");
        for xml in ["<?xml version='1.0'?>", ""] {
            assert_eq!(locs(&read(&format!("{junk}{xml}{}", urlset(&page(1))))), ["https://a.example/1"], "{junk}");
        }
        let item = "<item><link>https://a.example/1</link></item>";
        let feed = format!("{junk}<rss version='2.0'><channel><title>W</title>{item}</channel></rss>");
        // A web page without a sitemap is not one, whatever else it contains.
        if !junk.starts_with("<html>") {
            assert_eq!(locs(&read(&feed)), ["https://a.example/1"], "{junk}");
        }
    }
    // An address in a list may contain text that looks like a tag.
    assert_eq!(locs(&read("https://a.example/?q=<b>x\nhttps://a.example/2")).len(), 2);
}

#[test]
fn what_is_no_sitemap_is_said_to_be_none() {
    for (body, why) in [
        ("", "the document is empty"),
        ("  \n\0", "the document is empty"),
        ("<!DOCTYPE html><html><body><url><loc>/1</loc></url></body></html>", "it is a web page"),
        ("<OpenSearchDescription/>", "its first element is 'OpenSearchDescription'"),
        ("<!-- nothing -->", "there is no element in it"),
        ("404 page not found", "it is neither XML nor a list of addresses"),
    ] {
        assert_eq!(refused(body.as_bytes()), format!("not a sitemap: {why}"), "{body}");
    }
    assert_eq!(read("<urlset/>"), Sitemap::default());
}

#[test]
fn entities_are_not_expanded() {
    let mut doctype = "<!DOCTYPE urlset [<!ENTITY l0 'curlew'><!ENTITY x SYSTEM 'file:///etc/hostname'>".to_owned();
    for n in 1..12 {
        doctype += &format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(10));
    }
    let entry = "<url><loc>/1</loc><news:news><news:title>A &l11; &x; &eacute;</news:title></news:news></url>";
    let sitemap = read(&format!("{doctype}]><urlset>{entry}</urlset>"));
    assert_eq!(sitemap.pages[0].title.as_deref(), Some("A &l11; &x; \u{e9}"));
}

#[test]
fn a_million_addresses_are_cut_at_the_limit() {
    for body in [
        urlset(&(0..1_000_000).map(page).collect::<String>()),
        (0..1_000_000).map(|n| format!("https://a.example/{n}\n")).collect(),
    ] {
        let sitemap = read(&body);
        assert!(sitemap.is_cut && sitemap.pages.len() == 50_000);
        let zipped = read_with(&gzip(body.as_bytes()), &SitemapLimits::default());
        assert_eq!(zipped, Ok(sitemap));
    }
    let unusable = read(&urlset(&"<url><loc>mailto:a</loc></url>".repeat(1_000_000)));
    assert!(unusable.is_cut && unusable.pages.is_empty());
}

#[test]
fn large_documents_of_anything_end() {
    let pieces = "\
        <url>|<url><loc>/1|<loc>|<url><loc>/1</loc><lastmod>|&amp;|<image:image>|<|<a b='|\0|<![CDATA[|]]>|<!--|\
        <!DOCTYPE a [|</urlset|\u{20ac}|<url a=\"<|https://a.example/\n";
    for (n, piece) in pieces.split('|').enumerate() {
        // The maximum allowed size for two of the pieces, a fifth of it for the others.
        let bytes = if n < 2 { 50 << 20 } else { 10 << 20 };
        let many = piece.repeat(bytes / piece.len());
        for body in [urlset(&many), format!("<urlset><url><loc>/1</loc>{many}"), many] {
            let read = read_with(body.as_bytes(), &SitemapLimits::default());
            assert!(read.as_ref().map_or(0, |s| s.pages.len()) <= 50_000, "{piece}");
        }
    }
}

#[test]
fn a_document_over_the_limit_is_cut_at_the_end_of_a_tag() {
    let limits = SitemapLimits { bytes: 1_000, ..SitemapLimits::default() };
    let body = urlset(&(0..100).map(|n| format!("<url><loc>/\u{fc}{n}</loc></url>")).collect::<String>());
    for bytes in 900..1_000 {
        let limits = SitemapLimits { bytes, ..limits };
        for body in [body.as_bytes(), &gzip(body.as_bytes())] {
            let sitemap = read_with(body, &limits).unwrap_or_else(|error| panic!("{error}"));
            assert!(sitemap.is_cut && sitemap.pages.len() > 10);
            assert!(sitemap.pages.iter().all(|page| page.loc.starts_with("https://a.example/%C3%BC")));
        }
    }
}

#[test]
fn a_gzip_bomb_is_unfolded_to_the_limit_only() {
    let bomb = gzip(&vec![0; 200 << 20]);
    assert_eq!(refused(&bomb), "not a sitemap: the document is empty");
    let bomb = gzip(format!("<urlset><url><loc>/1</loc></url>{}", " ".repeat(200 << 20)).as_bytes());
    let sitemap = read_with(&bomb, &SitemapLimits::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(sitemap.is_cut && sitemap.pages.len() == 1);
    // Only one layer of compression is removed.
    assert!(refused(&gzip(&bomb)).contains("neither XML nor"));
}
