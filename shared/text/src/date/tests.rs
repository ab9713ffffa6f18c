use super::*;

fn shown(text: &str, hints: &Hints) -> String {
    parse(text, hints).map(|moment| moment.at.to_string()).unwrap_or_default()
}

/// Checks that each text, separated by ` | `, has the given meaning; an empty meaning stands for no date.
fn must_mean(read: fn(&str) -> String, meant: &str, texts: &str) {
    for text in texts.split(" | ") {
        assert_eq!(read(text), meant, "{text}");
    }
}

fn read(text: &str) -> String {
    shown(text, &Hints::FEED)
}

fn page(text: &str) -> String {
    shown(text, &Hints::page(Order::DayFirst))
}

fn directive(text: &str) -> String {
    shown(text, &Hints::DIRECTIVE)
}

/// One instant in various spellings found on the web.
#[test]
fn many_spellings_mean_the_same() {
    must_mean(
        read,
        "2026-05-03T17:05:09Z",
        "Sun, 03 May 2026 17:05:09 GMT | Sun, 3 May 26 17:05:09 +0000 | sunday 03-may-2026 17:05:09 utc | \
         Sun May  3 17:05:09 2026 | Sun May  3 12:05:09 EST 2026 | \
         Sun May 03 2026 19:05:09 GMT+0200 (Central European Summer Time) | May 3rd, 2026 5:05:09 PM | \
         3 May 2026 05:05:09 p.m. | Mon, 04 May 2026 01:05:09 +08:00 | dim., 03 mai 2026 17:05:09 +0000 | \
         So, 03 Mai 2026 19:05:09 CEST | domenica 3 maggio 2026 17:05:09 | Κυρ, 03 Μάι 2026 17:05:09 GMT | \
         2026-05-03T17:05:09Z | 2026-05-03T19:05:09.000+02:00 | 2026-05-03 17:05:09 UTC | 2026/05/03 17:05:09 | \
         20260503T170509Z | 20260503170509 | 2026-m\u{e1}jus-03T12:05:09-05:00 | 2026년 05월 03일 17:05:09 | \
         2026-05-03 오후 5:05:09 | 05/03/2026 17:05:09 | 03.05.2026 17:05:09 | 1777827909 | 1777827909000",
    );
    assert_eq!(read("  Sun,\n 03 May 2026 17:05:09 GMT "), "2026-05-03T17:05:09Z");
}

#[test]
fn what_is_missing_or_runs_over_or_is_written_oddly_is_read_as_it_is_meant() {
    for (texts, meant) in [
        ("2026", "2026-01-01T00:00:00Z"),
        ("2026-05 | May 2026", "2026-05-01T00:00:00Z"),
        ("2026-123 | 2026-W18-7 | 3-5-2026", "2026-05-03T00:00:00Z"),
        ("3 May 2026 17:05 | 3 May 2026 at 17:05", "2026-05-03T17:05:00Z"),
        ("2026-05-03T17Z", "2026-05-03T17:00:00Z"),
        ("Sun, 03 May 2026 24:00:00 GMT | Sun, 03 May 2026 23:59:60 GMT", "2026-05-04T00:00:00Z"),
        ("31 Jun 2026", "2026-07-01T00:00:00Z"),
        ("3 May 2026 12:10 am", "2026-05-03T00:10:00Z"),
        ("2003-07-01 T01:55:07-05:00 | 2003-07-01 01:55:07 -05:00", "2003-07-01T06:55:07Z"),
        ("03-12-31 | 31.12.03", "2003-12-31T00:00:00Z"),
        ("03-12-31 10:14:55", "2003-12-31T10:14:55Z"),
        ("98-05-03", "1998-05-03T00:00:00Z"),
        ("Thu, 01 Jan 2004 19:48:21 AT", "2004-01-01T23:48:21Z"),
        ("Thu, 01 Jan 2004 19:48:21 ADT", "2004-01-01T22:48:21Z"),
        ("2026-05-03 17:05:09 KST | 2026-05-03 17:05:09 한국 표준시", "2026-05-03T08:05:09Z"),
        ("2026년 05월 03일 17:05:09 한국표준시", "2026-05-03T08:05:09Z"),
        ("2026-05-03 17:05:09 KDT", "2026-05-03T07:05:09Z"),
        // A month of three digits is ambiguous.
        ("2003-012-31T10:14:55Z | 2003-012-31 | 2003-0012-31 | 2003-1234", ""),
    ] {
        must_mean(read, meant, texts);
    }
}

