//! Tests of which spellings of a word match each other, and of queries by title, label and prefix.

use super::*;

/// Returns the sorted names of the pages that have all words of a query. Other parts of the query may be invalid.
fn found(split: &Split, text: &str) -> Vec<String> {
    let request = Request { scope: Scope::AllWords, ..first(text, 9) };
    let results = search(&[split], &Hidden::default(), &request).unwrap();
    sorted(names(&results).into_iter().map(str::to_owned).collect())
}

fn suggested(split: &Split, text: &str) -> (Results, Option<String>) {
    let request = first(text, 9);
    let results = search(&[split], &Hidden::default(), &request).unwrap();
    let meant = suggest(&[split], &Hidden::default(), text, &request, &results).unwrap();
    (results, meant)
}

/// Returns a split of one page for each text, named by its index.
fn pages_of(language: &str, texts: &[&str]) -> Split {
    let page = |(place, text): (usize, &&str)| Page::new(&format!("p{place}"), language, "Notes", text);
    split(&texts.iter().enumerate().map(page).collect::<Vec<_>>())
}

#[test]
fn signs_belong_to_the_name_before_or_behind_them() {
    let texts = "Lessons in C for beginners.|Lessons in C++ for beginners.|Lessons in C# for beginners.|\
        Lessons in F# and C++17.|A fishing net for beginners.|The new .NET, with (.NET) tools.|We sum a+b in C.";
    let split = pages_of("en", &texts.split('|').collect::<Vec<_>>());
    let expected = r#"C++ → p1 p3 | "c++" → p1 p3 | "lessons in C++" → p1 | C# → p2 | C＃ → p2 | F# → p3 | .NET → p5"#;
    assert_found(|text| found(&split, text), expected);
    let expected = "net → p4 p5 | C → p0 p1 p2 p3 p6 | a+b → p6 | -C++ lessons → p0 p2 | C/C++ → p1 p3";
    assert_found(|text| found(&split, text), expected);
    let without = pages_of("en", &["The harbour plus the lighthouse."]);
    let (results, _) = suggested(&without, "Harbour+");
    assert_eq!((results.hits.len(), &results.unknown[..]), (1, &["Harbour+".to_owned()][..]), "only the letters");
    let (results, meant) = suggested(&without, "zorblax, harbour");
    assert_eq!((results.hits.len(), meant), (1, None), "no page has a word of these letters");
}

#[test]
fn joined_and_parted_spellings_meet() {
    for (language, written, queries) in [
        ("en", "The Wi-Fi is down.", &["wifi", "Wi-Fi", "\"wi fi\"", "\"the wifi\"", "wi fi"][..]),
        ("en", "The wifi is down.", &["wifi", "Wi-Fi", "\"Wi-Fi\"", "\"the Wi-Fi is\"", "WiFi"]),
        ("en", "After COVID-19 came spring.", &["covid19", "COVID 19", "covid-19"]),
        ("it", "Dopo il covid19 venne la primavera.", &["covid19", "COVID 19", "covid-19"]),
        ("en", "A server in Node.js, they said.", &["nodejs", "node.js", "\"in nodejs\"", "Node.js"]),
        ("en", "A server in nodejs, they said.", &["nodejs", "node.js", "\"in node.js they\""]),
        ("en", "Send her an e-mail today.", &["email", "e-mail", "emails"]),
        ("fr", "Elle lui envoie un email.", &["email", "e-mail"]),
        ("en", "It costs 2,499 in all.", &["2499", "2,499"]),
        ("de", "Es kostet 2.499,00 Mark.", &["2499", "2.499"]),
        ("fr", "Il coûte 12\u{202f}499 francs.", &["12499"]),
        ("en", "They built 5G masts.", &["5 G", "5G", "5-G"]),
        ("en", "They built 5 G masts.", &["5 G", "5G"]),
        ("en", "We walked 12 km along the shore.", &["12km", "12 km"]),
        ("en", "The U.S.S.R. and the R&B.", &["ussr", "r&b", "rb"]),
        ("", "Une chose anti-âge.", &["antiage", "anti-age"]),
        ("fa", "او می\u{200c}روم گفت.", &["می\u{200c}روم", "میروم", "می روم"]),
        ("he", "שָׁלוֹם לכולם.", &["שלום", "שָׁלוֹם"]),
        ("ar", "بِسۡمِ ٱللَّهِ", &["بسم", "الله"]),
        ("hi", "इसकी ज़रूरत है.", &["ज़रूरत", "जरूरत"]),
        ("en", "Hawaiʻi and the Qurʾān.", &["hawaii", "Hawai'i", "quran"]),
    ] {
        let split = pages_of(language, &[written, "Nothing of the kind."]);
        for query in queries {
            assert_eq!(found(&split, query), ["p0"], "{written} {query}");
        }
    }
    let split = pages_of("en", &["Version 3.50 of 2026-05-01, at 12:30."]);
    for query in ["350", "20260501", "1230"] {
        assert_eq!(found(&split, query), [""; 0], "{query}");
    }
}

