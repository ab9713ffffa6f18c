use super::*;

fn page(body: &[u8], content_type: Option<&str>) -> String {
    undo_double_encoding(decode(body, content_type, Document::Page).text).into_owned()
}

fn feed(body: &[u8], content_type: Option<&str>) -> String {
    decode(body, content_type, Document::Feed).text.into_owned()
}

#[test]
fn a_mark_is_believed_before_the_header_and_the_header_before_the_document() {
    type Read = fn(&[u8], Option<&str>) -> String;
    let koi8 = b"<?xml version='1.0' encoding='koi8-r'?><a>\xE9</a>";
    for (read, body, header, end) in [
        (page as Read, &b"\xEF\xBB\xBFperch\xC3\xA9"[..], Some("text/html; charset=windows-1252"), "perché"),
        (page, b"\xFF\xFEh\0i\0", Some("text/html; charset=utf-8"), "hi"),
        (
            page,
            b"<meta charset=koi8-r>\xE0\xE8",
            Some("text/html; Charset=\"windows-1251\""),
            "<meta charset=koi8-r>аи",
        ),
        (page, b"<META HTTP-EQUIV=x content='text/html; charset=windows-1251'>\xE0", None, "'>а"),
        (page, b"<!-- <meta charset=utf-16> --><!--><meta charset=koi8-r>\xE0", None, "koi8-r>Ю"),
        (page, b"<!-- <meta charset=windows-1251> --><meta charset=koi8-r>\xE0", None, "koi8-r>Ю"),
        (feed, b"\xEF\xBB\xBFcaf\xC3\xA9", Some("text/xml; charset=koi8-r"), "café"),
        (feed, koi8, Some("text/xml;charset=windows-1252"), "<a>é</a>"),
        (feed, koi8, None, "<a>И</a>"),
        (feed, b"<html><meta\ncharset='koi8-r'>\xE9", None, "'>И"),
    ] {
        assert!(read(body, header).ends_with(end), "{end}: {}", read(body, header));
    }
}

#[test]
fn utf_16_is_known_with_and_without_a_mark() {
    for mark in [true, false] {
        let source = format!("{}<a>\u{e9}\u{1F426}</a>", if mark { "\u{FEFF}" } else { "" });
        let le: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = source.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let with_line_break: Vec<u8> = format!("\n{source}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        if !mark {
            assert_eq!(feed(&with_line_break, None).trim(), "<a>\u{e9}\u{1F426}</a>");
        }
        for body in [le, be] {
            assert_eq!(feed(&body, None).trim_start_matches('\u{FEFF}'), "<a>\u{e9}\u{1F426}</a>");
            assert_eq!(page(&body, None).trim_start_matches('\u{FEFF}'), "<a>\u{e9}\u{1F426}</a>");
        }
    }
}

#[test]
fn a_wrong_label_is_found_out() {
    // Labelled UTF-8, but encoded in windows-1252.
    assert_eq!(feed(b"<a>na\xEFve caf\xE9</a>", Some("text/xml; charset=utf-8")), "<a>na\u{ef}ve caf\u{e9}</a>");
    assert_eq!(page(b"un caff\xE8 caldo", Some("text/html; charset=utf-8")), "un caff\u{e8} caldo");
    assert_eq!(page(b"un caff\xC3\xA8\xFF", Some("text/html; charset=utf-8")), "un caff\u{e8}\u{FFFD}");
    // Labelled Latin-1 by the header, but declared and encoded as UTF-8.
    let body = "<?xml version='1.0' encoding='utf-8'?><a>\u{e9}</a>";
    assert_eq!(feed(body.as_bytes(), Some("text/xml; charset=iso-8859-1")), body);
    // One broken byte does not refute UTF-8.
    assert_eq!(feed(b"\xC3\xA9\xC3\xA8 \xFF", Some("a/b; charset=utf-8")), "\u{e9}\u{e8} \u{FFFD}");
}