#[test]
fn a_zone_counts_after_the_time_only_and_a_second_time_is_an_offset_that_lost_its_plus_or_nothing() {
    for (texts, meant) in [
        ("pt., 05 cze 2026 10:00:00 +0200", "2026-06-05T08:00:00Z"),
        ("Pt, 01 Jun 2026 10:00:00 +0300", "2026-06-01T07:00:00Z"),
        ("Ct, 06 Haz 2026 10:00:00 +0300", "2026-06-06T07:00:00Z"),
        ("pet, 05 jun 2026 10:00:00", "2026-06-05T10:00:00Z"),
        ("Mon, 01 Jun 2026 10:00:00 PT | Mon, 01 Jun 2026 10:00:00 Pacific Time", "2026-06-01T17:00:00Z"),
        ("Sun, 08 Mar 2026 10:00:00 ET | Sun, 08 Mar 2026 10:00:00 Eastern Daylight Time", "2026-03-08T14:00:00Z"),
        ("Sat, 07 Mar 2026 10:00:00 ET | Sat, 07 Mar 2026 10:00:00 EST", "2026-03-07T15:00:00Z"),
        ("Sun, 01 Nov 2026 10:00:00 CT | 1 Nov 2026 10:00:00 Central Standard Time", "2026-11-01T16:00:00Z"),
        ("Thứ 2, 01 Jun 2026 10:00:00 +0700", "2026-06-01T03:00:00Z"),
        ("Thứ 2, 1 tháng 6 2026 10:00:00", "2026-06-01T10:00:00Z"),
        ("2026-06-01T12:44:00 00:00", "2026-06-01T12:44:00Z"),
        ("2026-06-01T10:00:00 02:00 | Mon, 01 Jun 2026 10:00:00 0200", "2026-06-01T08:00:00Z"),
        ("2026-06-01T10:00:00.5 05:30", "2026-06-01T04:30:00.5Z"),
        ("Mon, 01 Jun 2026 10:00:00 00:00 | Mon Jun 1 10:00:00 2026", "2026-06-01T10:00:00Z"),
        ("Mon, 01 Jun 2026 10:00:00 +0200 11:00", "2026-06-01T08:00:00Z"),
        // No zone is that far east, and the second time is the end of an event.
        ("Mon, 01 Jun 2026 10:00:00 18:00:00 | Mon, 01 Jun 2026 10:00 12:00", "2026-06-01T10:00:00Z"),
    ] {
        must_mean(read, meant, texts);
    }
}

#[test]
fn times_in_other_forms_are_read() {
    must_mean(
        read,
        "2026-06-01T09:36:25Z",
        "2026-06-01T0936:25+00:00 | Mon, 01 Jun 2026 T09:36:25Z | 2026-06-01 t09:36:25 | \
         Mon, 01 Jun 2026 09.36.25 +0000 | 1 Jun 2026 9.36.25 | 1780306585.125 | @1780306585",
    );
    must_mean(
        read,
        "2026-06-01T22:30:00Z",
        "Mon, 06/01/2026 - 22:30 | June 1, 2026 - 10:30pm | 2026-06-01 - 22:30 | 1 juin 2026 22h30 | \
         22h30, 1 juin 2026 | 2026年6月1日 下午10:30 | 2026年6月1日 午後10時30分 | 2026-06-01 下午 10:30",
    );
    must_mean(read, "2026-06-01T10:30:00Z", "2026-06-01 上午10:30:00 | 2026年6月1日 午前10:30");
    must_mean(read, "2026-06-10T00:00:00Z", "10 - 12 June 2026");
}

