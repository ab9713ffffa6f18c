//! Tests of pages that must be rejected, pages that must pass, and pages that are hard to tell apart.

use crate::pages::{ADULT, DRUGS, GAMBLING, OFFENSIVE, PASS, Page, VIOLENCE};
use curlew_screen::image::{Detection, Region};
use curlew_screen::{
    Allowed, List, Override, Page as Screened, Person, REJECT_AT, Scope, Screener, Screening, Settings, Topic,
    TopicRule, TopicScore, Verdict,
};

/// Screens a page with the compiled-in settings and lists.
fn screen(title: &str, text: &str, language: Option<&str>) -> Screening {
    Screener::standard().screen(&Screened { title, text, language, host: None })
}

/// Returns a screener with these settings and additional lists.
fn screener(settings: Settings, lists: &[List]) -> Screener {
    Screener::new(settings, lists).expect("usable")
}

fn list(name: &str, text: &str) -> List {
    List { name: name.into(), text: text.into() }
}

fn result((title, text, language): Page) -> Screening {
    screen(title, text, Some(language))
}

fn must_reject(pages: &[Page], topic: Topic) {
    for page in pages {
        let result = result(*page);
        assert_eq!(result.verdict, Verdict::Reject, "{} {:?}", page.0, result.topics);
        assert_eq!(result.topics.first().map(|t| t.topic), Some(topic), "{} {:?}", page.0, result.topics);
        assert!(result.rejected_for().contains(&topic.to_string()));
        let unknown = screen(page.0, page.1, None);
        assert_eq!(unknown.verdict, Verdict::Reject, "without a language: {} {:?}", page.0, unknown.topics);
    }
}

#[test]
fn pages_of_a_topic_are_rejected() {
    must_reject(&ADULT, Topic::Adult);
    must_reject(&OFFENSIVE, Topic::Hate);
    must_reject(&GAMBLING, Topic::Gambling);
    must_reject(&DRUGS, Topic::Drugs);
    must_reject(&VIOLENCE, Topic::Violence);
}

