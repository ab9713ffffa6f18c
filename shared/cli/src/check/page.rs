use super::{Answer, CheckError, Question};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curlew_article::{
    Article, Explanation, Limits, MIN_TEXT_CHARS, MIN_TEXT_WORDS, decode, explain, extract, text_words, validity,
};
use curlew_model::Rejection;
use curlew_policy::page::directives::{Directives, robots_tag_lines};
use serde_json::{Value, json};

/// Maximum number of characters shown of an omitted line.
const LINE: usize = 100;

/// Returns the record that a crawl as `agent` would store, the verdict, and an explanation if one is requested.
pub(super) fn answer(question: &Question, agent: &str, why: bool) -> Answer {
    let body = question.bytes("html", "body_b64")?;
    let url = question.url()?;
    // Text in JSON is already decoded, whatever charset its meta tags declare.
    let given_as_text = question.text("html").is_some();
    let content_type = if given_as_text { Some("text/html; charset=utf-8") } else { question.text("content_type") };
    let html = decode(&body, content_type);
    let why = why || question.0.get("explain").is_some_and(|asked| asked == true);
    let limits = Limits::default();
    let read = if why {
        explain(&html, &url, &limits).map(|(article, explanation)| (article, Some(explanation)))
    } else {
        extract(&html, &url, &limits).map(|article| (article, None))
    };
    let (article, explanation) = read.map_err(|e| CheckError { kind: "unreadable", message: e.to_string() })?;
    let robots_tags = [headers(question, "x-robots-tag"), robots_tag_lines(&headers(question, "robots-tag"))].concat();
    let directives = Directives::gather(&article.robots_meta, &robots_tags, question.token(agent));
    let image = article.image.as_ref().map(|u| u.as_str().to_owned());
    let verdict = match validity(article.title.as_deref(), &article.text, image.as_deref()) {
        _ if directives.noindex => Err(Rejection::Noindex),
        other => other,
    };
    let mut answer = json!({
        "title": article.title,
        "text": article.text,
        "image": image,
        "canonical": article.canonical.as_ref().map(|u| u.as_str()),
        "language": article.language,
        "published": article.published.zip(article.published_by).map(|(at, by)| by.shown(at)),
        "modified": article.modified,
        "author": article.author,
        "site_name": article.site_name,
        "directives": directives.names(),
        "paywalled": article.is_paywalled,
        "valid": verdict.is_ok(),
    });
    if let Some(explanation) = explanation {
        let sentences = in_sentences(&article, &explanation, &directives.names(), verdict.as_ref().err());
        answer["explanation"] = in_words(&article, &explanation, &sentences);
    }
    if let Err(why) = verdict {
        answer["reason"] = json!(why.code());
    }
    Ok(answer)
}

/// Returns a labelled case for `cargo xtask learn`: the page and its correct text.
pub(super) fn labelled(question: &Question) -> Answer {
    let (body, url) = (question.bytes("html", "body_b64")?, question.url()?);
    let right = question.required("text")?.trim();
    Ok(json!({"id": url.as_str(), "url": url.as_str(), "body_b64": STANDARD.encode(body), "text": right}))
}

/// Describes each finding and its source in a sentence, for readers who do not know the program's internals.
fn in_sentences(
    article: &Article,
    explanation: &Explanation,
    directives: &[String],
    rejected: Option<&Rejection>,
) -> Vec<String> {
    let mut out = vec![match rejected {
        None => "The page would be accepted.".to_owned(),
        Some(Rejection::ShortText) => format!(
            "The page would be rejected: its text has {} of the {MIN_TEXT_CHARS} characters or {} of the \
             {MIN_TEXT_WORDS} words that it needs.",
            article.text.chars().count(),
            text_words(&article.text)
        ),
        Some(Rejection::NoImage) => {
            "The page alone would be rejected, because it has no main image; a crawl uses its site's image instead."
                .to_owned()
        }
        Some(why) => format!("The page would be rejected: {why}."),
    }];
    out.push(match &article.title {
        Some(title) => format!("Its title is “{title}”."),
        None => "It has no title: no heading, no <title>, no og:title.".to_owned(),
    });
    out.push(format!("Its text was {}.", summary(article, explanation)));
    out.push(match (&article.image, explanation.image_by) {
        (Some(url), Some("body")) => format!("Its main image is the first large one in the text: {url}"),
        (Some(url), Some(by)) => format!("Its main image is the one named by {}: {url}", source(by)),
        _ => "It has no main image: its head names none, and no image in the text is large enough.".to_owned(),
    });
    out.push(match (&article.canonical, explanation.canonical_by) {
        (Some(url), Some(by)) => format!("Its canonical address, according to {}, is {url}", source(by)),
        _ => "It does not state its canonical address (link rel=canonical).".to_owned(),
    });
    out.push(match (article.published, article.published_by) {
        (Some(at), Some(by)) => {
            let (shown, by, confidence) = (by.shown(at), dated(by.from), by.confidence.as_str());
            format!("It was published at {shown}, according to {by} ({confidence} confidence).")
        }
        _ => "It does not say when it was published.".to_owned(),
    });
    if let Some(tag) = &article.language {
        out.push(format!("Its language is {tag}."));
    }
    out.push(if directives.is_empty() {
        "It has no directives for robots.".to_owned()
    } else {
        format!("Its directives for robots: {}.", directives.join(", "))
    });
    out
}

