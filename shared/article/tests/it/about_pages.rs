//! Tests of a page's statements about itself (URL, language, directives, whether it is free), and of validity.

use crate::story::{FIRST, REST, TEXT, linked, read};
use curlew_article::{text_words, validity};
use curlew_model::Rejection;

#[test]
fn a_valid_page_has_a_title_a_text_and_an_image() {
    let image = Some("https://site.example.org/i.jpg");
    let (long, wordy) = ("x".repeat(250), "a ".repeat(50));
    assert_eq!(validity(Some("T"), &long, image), Ok(()));
    assert_eq!(validity(Some("T"), &wordy, image), Ok(()));
    assert_eq!(validity(Some(" "), &long, image), Err(Rejection::NoTitle));
    assert_eq!(validity(None, &long, image), Err(Rejection::NoTitle));
    assert_eq!(validity(Some("T"), &"x".repeat(249), image), Err(Rejection::ShortText));
    assert_eq!(validity(Some("T"), &"a ".repeat(49), image), Err(Rejection::ShortText));
    assert_eq!(validity(Some("T"), &long, None), Err(Rejection::NoImage));
    let japanese = "港の古い灯台が開いた。".repeat(10);
    assert_eq!(validity(Some("T"), &japanese, image), Ok(()));
    for (letter, fewest) in [("橋", 75), ("あ", 100), ("다", 100), ("ส", 150), ("ປ", 150), ("ក", 150), ("မ", 150)]
    {
        assert_eq!(validity(Some("T"), &letter.repeat(fewest), image), Ok(()), "{letter}");
        assert_eq!(validity(Some("T"), &letter.repeat(fewest - 2), image), Err(Rejection::ShortText), "{letter}");
    }
    assert_eq!(["The bridge fell", "橋が落ちた。 2 昨日", "다리가 무너졌다"].map(text_words), [3, 5, 3]);
}