#[test]
fn a_page_that_is_valid_utf_8_is_utf_8_whatever_its_labels_say() {
    let says_otherwise = "<meta charset=windows-1251><p>Мост закрыт, è così</p>";
    for header in [None, Some("text/html; charset=iso-8859-1"), Some("text/html; charset=gbk")] {
        assert_eq!(page(says_otherwise.as_bytes(), header), says_otherwise);
        let cut = says_otherwise.as_bytes().split_at(says_otherwise.find('ì').map_or(0, |at| at + 1)).0;
        assert!(page(cut, header).ends_with("è cos\u{FFFD}"));
    }
    // ISO-2022-JP escapes are ASCII, so they do not refute the label. Text in its declared encoding does not either.
    assert_eq!(page(b"\x1B$B<V\x1B(B", Some("text/html; charset=iso-2022-jp")), "車");
    assert_eq!(page(b"\x8E\xD4\x82\xCC", Some("text/html; charset=shift_jis")), "車の");
    assert_eq!(page(b"\xCC\xEE\xF1\xF2", Some("text/html; charset=windows-1251")), "Мост");
}

/// Bytes refute a label in a header and in a declaration, of a page and of a feed.
#[test]
fn a_label_that_the_bytes_refute_loses_wherever_it_stands() {
    let labels = "gbk gb2312 shift_jis euc-jp euc-kr big5 us-ascii iso-8859-1 iso-8859-2 windows-1251 windows-1252 \
         koi8-r tis-620 utf-16 cp850";
    for label in labels.split(' ') {
        for text in ["café", "Café — menu", "Мост", "港の灯台", "그 배"] {
            let declared = format!("<?xml version='1.0' encoding='{label}'?><meta charset={label}>{text}");
            let right = format!("<?xml version='1.0' encoding='utf-8'?><meta charset=utf-8>{text}");
            let header = format!("text/xml; charset={label}");
            for (body, header) in [(&declared, None), (&declared, Some(&*header)), (&right, Some(&*header))] {
                for document in [Document::Page, Document::Feed] {
                    let read = decode(body.as_bytes(), header, document);
                    assert_eq!(&*read.text, &**body, "{label} {document:?} {header:?}");
                    assert!(read.faulty || document == Document::Page, "{label} {header:?}");
                }
            }
            assert_eq!(page(text.as_bytes(), Some(&header)), text, "{label}");
            assert_eq!(feed(text.as_bytes(), Some(&header)), text, "{label}");
        }
        // ASCII text is the same in either encoding.
        assert_eq!(feed(b"<a>plain</a>", Some(&format!("a/b; charset={label}"))), "<a>plain</a>");
    }
}

#[test]
fn a_label_with_broken_sequences_loses_to_one_with_none() {
    let both = |header: &str, declared: &str, text: &[u8]| {
        let body = [format!("<?xml version='1.0' encoding='{declared}'?>").as_bytes(), text].concat();
        let body_of_page = [format!("<meta charset={declared}>").as_bytes(), text].concat();
        let header = format!("text/xml; charset={header}");
        let [feed, page] = [feed(&body, Some(&header)), page(&body_of_page, Some(&header))]
            .map(|text| text.split_once('>').map(|(_, text)| text.to_owned()).unwrap_or_default());
        assert_eq!(feed, page);
        feed
    };
    assert_eq!(both("gbk", "windows-1251", b"\xCC\xEE\xF1\xF2 \xC0"), "Мост А");
    assert_eq!(both("utf-8", "shift_jis", b"\x8E\xD4\x82\xCC"), "車の");
    assert_eq!(both("windows-1251", "gbk", b"\xCC\xEE\xF1\xF2 \xC0"), "Мост А");
    // UTF-8 with a stray byte is not taken for single-byte text because of an old label.
    assert_eq!(both("iso-8859-1", "utf-8", b"caff\xC3\xA8 \xC3\xA8 \xFF"), "caffè è \u{FFFD}");
    // If no label fits, the encoding is guessed. A label that fits except for a few sequences is used.
    assert_eq!(both("gbk", "utf-8", b"un caff\xE8 caldo, perch\xE9 cos\xEC non"), "un caffè caldo, perché così non");
    assert_eq!(both("shift_jis", "shift_jis", b"\x8E\xD4\x82\xCC\xFF"), "車の\u{FFFD}");
}

