//! Tests of the operator's exclusions and own sites.

use curlew_policy::politeness::scope::{OwnHosts, Scope};
use curlew_policy::site::exclusions::{Exclusions, Lists, MAX_PATTERNS, MAX_RULE_BYTES};
use url::Url;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|t| (*t).to_owned()).collect()
}

fn lists(substrings: &[&str], prefixes: &[&str], patterns: &[&str], extensions: &[&str]) -> Lists {
    Lists {
        substrings: texts(substrings),
        prefixes: texts(prefixes),
        patterns: texts(patterns),
        extensions: texts(extensions),
    }
}

fn excluded(lists: &Lists, url: &str) -> Option<String> {
    Exclusions::compile(lists).unwrap().excludes(&Url::parse(url).unwrap()).map(|reason| reason.to_string())
}

#[test]
fn a_part_of_the_url_excludes_it_wherever_it_stands() {
    let lists = lists(&["/text/", "?print="], &[], &[], &[]);
    for url in [
        "http://www.example.com/text/a.html",
        "http://www.example.com/a/text/",
        "http://www.example.com/%74ext/a",
        "http://other.example/a?x=/text/",
    ] {
        assert_eq!(excluded(&lists, url).as_deref(), Some("the substring '/text/'"), "{url}");
    }
    assert_eq!(excluded(&lists, "http://a.example/b?print=1").as_deref(), Some("the substring '?print='"));
    for url in ["http://www.example.com/text", "http://www.example.com/Text/a", "http://www.example.com/a#/text/"] {
        assert_eq!(excluded(&lists, url), None, "{url}");
    }
}

#[test]
fn the_beginning_of_the_url_excludes_it() {
    let lists = lists(&[], &["http://www.Example.com:80/text/", "https://closed.example"], &[], &[]);
    assert_eq!(
        excluded(&lists, "http://www.example.com/text/a").as_deref(),
        Some("the prefix 'http://www.Example.com:80/text/'")
    );
    assert!(excluded(&lists, "https://closed.example/").is_some());
    for url in [
        "https://www.example.com/text/a",
        "http://example.com/text/a",
        "http://www.example.com/a/text/",
        "https://closed.example.org/",
    ] {
        assert_eq!(excluded(&lists, url), None, "{url}");
    }
}

#[test]
fn a_regular_expression_excludes_what_it_matches() {
    let lists = lists(&[], &[], &[r"/\d{4}/\d\d/$", r"^https?://[^/]*\bshop\."], &[]);
    assert_eq!(excluded(&lists, "https://a.example/2026/05/").as_deref(), Some(r"the pattern '/\d{4}/\d\d/$'"));
    assert!(excluded(&lists, "https://my.shop.example/x").is_some());
    assert_eq!(excluded(&lists, "https://a.example/2026/05/x"), None);
}

#[test]
fn an_extension_excludes_files_in_any_case() {
    let lists = lists(&[], &[], &[], &["pdf", ".tar.gz"]);
    assert_eq!(excluded(&lists, "https://a.example/x.PDF?page=2").as_deref(), Some("the extension 'pdf'"));
    assert!(excluded(&lists, "https://a.example/x.tar.gz").is_some());
    for url in ["https://a.example/pdf", "https://a.example/x.pdf/y", "https://a.example/?x.pdf", "https://a.pdf/"] {
        assert_eq!(excluded(&lists, url), None, "{url}");
    }
}

#[test]
fn nothing_is_excluded_without_rules() {
    assert!(Exclusions::default().is_empty());
    assert_eq!(excluded(&Lists::default(), "https://a.example/"), None);
}

#[test]
fn a_rule_that_cannot_be_used_is_named() {
    let long = "x".repeat(MAX_RULE_BYTES + 1);
    let many: Vec<&str> = vec!["a"; MAX_PATTERNS + 1];
    for (lists, says) in [
        (lists(&[""], &[], &[], &[]), "empty"),
        (lists(&[&long], &[], &[], &[]), "longer than"),
        (lists(&[], &["www.example.com/text/"], &[], &[]), "'www.example.com/text/' is no absolute URL"),
        (lists(&[], &["ftp://www.example.com/"], &[], &[]), "neither http nor https"),
        (lists(&[], &[], &["ok", "a(b"], &[]), "'a(b' cannot be used: unclosed group"),
        (lists(&[], &[], &["(a{1000}){1000}"], &[]), "'(a{1000}){1000}' cannot be used"),
        (lists(&[], &[], &many, &[]), "at most 1000"),
        (lists(&[], &[], &[], &["."]), "no extension"),
        (lists(&[], &[], &[], &["a/b"]), "no extension"),
    ] {
        let error = Exclusions::compile(&lists).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn own_hosts_are_named_one_by_one() {
    let own = OwnHosts::read(&texts(&["Intranet", "wiki.example.org", "10.1.0.0/16", "2001:db8::/32"])).unwrap();
    let is_own = |url: &str| own.contains(&Url::parse(url).unwrap());
    for url in [
        "http://intranet/a",
        "https://wiki.example.org/",
        "https://de.wiki.example.org./",
        "http://10.1.2.3:8080/",
        "http://[2001:db8::1]/",
    ] {
        assert!(is_own(url), "{url}");
    }
    for url in ["https://example.org/", "https://notwiki.example.org/", "http://10.2.0.1/", "http://[2001:db9::1]/"] {
        assert!(!is_own(url), "{url}");
    }
    assert_eq!(own.to_string(), "intranet, wiki.example.org, 10.1.0.0/16, 2001:db8::/32");
    for bad in ["com", "co.uk", "github.io", "0.0.0.0/0", "8.0.0.0/6", "::/0", "*", "*.example.org", "", "a b"] {
        assert!(OwnHosts::read(&texts(&[bad])).is_err(), "{bad:?}");
    }
}

#[test]
fn meta_tags_of_own_sites_only_are_left_aside() {
    let scope = Scope { meta_ignored: OwnHosts::read(&texts(&["own.example"])).unwrap(), ..Scope::default() };
    let directives = |url: &str| {
        scope.directives(&Url::parse(url).unwrap(), &[("robots".into(), "noindex".into())], &[], "CurlewBot")
    };
    assert!(!directives("https://own.example/a").noindex);
    assert!(directives("https://other.example/a").noindex);
}
