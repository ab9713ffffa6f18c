//! Autodiscovery: the input is a page.
#![no_main]

use curlew_feed::discover;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use url::Url;

fuzz_target!(|data: &[u8]| {
    let Ok(url) = Url::parse("https://site.example/blog/") else { return };
    let links = discover(data, None, &url);
    assert_eq!(links, discover(data, None, &url), "the same twice");
    let mut seen = HashSet::new();
    for link in &links {
        assert!(matches!(link.url.scheme(), "http" | "https") && link.url.fragment().is_none());
        assert!(link.url.username().is_empty() && link.url.password().is_none());
        assert!(seen.insert(link.url.as_str()), "each address once");
    }
});