/// CLDR names, from each language with a name that was once missing or mistaken for another language's.
#[test]
fn months_are_known_in_many_languages() {
    for (month, names) in [
        ("01", "ian. січ. јан siječanj saus. jaan xaneiro urt. yan ינו׳ जन॰ Eanáir Ionawr студзеня қаңтар"),
        ("02", "люты feabhra veebr chwefror shk otsaila ақп. फ़र॰ Peb"),
        ("04", "d’abril d'abr. Ebrill Aibreán balandis"),
        ("05", "травня maí Bealtaine мамыр"),
        ("06", "iun. čvn červen lipanj Meitheamh Mehefin jūn. чэрвеня qer"),
        ("07", "iul. čvc července červenec srpanj lipca Iúil Gorff jūl."),
        ("08", "Agu Ogo ag. d’ag. avgust kolovoz Awst srpna srpen серп. ágú."),
        ("10", "Lok DFómh spalis жовт. urria"),
        ("11", "листопада Samhain nóv. лістапад нов"),
        ("12", "des des. Dis dhjetor Nollaig"),
    ] {
        for name in names.split(' ') {
            assert_eq!(read(&format!("05 {name} 2026 10:00")), format!("2026-{month}-05T10:00:00Z"), "{name}");
        }
    }
}

#[test]
fn every_name_of_the_table_is_read_as_its_month() {
    let table = include_str!("../../data/months.txt");
    for (number, names) in table.lines().filter_map(|line| line.split_once(" = ")) {
        for name in names.split(' ').filter(|_| !number.starts_with('#')) {
            let (name, tag) = name.split_once('@').map_or((name, None), |(name, tag)| (name, Some(tag)));
            let read = shown(&format!("5 {name} 2026"), &Hints::FEED.of_language(tag));
            assert_eq!(read, format!("2026-{number:0>2}-05T00:00:00Z"), "{name}");
        }
    }
}

#[test]
fn a_name_of_two_months_is_that_of_the_language_or_of_none() {
    let read = |name: &str, tag: Option<&str>| {
        let month =
            |hints: Hints| shown(&format!("5 {name} 2026"), &hints.of_language(tag)).get(5..7).map(str::to_owned);
        assert_eq!(month(Hints::FEED), month(Hints::page(Order::DayFirst)), "{name}");
        month(Hints::FEED).unwrap_or_default()
    };
    for (name, tag, month) in [
        ("listopada", "hr-HR", "10"),
        ("listopada", "pl", "11"),
        ("listopad", "cs_CZ", "11"),
        ("lis", "HR", "10"),
        ("srp", "hr", "07"),
        ("srp", "cs", "08"),
        ("lip", "pl", "07"),
        ("lip", "hr", "06"),
    ] {
        assert_eq!(read(name, Some(tag)), month, "{name} {tag}");
        assert_eq!((read(name, None), read(name, Some("de"))), (String::new(), String::new()), "{name}");
    }
}

#[test]
fn what_is_no_date_gives_none() {
    must_mean(read, "", "soon | 0000-01-01 | 99999-01-01 | 1 Jan 99999 | 2026-13-01 | 2026-05-40 | 25:61 | mar | 12");
    assert_eq!([read(""), read(&"(".repeat(200_000))], ["", ""]);
    assert_eq!(read("1 Jan 1900 00:00:00 GMT"), "1900-01-01T00:00:00Z");
}

#[test]
fn days_of_the_week_have_numbers() {
    assert_eq!(weekday(" Sunday "), Some(6));
    assert_eq!(weekday("mon"), Some(0));
    assert_eq!(weekday("x"), None);
}

/// Dates with a zone and in standard order have the same meaning everywhere.
#[test]
fn plain_dates_are_read_alike_everywhere() {
    let texts = "Sun, 03 May 2026 17:05:09 GMT | 3 May 2026 19:05:09 +0200 | Sun, 03 May 2026 19:05:09 CEST | \
         2026-05-03T17:05:09Z | 2026-05-03 12:05:09 EST | 2026-05-03T19:05:09.000+02:00 | 20260503T170509Z | \
         20260503170509 | 1777827909 | 1777827909000";
    for text in texts.split(" | ") {
        for read in [read, page, directive] {
            assert_eq!(read(text), "2026-05-03T17:05:09Z", "{text}");
        }
    }
}

