//! Lists of feeds, as a person exports them from another program.
#![no_main]

use curlew_feed::feeds_of_opml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(feeds) = feeds_of_opml(data) else { return };
    assert_eq!(Ok(&feeds), feeds_of_opml(data).as_ref(), "the same twice");
    for feed in &feeds {
        assert!(!feed.url.is_empty() && feed.url.trim() == feed.url);
        assert!(feed.title.as_ref().is_none_or(|title| !title.is_empty() && !title.contains(char::is_control)));
    }
});
