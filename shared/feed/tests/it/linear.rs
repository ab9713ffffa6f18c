//! Tests that the work on any document grows at most linearly with its length. Work is counted, not timed.

use curlew_feed::{Limits, parse_counted};
use proptest::prelude::*;

/// Maximum number of steps per byte of a large document.
const STEPS_A_BYTE: u64 = 300;

/// Number of steps per byte of a document in which nothing is read twice. Below this rate, a document of twice the
/// length may take more than twice the steps only because its last fragment is cut differently.
const PLAIN_STEPS_A_BYTE: u64 = 6;

/// Fragments that require look-ahead, look-behind or memory, separated by `|`.
const PIECES: &str = "\
    <q b=\" \" c=\" |<q b=' ' c=' |<q b=\"<\" c='<' d=\"|<a b=\"'\" c='\"' <|<a b=\"><c d='>|<a b = \" \" = ' ' |\
    =\" ' |=' \" |<|>|&|&#|&#x|&amp|&amp;|&#55357;|&#0;|&e1;|&CounterClockwiseContourIntegral|]|]]>|] >|<!|<!--|-->|\
    <![CDATA[|<![CDATA[]]>|<!DOCTYPE [|<!ENTITY e1 'x'>|<!ENTITY e2 '&e1;&e3;'><!ENTITY e3 '&e1;'>|<?|<?a?>|</|</x>|\
    </title>|<a b=\"|<a b='|<a |a='1' |xmlns:a='u' |<item>|<entry>|<item|<title>|<description>|\
    <content type='xhtml'>|<link>b</link>|<link href='b'/>|<guid/>|<pubDate>a b c d e f g h</pubDate>|\
    <author><name>x</name></author>|<channel xml:base='b/'>|<image><url>b</url>|<skipHours><hour>1</hour>|\
    <media:group><media:title>|<media:group><media:content><media:content>|\
    <p xmlns:x='http://www.w3.org/1999/xhtml'><x:p>|<at:deleted-entry ref='b'/>|<id>b</id>|<br/>|<a:b xmlns:a='u'/>|\
    <x:b/>| href='b'|<html>|<html><head><script></script>|<textarea>|\u{301}|\0";

/// Text before and after the fragments.
const PLACES: [(&str, &str); 11] = [
    ("", ""),
    ("", "\" ><rss><channel>"),
    ("<rss version='2.0'><channel>", "\" <x></x></channel></rss>"),
    ("<rss version='2.0'><channel><item><title>", "</title></item></channel></rss>"),
    (
        "<rss version='2.0' xml:base='https://b.example/c/d/'><channel><item><description>",
        "</description></item></channel>",
    ),
    ("<feed xmlns='http://www.w3.org/2005/Atom'>", "</feed>"),
    (
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml' xml:base='/c/d/'><div>",
        "</div></content></entry></feed>",
    ),
    ("<html><body><feed xmlns='http://www.w3.org/2005/Atom'>", "</feed></body></html>"),
    // In this page a feed may begin at any point.
    ("", "<feed xmlns='http://www.w3.org/2005/Atom'></feed></html>"),
    ("<!DOCTYPE rss [", "]><rss version='2.0'><channel><item><title>&e1;</title>"),
    ("{\"version\": \"https://jsonfeed.org/version/1.1\", \"title\": \"", "\", \"items\": []}"),
];

/// Parses a document of about `bytes` bytes, filled with a fragment, and returns the number of steps.
fn steps(place: (&str, &str), piece: &str, bytes: usize) -> u64 {
    let body = format!("{}{}{}", place.0, piece.repeat(bytes.div_ceil(piece.len())), place.1);
    let (_, steps) = parse_counted(body.as_bytes(), None, &"https://a.example/f".parse().unwrap(), &Limits::default());
    assert!(steps >= body.len() as u64, "{steps} steps were counted for {} bytes", body.len());
    assert!(
        steps <= STEPS_A_BYTE * body.len() as u64,
        "{steps} steps for {} bytes of {piece:?} in {place:?}",
        body.len()
    );
    steps
}

/// Checks that a document of twice the length takes at most two and a half times as many steps.
fn grows_linearly(piece: &str, bytes: usize) {
    for place in PLACES {
        let (once, twice) = (steps(place, piece, bytes), steps(place, piece, 2 * bytes));
        let once = once.max(PLAIN_STEPS_A_BYTE * bytes as u64);
        assert!(twice * 2 <= once * 5, "{once} steps, then {twice} for twice as much of {piece:?} in {place:?}");
    }
}

#[test]
fn every_piece_repeated_takes_linear_work() {
    for piece in PIECES.split('|') {
        grows_linearly(piece, 16 * 1024);
    }
}

#[test]
fn a_long_name_is_not_looked_at_again_for_each_element() {
    let long = "n".repeat(64 * 1024);
    for (root, inner) in [("rss", "<title>a<b/></title>"), ("feed", "<zz/>"), ("feed", "<entry><content>a<b/>")] {
        let atom = "http://www.w3.org/2005/Atom";
        let place = format!("<{long}:{root} xmlns='{atom}' xmlns:{long}='{atom}'>");
        let (once, twice) = (steps((&place, ""), inner, 64 * 1024), steps((&place, ""), inner, 128 * 1024));
        assert!(twice * 2 <= once * 5, "{once} steps, then {twice} for twice as much of {inner:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_in_any_order_take_linear_work(
        pieces in prop::collection::vec(prop::sample::select(PIECES.split('|').collect::<Vec<_>>()), 2..7),
    ) {
        grows_linearly(&pieces.concat(), 8 * 1024);
    }
}