#[test]
fn joined_words_are_marked_whole() {
    let split = pages_of("en", &["We found no Wi-Fi there."]);
    let hit = &ask(&split, "wifi").hits[0];
    assert_eq!(hit.marks.iter().map(|mark| &hit.snippet[mark.clone()]).collect::<Vec<_>>(), ["Wi-Fi"]);
}

#[test]
fn letters_and_digits_of_arabic_and_persian_are_one() {
    for (language, written, queries) in [
        ("fa", "کتاب سال ۱۴۰۳ در خانهٔ علی", &["كتاب", "1403", "١٤٠٣", "خانه", "علي"][..]),
        ("ar", "زار المدرسة في سنة ٢٠٢٤ مؤمن", &["المدرسه", "2024", "۲۰۲۴", "مومن"]),
        ("ar", "مستشفى علي", &["مستشفي", "علی"]),
        ("hi", "वर्ष २०२४ में", &["2024"]),
    ] {
        let split = pages_of(language, &[written, "\u{627}\u{628}"]);
        for query in queries {
            assert_eq!(found(&split, query), ["p0"], "{written} {query}");
        }
    }
}

#[test]
fn german_umlauts_may_be_two_letters() {
    let split = pages_of("de", &["Frau Müller ging über die Straße.", "Frau Mueller blieb.", "Das neue Feuer."]);
    let names = r#"Mueller → p0 p1 | Müller → p0 p1 | "Frau Mueller" → p0 p1"#;
    assert_found(|text| found(&split, text), names);
    assert_found(|text| found(&split, text), "ueber → p0 | strasse → p0 | Feuer → p2");
}

#[test]
fn emoji_are_words_between_which_words_are_neighbours() {
    let split = pages_of("en", &["A release 🚀 today.", "A release today.", "Go 👍🏽 🇮🇹!"]);
    let phrases = r#""release today" → p0 p1 | "release 🚀" → p0 | "🚀 today" → p0"#;
    assert_found(|text| found(&split, text), phrases);
    assert_found(|text| found(&split, text), "🚀 → p0 | release 🚀 → p0 | 👍 → p2 | 🇮🇹 → p2 | 🇫🇷 →");
}

#[test]
fn beginnings_are_of_words_as_they_are_spelled() {
    let pages = [
        Page::en("en", "Notes", "A university by the sea."),
        Page::new("de", "de", "Notizen", "Die Universität am Meer."),
        Page::it("it", "Note", "Le università del mare."),
        Page::en("other", "Notes", "A uniform of covid19 days."),
    ];
    let split = split(&pages);
    let expected = "universit* → de en it | universität* → de | university* → en | unif* → other | covid* → other";
    assert_found(|text| found(&split, text), expected);
}

#[test]
fn a_slip_is_mended_whatever_sign_follows() {
    let split = pages_of("en", &["The lighthouse keeper went home."]);
    for (text, meant) in [
        ("lighthose, keeper", "lighthouse, keeper"),
        ("keeper (lighthose).", "keeper (lighthouse)."),
        ("keper; lighthose!", "keeper; lighthouse!"),
    ] {
        assert_eq!(suggested(&split, text).1.as_deref(), Some(meant));
    }
}

#[test]
fn titles_labels_and_beginnings_are_asked_for() {
    let labelled = |page: Page, tags: &[&str], folder: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        curlew_model::Record { tags: owned(tags), folder: owned(folder), ..page.record() }
    };
    let records = [
        labelled(Page::en("rust", "Announcing Rust", "Code."), &["Programming", "Open source"], &["Tech", "Blogs"]),
        labelled(Page::en("tide", "Low tides", "Rust on the pier, and tidal mud."), &["Sea"], &["Nature"]),
        labelled(Page::it("marea", "La marea", "Le maree e il tidone."), &[], &[]),
    ];
    let split = opened(build_split(records.into_iter(), &BuildBudget::default()).unwrap());
    for expected in [
        "rust → rust tide | title:rust → rust | title:tide → tide | title:\"low tide\" → tide",
        "rust -title:rust → tide | title:low title:rust →",
        "tag:sea → tide | tag:\"open  Source\" → rust | rust -tag:programming → tide",
        "in:tech → rust | in:blogs tag:programming → rust | in:sea →",
        "tid* → marea tide | tid* lang:en → tide | mar* -tid* → | rust -tid* → rust | foo:bar tide -x →",
    ] {
        assert_found(|text| found(&split, text), expected);
    }
    let words = |text: &str| suggested(&split, text).0.hits.len();
    assert_eq!([words("inurl:rust"), words("rust^3"), words("<b>rust</b>")], [2, 2, 2], "no phrase");
}