fn source(by: &str) -> String {
    match by {
        "link" => "<link rel=canonical>".to_owned(),
        "image_src" => "<link rel=image_src>".to_owned(),
        "jsonld" => "its JSON-LD (schema.org)".to_owned(),
        "microdata" => "its microdata (schema.org)".to_owned(),
        meta => format!("the meta tag {meta}"),
    }
}

fn dated(by: &str) -> &'static str {
    match by {
        "opengraph" => "the meta tag article:published_time",
        "jsonld" => "its JSON-LD (schema.org)",
        "microdata" => "its microdata (schema.org)",
        "meta" => "a meta tag",
        "time" => "an element marked as a date",
        "url" => "its address",
        "text" => "a line near its headline",
        "script" => "data in a script",
        "redated" => "the day next to its headline, which is the day of its last change",
        _ => "its last change, because no other date is known",
    }
}

/// Returns the explanation as JSON: sentences, the date's source, the candidates and the omitted lines.
fn in_words(article: &Article, explanation: &Explanation, sentences: &[String]) -> Value {
    let left_out = explanation.lines.iter().filter_map(|line| {
        let why = line.left_out.as_ref()?;
        let mut beginning: String = line.text.chars().take(LINE).collect();
        if beginning.len() < line.text.len() {
            beginning.push('…');
        }
        Some(json!({"line": beginning, "why": why}))
    });
    let candidates = explanation.candidates.iter().map(|candidate| {
        json!({
            "from": candidate.from,
            "is": place(candidate.from),
            "characters": candidate.chars,
            "links": hundredths(candidate.links),
            "agreement": hundredths(candidate.agreement),
            "prior": hundredths(candidate.prior),
            "score": hundredths(candidate.score),
            "chosen": candidate.chosen,
        })
    });
    let date = article
        .published_by
        .map(|by| json!({"from": by.from, "confidence": by.confidence.as_str(), "zone_minutes": by.zone}));
    json!({
        "summary": sentences,
        "published": date,
        "candidates": candidates.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn summary(article: &Article, explanation: &Explanation) -> String {
    let Some(place) = place(article.from) else { return "not found".to_owned() };
    let kept = explanation.lines.iter().filter(|line| line.left_out.is_none()).count();
    format!(
        "taken from {place}; it has {kept} of the page's {} lines, and left_out gives the reasons for the others",
        explanation.lines.len()
    )
}

/// Describes the part of the page that a candidate comes from; `None` if the candidate is unknown.
fn place(candidate: &str) -> Option<&'static str> {
    Some(match candidate {
        "microdata" => "the element marked as articleBody",
        "content" => "the container whose name marks a post's text (such as entry-content)",
        "article" => "the <article> element",
        "main" => "the <main> element",
        "learned" => "the blocks that resemble the text of labelled pages",
        "density" => "the part of the page with the most text and the fewest links",
        "jsonld" => "the articleBody or the steps of the JSON-LD, because the page itself shows much less",
        "noscript" => "the content for browsers without scripts, because the page itself shows much less",
        "data" => "the data for the page's scripts, because the page itself shows much less",
        _ => return None,
    })
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Returns the values of all headers named `name`. `headers` may be an object of strings or lists, or a list of pairs.
fn headers(question: &Question, name: &str) -> Vec<String> {
    let headers: Vec<(&str, &Value)> = match question.0.get("headers") {
        Some(Value::Object(map)) => map.iter().map(|(name, value)| (name.as_str(), value)).collect(),
        Some(Value::Array(pairs)) => {
            pairs.iter().filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?))).collect()
        }
        _ => vec![],
    };
    let values = headers.into_iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).flat_map(|(_, value)| {
        let list = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        list.iter().filter_map(Value::as_str)
    });
    values.map(str::to_owned).collect()
}