#[test]
fn instants_of_pages_are_read_in_all_their_spellings() {
    must_mean(
        page,
        "2026-05-01T07:30:00Z",
        "2026-05-01T09:30:00+02:00 | 2026-05-01T09:30:00.000+0200 | 2026-05-01 09:30:00 +02:00 | \
         2026-05-01T07:30Z | 20260501T07:30:00Z | Fri, 01 May 2026 09:30:00 +0200",
    );
}

#[test]
fn a_fraction_of_a_second_is_kept_and_a_leap_second_carried() {
    for read in [read, page, directive] {
        assert_eq!(read("2026-05-01T09:30:00.123+0200"), "2026-05-01T07:30:00.123Z");
        assert_eq!(read("Thu, 30 Apr 2026 23:59:60 GMT"), "2026-05-01T00:00:00Z");
    }
}

#[test]
fn a_zone_is_told_only_where_it_is_stated() {
    let zone = |text| parse(text, &Hints::page(Order::DayFirst)).and_then(|moment| moment.zone);
    assert_eq!(zone("2026-05-01T09:30:00+02:00"), Some(120));
    assert_eq!(zone("2026-05-01T09:30:00+02:00[Europe/Rome]"), Some(120));
    assert_eq!(zone("Fri, 01 May 2026 09:30:00 CEST"), Some(120));
    assert_eq!(zone("2026-05-01T09:30:00-0330"), Some(-210));
    assert_eq!(zone("Fri, 01 May 2026 09:30:00 +0200"), Some(120));
    assert_eq!(zone("2026-05-01T09:30Z"), Some(0));
    assert_eq!(zone("2026-05-01T09:30:00"), None);
    assert_eq!(zone("2026-05-01"), None);
}

#[test]
fn days_of_pages_are_read_in_many_languages() {
    let texts = "2026-05-01 | 2026/05/01 | 20260501 | 01.05.2026 | 1/5/2026 | May 1, 2026 | May 1st, 2026 | \
         1 May 2026 | Friday, 1 May 2026 | 1 maggio 2026 | 1. Mai 2026 | 1er mai 2026 | 1 de mayo de 2026 | \
         Pubblicato il 1 maggio 2026 alle 10 | 2026年5月1日 | 2026년 5월 1일 | 1 мая 2026 | 1 травня 2026 р. | \
         1 Μαΐου 2026 | ٣٠ أبريل ثم ١ مايو ٢٠٢٦ | الجمعة 1 مايو 2026 - 10:30 | 1 मई 2026 | १ मई २०२६ | \
         1 พฤษภาคม 2569 | ๑ พ.ค. ๒๕๖๙ | 1 במאי 2026 | ngày 1 tháng 5 năm 2026 | 2026. május 1. | \
         1. toukokuuta 2026 | 2026. 5. 1. 오전 9:30 | 2026.05.01 | 令和8年5月1日(金) | 令和８年５月１日 | 民國115年5月1日 | 2026／5／1 | \
         Thứ Sáu, 1/5/2026 | 1 mai 2026";
    for text in texts.split(" | ") {
        assert_eq!(page(text).split('T').next(), Some("2026-05-01"), "{text}");
    }
    let american = Hints::page(Order::MonthFirst);
    assert_eq!(shown("5/1/2026", &american), "2026-05-01T00:00:00Z");
    assert_eq!(shown("13/1/2026", &american), "2026-01-13T00:00:00Z");
}

