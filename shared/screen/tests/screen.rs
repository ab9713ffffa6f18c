//! Pages that must be kept out, pages that must not, and those that are hard to tell apart from them.

mod pages;

use curlew_screen::{REJECT_AT, Screening, Topic, TopicScore, Verdict, judge, screen};
use pages::{ADULT, DRUGS, GAMBLING, OFFENSIVE, PASS, Page, VIOLENCE};

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
    must_reject(ADULT, Topic::Adult);
    must_reject(OFFENSIVE, Topic::Offensive);
    must_reject(GAMBLING, Topic::Gambling);
    must_reject(DRUGS, Topic::Drugs);
    must_reject(VIOLENCE, Topic::Violence);
}

#[test]
fn pages_about_a_topic_pass() {
    for page in PASS {
        let result = result(*page);
        assert_eq!(result.verdict, Verdict::Pass, "{} {:?}", page.0, result.topics);
        assert!(result.rejected_for().is_empty());
        let unknown = screen(page.0, page.1, None);
        assert_eq!(unknown.verdict, Verdict::Pass, "without a language: {} {:?}", page.0, unknown.topics);
    }
}

#[test]
fn clear_pages_lie_well_apart() {
    let rejected = [ADULT, OFFENSIVE, GAMBLING, DRUGS, VIOLENCE].concat();
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
fn density_counts_not_only_number() {
    let (title, text, _) = ADULT[1];
    let thin = format!("{text} {}", PASS[0].1.repeat(60));
    let score = |text: &str| screen(title, text, Some("en")).topics.first().map_or(0.0, |t| t.score);
    assert!(score(text) > score(&thin) + 0.1);
}

#[test]
fn context_cannot_be_stuffed_in() {
    let (title, text, _) = ADULT[0];
    let stuffed = format!("{text} Doctor, hospital, school, court, judge, police, university, museum, law, health.");
    assert_eq!(screen(title, &stuffed, Some("en")).verdict, Verdict::Reject);
}

#[test]
fn a_words_meaning_is_that_of_the_pages_language() {
    let german = screen("Dick und rund", "Der Hund ist dick. Sehr dick. Ein dick belegtes Brot.", Some("de-AT"));
    assert_eq!(german, Screening { verdict: Verdict::Pass, topics: vec![] });
    let (title, text, _) = ADULT[4];
    assert_eq!(screen(title, text, Some("it-IT")).verdict, Verdict::Reject);
    assert_eq!(screen(title, text, Some("IT")).verdict, Verdict::Reject);
}

#[test]
fn nothing_in_nothing_out() {
    let empty = Screening { verdict: Verdict::Pass, topics: vec![] };
    assert_eq!(screen("", "", None), empty);
    assert_eq!(screen("", "", Some("xx")), empty);
    assert_eq!(screen("日本語", "これは鳥の話です。", Some("ja")), empty);
}

#[test]
fn other_scorers_join() {
    let image = TopicScore { topic: Topic::Adult, score: 0.9 };
    let words = TopicScore { topic: Topic::Adult, score: 0.2 };
    let faint = TopicScore { topic: Topic::Drugs, score: 0.01 };
    let both = judge([words, image, faint]);
    assert_eq!(both, Screening { verdict: Verdict::Reject, topics: vec![image] });
    assert_eq!(judge([words]).verdict, Verdict::Pass);
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
