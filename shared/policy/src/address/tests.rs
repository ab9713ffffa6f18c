use super::*;

#[test]
fn a_link_that_drops_what_a_feed_added_is_told_from_one_that_drops_the_article() {
    let url = |path: &str| Url::parse(&format!("https://example.org{path}")).expect("the path of an address");
    for (link, answered, only_extras) in [
        ("/a", "/a?source=rss", true),
        ("/a?lang=de", "/a?lang=de&from=feed-7", true),
        ("/a", "/a?id=7", false),
        ("/a", "/a?p=7", false),
        ("/a", "/a?7", false),
        ("/a?id=8", "/a?id=7", false),
        ("/b", "/a?source=rss", false),
    ] {
        assert_eq!(drops_only_extras(&url(link), &url(answered)), only_extras, "{link} {answered}");
    }
}

#[test]
fn a_typed_address_is_shown_without_its_password() {
    for (typed, is_shown) in [
        ("http://me:secret@a.example/b@c", "http://…@a.example/b@c"),
        ("https://token@a.example", "https://…@a.example"),
        ("me:secret@a.example", "…@a.example"),
        ("https://me:se@cret@a.example/", "https://…@a.example/"),
        ("https://me:se/c?r#et@a.example/", "https://…@a.example/"),
        ("https://a.example:8443/@me", "https://a.example:8443/@me"),
        ("https://[::1]/@me", "https://[::1]/@me"),
        ("https://a.example/?to=me@b.example", "https://a.example/?to=me@b.example"),
        ("::nonsense::", "::nonsense::"),
    ] {
        assert_eq!(without_credentials(typed), is_shown);
    }
}