#[test]
fn the_time_after_a_day_of_a_page_is_read() {
    must_mean(
        page,
        "2026-05-01T14:30:00Z",
        "1 мая 2026, 14:30 | 1 мая 2026 в 14:30 | Freitag, 1. Mai 2026 um 14:30 Uhr | 1 mai 2026 à 14:30 | \
         May 1, 2026 at 2:30 pm | الجمعة 1 مايو 2026 - 14:30 | 2026. 5. 1. 오후 2:30 | \
         Pubblicato il 1 maggio 2026 alle 14:30, aggiornato alle 15:00 | \
         Fri May 01 2026 16:30:00 GMT+0200 (Central European Summer Time) | Fri May 01 16:30:00 CEST 2026 | \
         Fri May 01 14:30:00 UTC 2026 | May 1, 2026 10:30:00 AM EDT",
    );
    let zone = |text| parse(text, &Hints::page(Order::DayFirst)).and_then(|moment| moment.zone);
    assert_eq!(zone("Fri May 01 2026 16:30:00 GMT+0200 (CEST)"), Some(120));
    assert_eq!(zone("1 мая 2026, 14:30"), None);
    must_mean(
        page,
        "2026-05-01T10:15:00Z",
        "1. Mai 2026, 10.15 Uhr | 1er mai 2026 à 10h15 | 1 maggio 2026 ore 10.15 | 1 mei 2026 om 10.15 uur | \
         1 de maio de 2026, às 10h15 | 1 мая 2026 г. в 10:15 | 10:15, 1 мая 2026 | 1 May 2026, 10.15am",
    );
    assert_eq!(page("1 May 2026, 10.15 miles"), "2026-05-01T00:00:00Z");
    assert_eq!(page("1 May 2026, am 03.06.2026"), "2026-05-01T00:00:00Z");
    must_mean(
        page,
        "2026-05-01T00:00:00Z",
        "1 May 2026, 14 comments | 1 May 2026 to 3 May 2026 10:00 | 1 May 2026, read by all who came at 10:00",
    );
}

#[test]
fn a_page_may_state_an_instant_before_the_web_but_not_a_zero() {
    assert_eq!(page("1965-03-01T05:00:00.000Z"), "1965-03-01T05:00:00Z");
    assert_eq!(page("Mon, 01 Mar 1965 00:00:00 -0500"), "1965-03-01T05:00:00Z");
    must_mean(
        page,
        "",
        "1965-03-01 | 8 May 1945 | 19450508 | 1970-01-01T00:00:00Z | 1969-12-31T19:00:00-05:00 | 0000000000 | \
         0001-01-01T00:00:00Z | 1965-02-30T05:00:00Z | 2026-00-00T00:00:00Z",
    );
}

#[test]
fn markup_may_state_a_day_before_the_web() {
    let stated = |text: &str| shown(text, &Hints::page(Order::DayFirst).of_markup());
    assert_eq!(stated("1923-05-04"), "1923-05-04T00:00:00Z");
    assert_eq!(stated("4 May 1923"), "1923-05-04T00:00:00Z");
    for unset in ["1970-01-01", "1969-12-31", "1900-01-01", "1899-12-30T00:00:00", "0000-00-00", "1234-05-06"] {
        assert_eq!(stated(unset), "", "{unset}");
    }
    assert_eq!(stated("/Date(1777629600000)/"), "2026-05-01T10:00:00Z");
}

#[test]
fn days_of_the_calendar_of_iran_are_read() {
    let persian = |text: &str| shown(text, &Hints::page(Order::DayFirst).of_language(Some("fa")));
    assert_eq!(page("۱۱ اردیبهشت ۱۴۰۵"), "2026-05-01T00:00:00Z");
    assert_eq!(persian("جمعه ۱۱ ارديبهشت ۱۴۰۵ ساعت ۱۰:۳۰"), "2026-05-01T10:30:00Z");
    assert_eq!(persian("۱۴۰۵/۰۲/۱۱"), "2026-05-01T00:00:00Z");
    assert_eq!(page("1405/02/11"), "");
}

#[test]
fn every_date_of_a_line_is_found_with_its_place() {
    let line = "公開 2026年5月1日 更新 2026年5月3日";
    let found: Vec<_> =
        find(line, &Hints::page(Order::DayFirst)).iter().map(|w| (w.at.day(), &line[w.start..w.end])).collect();
    assert_eq!(found, [("2026-05-01".to_owned(), "2026年5月1日"), ("2026-05-03".to_owned(), "2026年5月3日")]);
}

#[test]
fn what_is_no_date_of_a_page_is_none() {
    must_mean(
        page,
        "",
        "today | 1.2.3 | 99999-01-01 | 2026-13-01 | 2026-02-30 | 0000-00-00 | 10:30 | 1899-01-01 | 123456789 | \
         令和8年 | 5月1日 | ข่าว 3 มี 4",
    );
    assert_eq!(page(""), "");
}