#[test]
fn utf_7_and_unknown_names_are_not_believed() {
    let text = "<meta charset=utf-7>+ADw-script+AD4-";
    assert_eq!(page(text.as_bytes(), Some("text/html; charset=utf-7")), text);
    assert_eq!(feed(b"+ADw-script+AD4-", Some("text/xml; charset=utf-7")), "+ADw-script+AD4-");
    assert_eq!(feed("\u{e9}".as_bytes(), Some("text/xml; charset=nonsense")), "\u{e9}");
    assert_eq!(page("caffè".as_bytes(), Some("text/html; charset=utf8mb4")), "caffè");
}

#[test]
fn a_feed_may_be_in_a_code_page_that_browsers_do_not_know() {
    let declared = |label: &str, text: &[u8]| {
        let body = [format!("<?xml version='1.0' encoding='{label}'?>").as_bytes(), text].concat();
        let read = feed(&body, None);
        read.split_once("?>").map_or_else(String::new, |(_, text)| text.to_owned())
    };
    assert_eq!(declared("cp850", b"caff\x8A"), "caff\u{e8}");
    assert_eq!(declared("windows_1251", b"\xCC\xEE\xF1\xF2"), "Мост");
    assert_eq!(feed(b"caff\x8A", Some("text/xml; charset=ibm850")), "caff\u{e8}");
    // The bytes, or a known charset in the header, refute the declaration.
    assert_eq!(declared("cp850", "caffè".as_bytes()), "caffè");
    let body = b"<?xml version='1.0' encoding='cp850'?>caff\xE8";
    assert!(feed(body, Some("text/xml; charset=iso-8859-1")).ends_with("caffè"));
    // Pages are decoded as in browsers.
    assert!(!page(b"<meta charset=cp850>caff\x8A", None).ends_with('è'));
}

#[test]
fn a_document_in_ascii_cannot_claim_utf_16() {
    assert_eq!(page(b"<meta charset=utf-16>ab", None), "<meta charset=utf-16>ab");
    assert_eq!(feed(b"<?xml version='1.0' encoding='utf-16'?><a/>", None).len(), 43);
}

#[test]
fn the_bytes_decide_where_nothing_is_declared() {
    let latin = b"un caff\xE8 caldo, perch\xE9 cos\xEC non si fredda pi\xF9";
    for read in [page, feed] {
        assert_eq!(read("già così è più caldo".as_bytes(), None), "già così è più caldo");
        assert_eq!(read(latin, None), "un caffè caldo, perché così non si fredda più");
        let late = [&[b' '; 100_000][..], latin].concat();
        assert!(read(&late, None).ends_with("più"));
        assert_eq!(read(b"\xC3\xA8 cos\xC3", None), "è cos\u{FFFD}");
    }
    // One broken byte far into otherwise valid UTF-8.
    let long = ["è".repeat(100_000).as_bytes(), b"\xFF"].concat();
    assert!(feed(&long, None).ends_with("è\u{FFFD}"));
}

#[test]
fn text_that_was_decoded_wrongly_before_it_was_sent_is_mended() {
    let twice = |text: &str| WINDOWS_1252.decode_without_bom_handling(text.as_bytes()).0.into_owned();
    for text in ["I don’t know – “perché”", "café… 5 €"] {
        assert_eq!(page(twice(text).as_bytes(), None), text);
    }
    let latin: String = "Ared’s".bytes().map(char::from).collect();
    assert_eq!(page(latin.as_bytes(), None), "Ared’s");
    for text in ["São â noite, Âge à la carte", "el niño “é” assim", "Crème brûlée à l’âge"] {
        assert_eq!(page(text.as_bytes(), None), text);
    }
}
