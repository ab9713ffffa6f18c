//! Page directives and usage preferences: the first line of the input is a header, the second a meta tag's name, the rest its content.
#![no_main]

use curlew_policy::directives::{Directives, parse_date};
use curlew_policy::preferences::{Preferences, TdmFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default().to_owned();
    let (header, name, content) = (next(), next(), next());
    let _ = parse_date(&header);
    let headers = [header];
    let one = Directives::gather(&[], &headers, "CurlewBot");
    let both = Directives::gather(&[(name, content)], &headers, "CurlewBot");
    assert!(both.noindex >= one.noindex && both.nosnippet >= one.nosnippet, "saying more takes no wish back");
    let again = Directives::gather(&[("robots".into(), both.names().join(", "))], &[], "CurlewBot");
    assert_eq!(again, both, "what is written can be read");
    let said = Preferences::parse(data);
    assert_eq!(Preferences::parse(said.to_string().as_bytes()), said);
    let _ = TdmFile::parse(data);
});