#[test]
fn directives_state_the_same_instant_in_every_form() {
    let expected = "2027-08-25T15:00:00Z";
    must_mean(
        directive,
        expected,
        "Wed, 25 Aug 2027 15:00:00 GMT | 25 Aug 27 15:00 UT | Wednesday, 25-Aug-27 15:00:00 GMT | \
         25-Aug-2027 10:00:00 EST | 25 August 2027 17:00:00 +0200 | Wed Aug 25 15:00:00 2027 | \
         Aug 25, 2027 3:00 PM | 25 Aug 2027 15:00:00 XYZ | 2027-08-25T15:00:00Z | 2027-08-25T17:00:00+02:00 | \
         2027-08-25T15:00 | 2027-08-25 15:00:00 | 2027-08-25 17:00:00 CEST | 2027-08-25T15:00:00.000Z",
    );
}

#[test]
fn a_day_alone_of_a_directive_is_its_beginning() {
    let expected = "2027-08-25T00:00:00Z";
    must_mean(directive, expected, "2027-08-25 | 25 Aug 2027 | 25-Aug-2027 | Wed, 25 Aug 2027");
    assert_eq!(directive("25 Aug 94"), "1994-08-25T00:00:00Z");
}

#[test]
fn what_is_no_date_of_a_directive_is_none() {
    must_mean(
        directive,
        "",
        "soon | 25 Foo 2027 | 31 Feb 2027 | 2027-02-31 | 25:00 | Aug 2027 | 1 2 3 4 | 12:00:00:00 1 Jan 2027 | \
         99 Aug 2027 15:00:00 GMT | - | -- | a-b-c | 25 Aug 2027 99:99",
    );
    assert_eq!(directive(""), "");
    assert_eq!(directive(&"1 ".repeat(40_000)), "");
    // The month is ambiguous.
    assert_eq!(directive("05/03/2026"), "");
}

#[test]
fn a_whole_text_may_shorten_the_year_in_the_order_of_its_language() {
    let read = |text: &str, order, language| shown(text, &Hints::page(order).of_language(language));
    for (text, order, language, want) in [
        ("01.05.26", Order::DayFirst, Some("de"), "2026-05-01T00:00:00Z"),
        ("5/1/26", Order::MonthFirst, None, "2026-05-01T00:00:00Z"),
        ("1/5/26", Order::DayFirst, Some("it"), "2026-05-01T00:00:00Z"),
        ("26.05.01", Order::DayFirst, Some("ko"), ""),
        ("Version 1.5.26", Order::DayFirst, None, ""),
        ("1.5.2", Order::DayFirst, None, ""),
    ] {
        assert_eq!(read(text, order, language), want, "{text}");
    }
}

#[test]
fn a_time_may_stand_between_a_day_and_its_year() {
    let days = |text| find(text, &Hints::page(Order::DayFirst)).into_iter().map(|day| day.at.to_string()).collect();
    for text in ["Wed May  1 10:00:00 BST 2024", "Posted: Wed May 1 10:00 2024 by Ada", "May 1 10:00:00 +0200 2024"] {
        assert_eq!(days(text), vec!["2024-05-01T00:00:00Z".to_owned()], "{text}");
    }
    let none: Vec<String> = days("On May 1 10 people came, and 2024 more later");
    assert_eq!(none, [""; 0]);
}

#[test]
fn days_in_paths_are_read_and_numbers_are_not() {
    for path in ["/2026/05/01/a", "/2026/5/1", "/2026/may/01/a", "/a/2026-05-01-b", "/2026_05_01", "/20260501_b.html"] {
        assert_eq!(day_in_path(path).map(|at| at.day()).as_deref(), Some("2026-05-01"), "{path}");
    }
    for path in
        ["/2026/05/01-things", "/a-2026-05-01", "/1/2/3", "/1777629600", "/202605011", "/2026/05", "/2026-13-01"]
    {
        assert_eq!(day_in_path(path), None, "{path}");
    }
}