fn url(text: &str) -> Url {
    parse(text, None).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn key(text: &str, groups: &HostGroups) -> String {
    host_key(&url(text), groups).unwrap_or_else(|e| panic!("{text}: {e}")).to_string()
}

#[test]
fn o06_o07_what_is_stored_is_named_by_a_hash_and_never_by_what_a_site_says() {
    let long = format!("https://example.org/{}", "a".repeat(2_000));
    for text in [
        "https://example.org/../../etc/passwd",
        "https://example.org//%2e%2e/%00",
        "https://example.org/CON",
        "https://nul/",
        "https://example.org/?a=../..\\..&b=\u{202e}",
        &long,
    ] {
        let url = url(text);
        for name in [page_id(&url).to_string(), source_key(&url).to_string(), image_id(&url).to_string()] {
            assert!(name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
        }
    }
    let (upper, lower) = (url("https://example.org/A"), url("https://example.org/a"));
    assert_ne!(page_id(&upper).as_str().to_lowercase(), page_id(&lower).as_str().to_lowercase());
}

#[test]
fn tracking_goes_the_rest_stays_and_the_form_is_stable() {
    for (text, form) in [
        ("HTTP://Example.ORG:80/a?utm_source=x&id=7&fbclid=1#top", "http://example.org/a?id=7"),
        ("https://example.org/?utm_medium=rss", "https://example.org/"),
        ("https://example.org/%7euser/%c3%a9?q=%2f", "https://example.org/~user/%C3%A9?q=%2F"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org/a%2fb?x=1&&y=%41", "https://example.org/a%2Fb?x=1&y=A"),
        ("http://[2001:db8::1]/", "http://[2001:db8::1]/"),
        ("https://例え.テスト/あ?い=う", "https://xn--r8jz45g.xn--zckzah/%E3%81%82?%E3%81%84=%E3%81%86"),
    ] {
        let once = canonical(&url(text));
        assert_eq!(once.as_str(), form);
        assert_eq!((canonical(&once), url(once.as_str())), (once.clone(), once));
    }
}

#[test]
fn what_wikis_say_of_a_change_leads_to_the_page_itself() {
    let current = |text: &str| current_version(&url(text)).to_string();
    for (change, page) in [
        ("/index.php?title=Tern&diff=18&oldid=0", "/index.php?title=Tern"),
        ("/w/index.php?title=Tern:A%26B&diff=prev&oldid=17&rcid=4", "/w/index.php?title=Tern:A%26B"),
        ("/w/index.php?title=Tern&oldid=17", "/w/index.php?title=Tern"),
        ("/w/index.php?title=Tern&action=history", "/w/index.php?title=Tern"),
        ("/wiki/Tern?diff=18&oldid=17", "/wiki/Tern"),
        ("/index.php/Tern?diff=next&oldid=17&uselang=fr", "/index.php/Tern?uselang=fr"),
        ("/doku.php?id=birds:tern&rev=1700000000&do=diff", "/doku.php?id=birds:tern"),
        ("/doku.php/birds:tern?do=revisions", "/doku.php/birds:tern"),
        ("/birds/tern?rev=1700000000&do=diff", "/birds/tern"),
        ("/birds/tern?do=diff&rev2%5B0%5D=17&rev2%5B1%5D=18&difftype=inline", "/birds/tern"),
        ("/Tern?action=diff&rev1=3&rev2=4", "/Tern"),
        ("/wiki/Tern?action=diff&version=4", "/wiki/Tern"),
    ] {
        assert_eq!(current(&format!("https://wiki.example{change}")), format!("https://wiki.example{page}"));
    }
}

#[test]
fn parameters_of_wikis_mean_what_they_mean_on_other_sites() {
    for page in [
        "/photo?rev=3",
        "/compare?diff=18",
        "/post?oldid=17",
        "/index.php?id=7&rev=3",
        "/index.php?title=Tern&action=edit",
        "/shop?action=diff",
        "/shop?action=history&id=7",
        "/news?do=diff",
        "/news?do=show&rev=3",
        "/events?action=show&date=20260101",
        "/a?diff=one&oldid=two",
        "/a",
    ] {
        let page = format!("https://other.example{page}");
        assert_eq!(current_version(&url(&page)).as_str(), page);
    }
}

#[test]
fn what_is_no_address_of_a_page_is_refused() {
    let long = format!("https://example.org/{}", "x".repeat(3_000));
    let many = format!("https://example.org/?{}", "a=1&".repeat(40));
    let schemes = ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@example.org"];
    let others = ["nonsense", "http://u:p@example.org/", "http://u@example.org/", "http:///", &long, &many];
    for bad in schemes.into_iter().chain(others).chain(["https://example.org/a/a/a/a/a/a"]) {
        assert!(parse(bad, None).is_err(), "{bad}");
    }
}

#[test]
fn politeness_counts_registrable_domains_unless_groups_and_splits_are_configured() {
    let preset = HostGroups::default();
    let own = HostGroups {
        split: vec!["blogs.example.org".into()],
        group: [("github.io".to_owned(), "github.io".to_owned())].into(),
        ..HostGroups::default()
    };
    for (text, groups, expected) in [
        ("https://www.example.co.uk/", &preset, "example.co.uk"),
        ("https://a.b.example.org/", &preset, "example.org"),
        ("https://one.github.io/", &preset, "one.github.io"),
        ("http://192.0.2.7:8080/", &preset, "192.0.2.7"),
        ("http://[2001:db8::1]/", &preset, "[2001:db8::1]"),
        ("http://farm-01.test/", &preset, "farm-01.test"),
        ("https://x.anna.blogs.example.org/", &own, "anna.blogs.example.org"),
        ("https://blogs.example.org/", &own, "example.org"),
        ("https://one.github.io/", &own, "github.io"),
    ] {
        assert_eq!(key(text, groups), expected, "{text}");
    }
}

#[test]
fn the_blogs_of_a_platform_share_one_budget_unless_configured() {
    let preset = HostGroups::default();
    for platform in PLATFORMS {
        for name in [platform.to_owned(), format!("anna.{platform}"), format!("www.ben.{platform}")] {
            assert_eq!(key(&format!("https://{name}/"), &preset), platform);
        }
        assert_eq!(key(&format!("https://no{platform}/"), &preset), format!("no{platform}"));
    }
    let without = HostGroups { platforms: vec![], ..HostGroups::default() };
    assert_eq!(key("https://anna.blogspot.com/", &without), "anna.blogspot.com");
    let split = HostGroups { split: vec!["tumblr.com".into()], ..HostGroups::default() };
    assert_eq!(key("https://anna.tumblr.com/", &split), "anna.tumblr.com");
}

#[test]
fn below_a_public_suffix_there_are_other_host_keys() {
    let preset = HostGroups::default();
    for (name, has) in [
        ("github.io", true),
        ("co.uk", true),
        ("example.org", false),
        ("one.github.io", false),
        ("blogspot.com", false),
    ] {
        assert_eq!(has_keys_below(name, &preset), has, "{name}");
    }
    let split = HostGroups { split: vec!["blogs.example.org".into()], ..HostGroups::default() };
    assert!(["blogs.example.org", "example.org"].into_iter().all(|name| has_keys_below(name, &split)));
}

#[test]
fn robots_scope_has_scheme_host_and_port() {
    for (text, scope) in
        [("https://example.org/a", "https://example.org:443"), ("http://example.org:8080/", "http://example.org:8080")]
    {
        assert_eq!(origin(&url(text)).map(String::from).as_deref(), Ok(scope));
    }
}
