use super::*;

fn read(text: &str) -> String {
    parse(text).map(|t| t.to_string()).unwrap_or_default()
}

/// One instant, as it is written in the wild.
#[test]
fn many_spellings_mean_the_same() {
    for text in [
        "Sun, 03 May 2026 17:05:09 GMT",
        "Sun, 3 May 26 17:05:09 +0000",
        "sunday 03-may-2026 17:05:09 utc",
        "Sun May  3 17:05:09 2026",
        "Sun May  3 12:05:09 EST 2026",
        "Sun May 03 2026 19:05:09 GMT+0200 (Central European Summer Time)",
        "May 3rd, 2026 5:05:09 PM",
        "3 May 2026 05:05:09 p.m.",
        "Mon, 04 May 2026 01:05:09 +08:00",
        "dim., 03 mai 2026 17:05:09 +0000",
        "So, 03 Mai 2026 19:05:09 CEST",
        "domenica 3 maggio 2026 17:05:09",
        "\u{39a}\u{3c5}\u{3c1}, 03 \u{39c}\u{3ac}\u{3b9} 2026 17:05:09 GMT",
        "2026-05-03T17:05:09Z",
        "2026-05-03T19:05:09.000+02:00",
        "2026-05-03 17:05:09 UTC",
        "2026/05/03 17:05:09",
        "20260503T170509Z",
        "20260503170509",
        "2026-m\u{e1}jus-03T12:05:09-05:00",
        "2026\u{b144} 05\u{c6d4} 03\u{c77c} 17:05:09",
        "2026-05-03 \u{c624}\u{d6c4} 5:05:09",
        "05/03/2026 17:05:09",
        "03.05.2026 17:05:09",
        "1777827909",
        "1777827909000",
        "  Sun,\n 03 May 2026 17:05:09 GMT ",
    ] {
        assert_eq!(read(text), "2026-05-03T17:05:09Z", "{text}");
    }
}

#[test]
fn parts_that_are_missing_are_the_first_ones() {
    assert_eq!(read("2026"), "2026-01-01T00:00:00Z");
    assert_eq!(read("2026-05"), "2026-05-01T00:00:00Z");
    assert_eq!(read("2026-123"), "2026-05-03T00:00:00Z");
    assert_eq!(read("2026-W18-7"), "2026-05-03T00:00:00Z");
    assert_eq!(read("May 2026"), "2026-05-01T00:00:00Z");
    assert_eq!(read("3 May 2026 17:05"), "2026-05-03T17:05:00Z");
    assert_eq!(read("2026-05-03T17Z"), "2026-05-03T17:00:00Z");
}

#[test]
fn what_runs_over_is_carried() {
    assert_eq!(read("Sun, 03 May 2026 24:00:00 GMT"), "2026-05-04T00:00:00Z");
    assert_eq!(read("Sun, 03 May 2026 23:59:60 GMT"), "2026-05-04T00:00:00Z");
    assert_eq!(read("31 Jun 2026"), "2026-07-01T00:00:00Z");
    assert_eq!(read("3 May 2026 12:10 am"), "2026-05-03T00:10:00Z");
}

#[test]
fn what_is_written_oddly_is_read_as_it_is_meant() {
    for (text, meant) in [
        ("2003-07-01 T01:55:07-05:00", "2003-07-01T06:55:07Z"),
        ("2003-07-01 01:55:07 -05:00", "2003-07-01T06:55:07Z"),
        ("03-12-31", "2003-12-31T00:00:00Z"),
        ("03-12-31 10:14:55", "2003-12-31T10:14:55Z"),
        ("98-05-03", "1998-05-03T00:00:00Z"),
        ("31.12.03", "2003-12-31T00:00:00Z"),
        ("3-5-2026", "2026-05-03T00:00:00Z"),
        ("Thu, 01 Jan 2004 19:48:21 AT", "2004-01-01T23:48:21Z"),
        ("Thu, 01 Jan 2004 19:48:21 ADT", "2004-01-01T22:48:21Z"),
        ("3 May 2026 at 17:05", "2026-05-03T17:05:00Z"),
        ("2026-05-03 17:05:09 KST", "2026-05-03T08:05:09Z"),
        ("2026-05-03 17:05:09 KDT", "2026-05-03T07:05:09Z"),
        ("2026-05-03 17:05:09 \u{d55c}\u{ad6d} \u{d45c}\u{c900}\u{c2dc}", "2026-05-03T08:05:09Z"),
        (
            "2026\u{b144} 05\u{c6d4} 03\u{c77c} 17:05:09 \u{d55c}\u{ad6d}\u{d45c}\u{c900}\u{c2dc}",
            "2026-05-03T08:05:09Z",
        ),
    ] {
        assert_eq!(read(text), meant, "{text}");
    }
    // A month of three digits may be any.
    for text in ["2003-012-31T10:14:55Z", "2003-012-31", "2003-0012-31", "2003-1234"] {
        assert_eq!(read(text), "", "{text}");
    }
}

#[test]
fn what_is_no_date_gives_none() {
    let nested = "(".repeat(200_000);
    for text in [
        "",
        "soon",
        "0000-01-01",
        "99999-01-01",
        "1 Jan 99999",
        "2026-13-01",
        "2026-05-40",
        "25:61",
        "mar",
        "12",
        &nested,
    ] {
        assert_eq!(read(text), "", "{}", text.chars().take(40).collect::<String>());
    }
    assert_eq!(read("1 Jan 1900 00:00:00 GMT"), "1900-01-01T00:00:00Z");
}

#[test]
fn days_of_the_week_have_numbers() {
    assert_eq!(weekday(" Sunday "), Some(6));
    assert_eq!(weekday("mon"), Some(0));
    assert_eq!(weekday("x"), None);
}
