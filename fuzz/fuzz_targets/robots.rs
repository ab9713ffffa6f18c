//! robots.txt: the first line of the input is the path that is asked about, the rest is the file.
#![no_main]

use curlew_policy::robots::Robots;
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|data: &[u8]| {
    let (path, file) = data.iter().position(|b| *b == b'\n').map_or((data, &[][..]), |n| (&data[..n], &data[n + 1..]));
    let path = format!("/{}", String::from_utf8_lossy(path));
    for token in ["CurlewBot", "*"] {
        let robots = Robots::parse(file, token);
        let decision = robots.check_path(&path);
        assert_eq!(decision, Robots::parse(file, token).check_path(&path), "the same twice");
        assert!(robots.check_path("/robots.txt").allowed);
        if let Ok(url) = Url::parse(&format!("https://reed.example{path}")) {
            let _ = (robots.check(&url), robots.usage(&url), robots.crawl_delay(), robots.weight());
        }
        assert!(decision.allowed || decision.rule.is_some(), "nothing is forbidden without a rule");
    }
});