#[test]
fn pages_about_a_topic_pass() {
    let mut wrong = Vec::new();
    for page in PASS.iter() {
        for result in [result(*page), screen(page.0, page.1, None)] {
            if result.verdict == Verdict::Reject {
                wrong.push(format!("{}: {}", page.0, result.explain()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn clear_pages_lie_well_apart() {
    let rejected = [&ADULT[..], &OFFENSIVE, &GAMBLING, &DRUGS, &VIOLENCE].concat();
    let high = |p: &Page| result(*p).topics.first().map_or(0.0, |t| t.score);
    let lowest = rejected.iter().map(high).fold(1.0, f32::min);
    let highest = PASS.iter().map(high).fold(0.0, f32::max);
    assert!(lowest > REJECT_AT + 0.04 && highest < REJECT_AT - 0.05, "rejected from {lowest}, passed up to {highest}");
}

#[test]
fn a_word_in_passing_does_not_reject_a_page() {
    let (_, text, _) = PASS[0];
    for word in ["porn", "fuck", "casino", "viagra", "slut", "massacre", "milf", "nigger"] {
        let page = format!("{text} {text} {text} Somebody had written {word} on the wall of the hide.");
        assert_eq!(screen(PASS[0].0, &page, Some("en")).verdict, Verdict::Pass, "{word}");
    }
}

#[test]
fn density_counts_not_only_number_and_context_cannot_be_stuffed_in() {
    let (title, text, _) = ADULT[1];
    let thin = format!("{text} {}", PASS[0].1.repeat(60));
    let score = |text: &str| screen(title, text, Some("en")).topics.first().map_or(0.0, |t| t.score);
    assert!(score(text) > score(&thin) + 0.1);
    let (title, text, _) = ADULT[0];
    let stuffed = format!("{text} Doctor, hospital, school, court, judge, police, university, museum, law, health.");
    assert_eq!(screen(title, &stuffed, Some("en")).verdict, Verdict::Reject);
}

#[test]
fn a_words_meaning_is_that_of_the_pages_language() {
    let german = screen("Dick und rund", "Der Hund ist dick. Sehr dick. Ein dick belegtes Brot.", Some("de-AT"));
    assert_eq!(german, nothing());
    let (title, text, _) = ADULT[4];
    for tag in ["it-IT", "IT"] {
        assert_eq!(screen(title, text, Some(tag)).verdict, Verdict::Reject);
    }
}

#[test]
fn words_that_only_look_like_listed_ones_do_not_count() {
    for (language, text) in [
        ("de", "So heißen die beiden Gassen, und ich heiße wie die eine von ihnen."),
        ("de", "Sie zog die Jacke an und ging zur Probe."),
        ("en", "He sells spices and flags with stripes."),
        ("en", "The Free Speech Coalition answered on the same day."),
        ("fr", "Le train a du retard, et les bêtes attendent à côté de la gare."),
        ("it", "La terza puntata va in onda stasera."),
        ("pt", "Faltou força ao grupo, e as forças foram embora."),
    ] {
        assert_eq!(screen("", text, Some(language)), nothing(), "{text}");
    }
}

#[test]
fn nothing_in_nothing_out() {
    let empty = nothing();
    assert_eq!(screen("", "", None), empty);
    assert_eq!(screen("", "", Some("xx")), empty);
    assert_eq!(screen("日本語", "これは鳥の話です。", Some("ja")), empty);
}

fn nothing() -> Screening {
    Screening { verdict: Verdict::Pass, topics: vec![], persons: vec![], overridden: None, image_not_classified: None }
}

fn page<'a>(title: &'a str, text: &'a str, host: &'a str) -> Screened<'a> {
    Screened { title, text, language: None, host: Some(host) }
}

fn seen(score: f32) -> Detection {
    let region = Some(Region { left: 10, top: 20, width: 60, height: 70 });
    Detection { score: TopicScore { topic: Topic::Adult, score }, why: "skin fills it".to_owned(), region }
}

#[test]
fn an_image_joins() {
    let both = Screener::standard().screen_with(&page(PASS[0].0, PASS[0].1, "a.example"), &[seen(0.9)]);
    assert_eq!((both.verdict, both.rejected_for()), (Verdict::Reject, vec!["adult".to_owned()]));
    let because = both.because().expect("it says why");
    assert!(both.explain().starts_with(&format!("The page is kept out. {because}")), "{}", both.explain());
    assert!(both.explain().contains("its image: skin fills it (10 to 70 % across, 20 to 90 % down)"));
    assert_eq!(Screener::standard().screen_with(&page("", "", "a.example"), &[seen(0.01)]), nothing());
    assert_eq!(nothing().because(), None);
}

#[test]
fn words_and_an_image_count_together_if_each_comes_close() {
    let screener = screener(Settings::default(), &[list("adult.en.txt", "frobnicate\t10\n")]);
    let text = "A long walk along the shore, with a word of ours, frobnicate, and a few more of everybody's words.";
    let words = screener.screen(&page("Frobnicate", text, "a.example"));
    let score = words.topics.first().map_or(0.0, |t| t.score);
    assert!((0.375..0.5).contains(&score), "{score}");
    let together = screener.screen_with(&page("Frobnicate", text, "a.example"), &[seen(0.45)]);
    assert_eq!(together.verdict, Verdict::Reject, "{}", together.explain());
    assert!(together.topics[0].score > 0.5 && !together.topics[0].terms.is_empty());
    assert!(together.explain().contains("Frobnicate") && together.explain().contains("and because of its image"));
    for (page, image) in [
        (page("Frobnicate", text, "a.example"), seen(0.3)),
        (page("A walk", "Along the shore.", "a.example"), seen(0.45)),
    ] {
        let one = screener.screen_with(&page, &[image]);
        assert_eq!(one.verdict, Verdict::Pass, "{}", one.explain());
    }
}

#[test]
fn a_verdict_names_the_words_and_their_places() {
    let text = "Intro. Get fr\u{200b}ee spins at our best onlin\u{435} c4sino! No deposit bonus, s l o t s and a j.a.c.k.p.o.t.";
    let screening = screen("C A S I N O bonus", text, Some("en"));
    assert_eq!(screening.rejected_for(), ["gambling"]);
    let gambling = &screening.topics[0];
    let evidence = gambling.terms.iter().find(|t| t.term == "free spins").expect("it is there");
    assert_eq!((evidence.places[0].r#in.as_str(), evidence.places[0].at), ("text", 11));
    assert_eq!(evidence.places[0].text, "fr\u{200b}ee spins");
    let title = gambling.terms.iter().flat_map(|t| &t.places).find(|p| p.r#in == "title").expect("it is there");
    assert_eq!((title.at, title.text.as_str()), (0, "C A S I N O bonus"));
    for written in ["c4sino", "s l o t s", "j.a.c.k.p.o.t"] {
        let places = gambling.terms.iter().flat_map(|t| &t.places);
        assert!(places.clone().any(|p| p.text.contains(written)), "{written}: {:?}", gambling.terms);
    }
    let why = screening.explain();
    assert!(why.starts_with("The page is kept out.") && why.contains("advertising of gambling"), "{why}");
}

#[test]
fn counter_evidence_is_named() {
    let text = "The clinic treats gambling addiction. Online casino adverts with free spins and a welcome bonus reach \
                patients at night, the psychologist says; the regulator wants a ban. Call the helpline.";
    let screening = screen("Free spins and other traps", text, Some("en"));
    assert_eq!(screening.verdict, Verdict::Pass, "{}", screening.explain());
    let counter: Vec<&str> = screening.topics[0].counter_evidence.iter().map(|e| e.term.as_str()).collect();
    assert!(counter.contains(&"gambling addiction") && counter.contains(&"clinic"), "{counter:?}");
    assert!(screening.explain().contains("spoke against it"));
}

#[test]
fn topics_are_switched_off_and_thresholds_moved() {
    let (title, text, _) = GAMBLING[0];
    let with = |rule| {
        let settings = Settings { topics: [(Topic::Gambling, rule)].into(), ..Settings::default() };
        screener(settings, &[]).screen(&page(title, text, "a.example"))
    };
    let off = with(TopicRule { on: false, threshold: REJECT_AT });
    assert_eq!(off.verdict, Verdict::Pass);
    assert_eq!(off.topics[0].waived.as_deref(), Some("gambling is switched off"));
    assert_eq!(with(TopicRule { on: true, threshold: 1.0 }).verdict, Verdict::Pass);
    assert_eq!(with(TopicRule { on: true, threshold: 0.3 }).verdict, Verdict::Reject);
}

#[test]
fn a_site_is_let_through() {
    let (title, text, _) = ADULT[0];
    let allow: Allowed = "museum.example: adult".parse().expect("readable");
    let screener = screener(Settings { allow: vec![allow], ..Settings::default() }, &[]);
    let let_through = screener.screen(&page(title, text, "www.museum.example"));
    assert_eq!(let_through.verdict, Verdict::Pass);
    assert!(let_through.explain().contains("museum.example is let through"));
    assert_eq!(screener.screen(&page(title, text, "other.example")).verdict, Verdict::Reject);
}

#[test]
fn persons_are_left_out() {
    let person = Person { name: "Zoë Älvarez".into(), aliases: vec!["Z. Alvarez".into()] };
    let screener = screener(Settings { persons: vec![person], ..Settings::default() }, &[]);
    let named = screener.screen(&page("A concert", "Yesterday Zoe Alvarez sang in the park.", "a.example"));
    assert_eq!(named.rejected_for(), ["person"]);
    assert_eq!((named.persons[0].place.at, named.persons[0].place.text.as_str()), (10, "Zoe Alvarez"));
    assert!(named.explain().contains("It names Zoë Älvarez"));
    assert_eq!(screener.screen(&page("A concert", "Zoe and Alvarez sang.", "a.example")), nothing());
}

#[test]
fn an_operators_lists_add_and_replace() {
    let further = [
        list("adult.en.txt", "frobnicat*\t10\ngrumbly\t10\nsnark night\t10\nwobbling\t10\n"),
        list("gambling.en.txt", "free spins\t0\n"),
    ];
    let screener = screener(Settings::default(), &further);
    let text = "Frobnicating all night, grumbly and wobbling: join our snark night.";
    assert_eq!(screener.screen(&page("Frobnication", text, "a.example")).rejected_for(), ["adult"]);
    assert_eq!(screener.screen(&page("", "free spins", "a.example")), nothing());
    assert!(Screener::new(Settings::default(), &[list("adult.en.txt", "x y z\n")]).is_err());
}

#[test]
fn an_operator_has_the_last_word() {
    let (title, text, _) = ADULT[0];
    let note = Some("seen by hand".to_owned());
    let rule =
        |scope, verdict, topics: &[Topic]| Override { scope, verdict, topics: topics.to_vec(), note: note.clone() };
    let url = "https://shop.example/a";
    let rules = [
        rule(Scope::Site("shop.example".into()), Verdict::Reject, &[]),
        rule(Scope::Page(url.into()), Verdict::Pass, &[]),
        rule(Scope::Site("mixed.example".into()), Verdict::Pass, &[Topic::Gambling]),
    ];
    let judged = |url: &str, host: &str| {
        let screening = Screener::standard().screen(&page(title, text, host));
        match Override::find(&rules, url, host) {
            Some(rule) => rule.apply(screening),
            None => screening,
        }
    };
    let page = judged(url, "shop.example");
    assert_eq!((page.verdict, page.rejected_for().len()), (Verdict::Pass, 0), "a page before its site");
    assert!(page.explain().contains("The operator let this page through: seen by hand.") && !page.topics.is_empty());
    assert_eq!(judged("https://shop.example/b", "shop.example").verdict, Verdict::Reject);
    assert_eq!(judged("https://mixed.example/", "mixed.example").rejected_for(), ["adult"], "only what it names");
    assert!(Override::find(&rules, "https://other.example/", "other.example").is_none());
    let clean = rules[0].apply(nothing());
    assert_eq!(clean.rejected_for(), ["operator"]);
    let written = serde_json::to_string(&rules).expect("it is data");
    assert_eq!(serde_json::from_str::<Vec<Override>>(&written).expect("it is readable"), rules);
}

#[test]
fn it_is_written_as_the_command_line_prints_it() {
    let written = serde_json::to_value(result(ADULT[0])).unwrap_or_default();
    assert_eq!(written["verdict"], "reject");
    assert_eq!(written["topics"][0]["topic"], "adult");
    assert!(written["topics"][0]["score"].as_f64().is_some_and(|s| (0.5..=1.0).contains(&s)));
}

#[test]
fn long_texts_of_one_word_end() {
    let nasty = ["sex ".repeat(120_000), "pornporn".repeat(60_000), "orgasm".repeat(80_000), "a@".repeat(250_000)];
    for text in &nasty {
        let _ = screen(text, text, None);
    }
}

/// Every run of letters in this text starts like a listed word.
#[test]
fn a_text_of_single_letters_is_read_in_time_that_grows_with_its_length_only() {
    let text = "e n ".repeat(125_000);
    assert_eq!(screen("One", &text, Some("en")).verdict, Verdict::Pass);
    let hidden = format!("Play at our c a s i n o today. {}", "A walk along the weir. ".repeat(3));
    assert!(screen("c a s i n o", &hidden, Some("en")).topics.iter().any(|t| t.topic == Topic::Gambling));
}
