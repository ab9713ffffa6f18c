use super::{Answer, Question, Trouble, fields};
use curlew_article::{Article, Explanation, Limits, decode, explain, extract, validity};
use curlew_policy::directives::Directives;
use serde_json::{Value, json};

/// The product token that meta tags and headers are read for.
const TOKEN: &str = "CurlewBot";

/// What would be kept of a page, and would it be accepted? If `why` or the question asks for it, also why.
pub(super) fn answer(question: &Question, why: bool) -> Answer {
    let body = question.bytes("html", "body_b64")?;
    let url = question.url()?;
    // A text in JSON has been decoded already, whatever its meta tags say.
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
    let (article, explanation) = read.map_err(|e| Trouble { kind: "unreadable", message: e.to_string() })?;
    let directives = Directives::gather(&article.robots_meta, &robots_tags(question), TOKEN);
    let image = article.image.as_ref().map(|u| u.as_str().to_owned());
    let verdict = match validity(article.title.as_deref(), &article.text, image.as_deref()) {
        _ if directives.noindex => Err(curlew_model::Rejection::Noindex),
        other => other,
    };
    let mut answer = fields(json!({
        "title": article.title,
        "text": article.text,
        "image": image,
        "canonical": article.canonical.as_ref().map(|u| u.as_str()),
        "language": article.language,
        "published": article.published,
        "modified": article.modified,
        "author": article.author,
        "site_name": article.site_name,
        "directives": directives.names(),
        "valid": verdict.is_ok(),
    }));
    if let Err(why) = verdict {
        answer.insert("reason".into(), json!(why.code()));
    }
    if let Some(explanation) = explanation {
        answer.insert("explanation".into(), in_words(&article, &explanation));
    }
    Ok(answer)
}

/// The explanation as an object: a summary in a sentence, where the date is from, the voices, the lines left out.
fn in_words(article: &Article, explanation: &Explanation) -> Value {
    let left_out = explanation.lines.iter().filter_map(|line| {
        let why = line.left_out?;
        Some(json!({"line": shortened(&line.text), "why": why}))
    });
    let voices = explanation.voices.iter().map(|voice| {
        json!({
            "from": voice.from,
            "characters": voice.chars,
            "links": hundredths(voice.links),
            "agreement": hundredths(voice.agreement),
            "prior": hundredths(voice.prior),
            "score": hundredths(voice.score),
            "chosen": voice.chosen,
        })
    });
    let date = article
        .published_by
        .map(|by| json!({"from": by.from, "confidence": by.confidence.name(), "zone_minutes": by.zone}));
    json!({
        "text": summary(article, explanation),
        "published": date,
        "voices": voices.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

/// Where the text is from, in a sentence.
fn summary(article: &Article, explanation: &Explanation) -> String {
    let place = match article.from {
        "microdata" => "the element that is marked as articleBody",
        "content" => "the container that is named as a post's text (such as entry-content)",
        "article" => "the <article> element",
        "main" => "the <main> element",
        "density" => "the part of the page with the most text and the fewest links",
        "readability" => "the part that the readability rules find",
        "jsonld" => "the articleBody of the JSON-LD, for the page itself shows much less",
        _ => return "no text was found".to_owned(),
    };
    let kept = explanation.lines.iter().filter(|line| line.left_out.is_none()).count();
    format!("taken from {place}; {kept} of the page's {} lines are part of it", explanation.lines.len())
}

/// The beginning of a line.
fn shortened(line: &str) -> String {
    /// Characters of a line that are shown.
    const SHOWN: usize = 100;
    let mut out: String = line.chars().take(SHOWN).collect();
    if line.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}

/// A number to two places.
fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// `headers` may be an object of texts or lists, or a list of pairs.
fn robots_tags(question: &Question) -> Vec<String> {
    let is_tag = |name: &str| name.eq_ignore_ascii_case("x-robots-tag");
    let texts = |value: &Value| -> Vec<String> {
        match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(list) => list.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
            _ => vec![],
        }
    };
    match question.0.get("headers") {
        Some(Value::Object(map)) => map.iter().filter(|(name, _)| is_tag(name)).flat_map(|(_, v)| texts(v)).collect(),
        Some(Value::Array(pairs)) => pairs
            .iter()
            .filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?)))
            .filter(|(name, _)| is_tag(name))
            .flat_map(|(_, v)| texts(v))
            .collect(),
        _ => vec![],
    }
}