#[test]
fn data_that_names_the_pages_own_path_tells_its_canonical_address() {
    let of = |head: &str| read(&format!("{head}{FIRST}{REST}")).canonical.map(String::from);
    let data = |url: &str| of(&linked(&format!(r#"{{"@type":"Article","mainEntityOfPage":{{"@id":"{url}"}}}}"#)));
    let own = "https://site.example.org/news/a-story/";
    assert_eq!(data(own).as_deref(), Some(own));
    assert_eq!(of(&format!("<meta name=twitter:url content={own}>")).as_deref(), Some(own));
    assert_eq!(data("https://site.example.org/news/"), None);
    assert_eq!(data("https://other.example.net/news/a-story"), None);
    let both = format!("<link rel=canonical href=/b><meta name=twitter:url content={own}>");
    assert_eq!(of(&both).as_deref(), Some("https://site.example.org/b"));
}

#[test]
fn the_language_is_the_markups_unless_the_text_is_plainly_another() {
    let italian = "<p>La mattina di lunedì il ponte sopra la chiusa è stato chiuso dopo che un camion aveva portato via quasi tutta la ringhiera. I tecnici della provincia dicono che resterà chiuso finché le pietre non saranno di nuovo al loro posto, e che ci vorranno almeno tre settimane di lavoro.</p>";
    for head in ["<html lang=it-IT>", "<html lang=en>", "<html lang=en><meta property=og:locale content=it_IT>"] {
        assert_eq!(read(&format!("{head}{italian}")).language.as_deref(), Some("it"), "{head}");
    }
    assert_eq!(read("<html lang=de><p>Kurz.</p>").language.as_deref(), Some("de"));
    // Slips are mended, and languages that no detector knows are believed.
    for (tag, language) in [("jp", "ja"), ("cz", "cs"), ("nor-NO", "nor"), ("eng", "en"), ("is", "is")] {
        assert_eq!(read(&format!("<html lang={tag}><p>1.</p>")).language.as_deref(), Some(language));
    }
    let icelandic = "<p>Brúnni yfir stífluna var lokað á mánudag eftir að vörubíll hafði tekið með sér mest af handriðinu. Verkfræðingar segja að hún verði lokuð þar til steinarnir eru komnir aftur á sinn stað, og að það taki að minnsta kosti þrjár vikur. Áin rennur lygn þar fyrir neðan.</p>";
    assert_eq!(read(&format!("<html lang=is>{icelandic}")).language.as_deref(), Some("is"));
    assert_eq!(read(&format!("<html lang=br>{italian}")).language.as_deref(), Some("it"));
}

#[test]
fn an_empty_element_that_is_never_closed_does_not_swallow_the_text() {
    let text =
        "<p>The walk along the weir begins at the old mill and crosses the meadow where herons stand.</p>".repeat(48);
    let links = ["<a href=/share>Share", "<p><a href=/share>Share", "<div><a href=/share><b>Share</div>"];
    let others = ["<a name=top>", "<a id=top />", "<p><i class=icon aria-hidden=true />"];
    for anchor in links.into_iter().chain(others) {
        let read = read(&format!("<title>A walk</title><h1>A walk along the weir</h1>{anchor}{text}"));
        assert!(read.text.contains("herons stand"), "{anchor}");
    }
    let scrolled = text.replace("<p>", "<p style='visibility: hidden'>");
    assert!(read(&format!("<title>A walk</title><h1>A walk along the weir</h1>{scrolled}")).text.contains("herons"));
    assert_eq!(read("<p>123</p>").language, None);
}

#[test]
fn every_robots_directive_is_told_with_the_name_that_it_is_for() {
    let html = "<META NAME=Robots CONTENT='NOINDEX, follow'><meta name=CurlewBot content='nosnippet'><meta name=description content='none of this'>\
        <meta name=viewport content='width=device-width'><meta name=robots content='unavailable_after: 1 May 2026 10:00 GMT'>";
    let told: Vec<String> = read(html).robots_meta.iter().map(|(name, content)| format!("{name}: {content}")).collect();
    let until = "robots: unavailable_after: 1 May 2026 10:00 GMT";
    assert_eq!(told, ["robots: NOINDEX, follow", "curlewbot: nosnippet", until]);
}

#[test]
fn what_a_page_hides_behind_a_paywall_is_no_text_of_it() {
    let hidden =
        "In the third year the keeper of the lock wrote down what nobody else had seen, the otters at the gate. ";
    let hidden = hidden.repeat(9);
    let sold = |said: &str| {
        linked(&format!(r#"{{"@type":"NewsArticle","headline":"A lock",{said},"articleBody":"{hidden}"}}"#))
    };
    let data = format!(r#"<script type="application/json">{{"body":"{hidden}"}}</script>"#);
    let behind = format!("<article><h1>A lock</h1>{TEXT}<div class=rest hidden><p>{hidden}</p></div></article>{data}");
    for said in [
        r#""isAccessibleForFree":false"#,
        r#""isAccessibleForFree":"False""#,
        r#""isAccessibleForFree":"http://schema.org/False""#,
        r#""hasPart":[{"@type":"WebPageElement","isAccessibleForFree":"false","cssSelector":".rest"}]"#,
    ] {
        let article = read(&format!("<title>A lock</title>{}{behind}", sold(said)));
        assert!(article.is_paywalled && article.text.starts_with("The bridge"), "{said}: {}", article.text);
        assert!(!article.text.contains("otters"), "{said}: {}", article.text);
    }
    let page = |data: &str| read(&format!("<title>A lock</title>{data}<article>{TEXT}</article>"));
    let free = page(&sold(r#""isAccessibleForFree":true"#));
    assert!(!free.is_paywalled && free.text.contains("otters"), "{}", free.text);
    let other = sold(r#""isAccessibleForFree":false"#).replace("A lock", "A tide");
    assert!(!page(&(sold(r#""inLanguage":"en""#) + &other)).is_paywalled, "a related article is not free");
    let micro =
        "<article itemscope itemtype=https://schema.org/Article><meta itemprop=isAccessibleForFree content=False>";
    assert!(read(&format!("{micro}{TEXT}</article>")).is_paywalled);
    let tier = |tier: &str| page(&format!("<meta property=article:content_tier content={tier}>")).is_paywalled;
    assert!(tier("locked") && !tier("free"));
}
