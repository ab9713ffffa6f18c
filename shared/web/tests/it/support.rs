//! A small program behind the page: pages in memory, searched word by word; a clock that is set by hand.

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::Bytes;
use curlew_model::{
    Challenge, Claim, MAX_QUERY_BYTES, MAX_QUERY_TERMS, Millis, QueryError, ThumbnailId, Timestamp, Wish,
};
use curlew_ports::PageSettings;
use curlew_ports::{
    Claimed, Clock, FindError, Found, FoundHit, Front, HubAnswer, HubAsks, HubDelivery, Kept, Message, PortError,
    Refusal, Refused, SignedBody, Start, Status, SuggestError, Suggested, Told, Wished,
};
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use tower::ServiceExt;

/// Pages in memory.
#[derive(Default)]
pub struct Shelf {
    pub pages: Vec<FoundHit>,
    pub thumbnails: HashMap<ThumbnailId, Bytes>,
    pub status: Status,
    /// How often the status was asked for.
    pub counted: AtomicI64,
    /// The callbacks under which hubs delivered what was genuine.
    pub delivered: Mutex<Vec<String>>,
    /// Claims of hosts.
    pub claims: Mutex<HashMap<(String, Challenge), Claim>>,
    /// What the owner of a host is shown.
    pub kept: Mutex<Option<Kept>>,
    /// What claimants asked for.
    pub wishes: Mutex<Vec<(String, Challenge, Wish)>>,
    /// What was written to the operator.
    pub told: Mutex<Vec<Message>>,
    /// How many messages are taken, if not two.
    pub room: Option<usize>,
    /// What was suggested.
    pub suggested: Mutex<Vec<String>>,
    /// What was searched for: query, offset, limit.
    pub asked: Mutex<Vec<(String, usize, usize)>>,
    /// The index is out of reach (`Some(true)`: for a while; `Some(false)`: for good).
    pub broken: Option<bool>,
}

impl Shelf {
    fn trouble(&self) -> Result<(), PortError> {
        match self.broken {
            None => Ok(()),
            Some(true) => Err(PortError::Throttled { retry_after: Millis(4_200) }),
            Some(false) => Err(PortError::Corrupt { what: "the manifest".into(), why: "it is <torn>".into() }),
        }
    }
}

/// A body that is signed by its length.
struct Length {
    read: usize,
    signed: usize,
}

impl SignedBody for Length {
    fn take(&mut self, piece: &[u8]) {
        self.read += piece.len();
    }

    fn is_genuine(self: Box<Self>) -> bool {
        self.read == self.signed
    }
}

#[async_trait]
impl Front for Shelf {
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<Found, FindError> {
        let offset = match start {
            Start::Offset(offset) => offset,
            Start::After(cursor) => match cursor.parse() {
                Ok(offset) => offset,
                Err(_) => return Err(FindError::BadQuery(QueryError::Cursor)),
            },
        };
        assert_ne!(query, "panic", "asked to");
        self.asked.lock().unwrap().push((query.to_owned(), offset, limit));
        self.trouble()?;
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let refuse = |wrong| Err(FindError::BadQuery(wrong));
        if query.len() > MAX_QUERY_BYTES {
            return refuse(QueryError::TooLong { bytes: query.len() });
        }
        if words.len() > MAX_QUERY_TERMS {
            return refuse(QueryError::TooManyTerms);
        }
        if let Some(word) = words.iter().find(|w| w.starts_with('*') || w.starts_with('(')) {
            return refuse(QueryError::Wildcard(format!("<{word}>")));
        }
        let mut hits: Vec<FoundHit> = self.pages.iter().filter(|p| matches(p, &words)).cloned().collect();
        for hit in &mut hits {
            if hit.marks.is_empty() {
                hit.marks = marks(&hit.snippet, &words);
            }
        }
        let total = hits.iter().filter(|hit| hit.all_words).count() as u64;
        let next = (hits.len() > offset + limit).then(|| (offset + limit).to_string());
        Ok(Found {
            total,
            partial: hits.len() as u64 - total,
            is_mixed: query.ends_with('?'),
            unknown: hits.iter().flat_map(|hit| hit.missing.clone()).filter(|word| word.starts_with('x')).collect(),
            copies: hits.iter().map(|hit| u64::from(hit.copies)).sum(),
            hits: hits.into_iter().skip(offset).take(limit).collect(),
            before: offset as u64,
            next,
            ..Found::default()
        })
    }

    async fn suggest(&self, url: &str) -> Result<Suggested, SuggestError> {
        self.trouble()?;
        if url.contains("blocked") {
            return Err(SuggestError::Refused(Refused {
                typed: url.to_owned(),
                why: Refusal::Excluded("<not>".into()),
            }));
        }
        let mut suggested = self.suggested.lock().unwrap();
        if suggested.iter().any(|s| s == url) {
            return Ok(Suggested::Known);
        }
        suggested.push(url.to_owned());
        Ok(Suggested::Taken)
    }

    fn site_of(&self, typed: &str) -> Result<String, Refused> {
        let name = typed.trim_start_matches("https://").trim_end_matches('/');
        if name.contains("github") {
            return Err(Refused { typed: "<typed>".into(), why: Refusal::Shared });
        }
        Ok(name.to_lowercase())
    }

    async fn claimed(&self, host: &str, challenge: &Challenge) -> Result<Claimed, PortError> {
        self.trouble()?;
        let claim = self.claims.lock().unwrap().get(&(host.to_owned(), challenge.clone())).cloned();
        let proven_until = claim.as_ref().and_then(|claim| claim.proof).map(|(_, at)| at + Millis::from_days(90));
        Ok(Claimed {
            host: host.to_owned(),
            record: format!("_curlew-challenge.{host}"),
            file: format!("https://{host}/.well-known/curlew-challenge.txt"),
            tag: "curlew-challenge",
            held: proven_until.map(|_| self.kept.lock().unwrap().clone()).unwrap_or_default(),
            claim,
            proven_until,
        })
    }

    async fn wished(&self, host: &str, challenge: &Challenge, wish: Wish, may_call: bool) -> Result<Wished, PortError> {
        self.trouble()?;
        if !may_call {
            return Ok(Wished::ByDnsOnly);
        }
        self.wishes.lock().unwrap().push((host.to_owned(), challenge.clone(), wish));
        let claims = self.claims.lock().unwrap();
        let is_proven = claims.get(&(host.to_owned(), challenge.clone())).is_some_and(|claim| claim.proof.is_some());
        Ok(if is_proven || wish == Wish::Look { Wished::Granted } else { Wished::Unproven })
    }

    async fn tell(&self, message: &Message) -> Result<Told, PortError> {
        self.trouble()?;
        let mut told = self.told.lock().unwrap();
        told.push(message.clone());
        Ok(if told.len() > self.room.unwrap_or(2) { Told::Full } else { Told::Taken })
    }

    async fn hub_asks(&self, callback: &str, asked: &HubAsks<'_>) -> Result<HubAnswer, PortError> {
        self.trouble()?;
        let known = HubAsks { mode: asked.mode, topic: "https://example.org/feed", lease_seconds: Some(864_000) };
        let is_ours = callback == "ours" && *asked == known;
        Ok(if is_ours { HubAnswer::Yes } else { HubAnswer::Unknown })
    }

    async fn hub_delivers(&self, callback: &str, signature: Option<&str>) -> Result<HubDelivery, PortError> {
        self.trouble()?;
        Ok(match signature {
            _ if callback != "ours" => HubDelivery::Unknown,
            Some(length) => HubDelivery::Signed(Box::new(Length { read: 0, signed: length.parse().unwrap() })),
            None => HubDelivery::Unsigned,
        })
    }

    async fn hub_delivered(&self, callback: &str) -> Result<HubAnswer, PortError> {
        self.delivered.lock().unwrap().push(callback.to_owned());
        Ok(HubAnswer::Yes)
    }

    async fn thumbnail(&self, image: &ThumbnailId) -> Result<Option<Bytes>, PortError> {
        self.trouble()?;
        Ok(self.thumbnails.get(image).cloned())
    }

    async fn status(&self) -> Result<Status, PortError> {
        self.trouble()?;
        self.counted.fetch_add(1, Ordering::SeqCst);
        Ok(self.status.clone())
    }
}

fn matches(page: &FoundHit, words: &[String]) -> bool {
    let text = format!("{} {}", page.title, page.snippet).to_lowercase();
    words.iter().all(|w| match w.strip_prefix('-') {
        Some(unwanted) => !text.contains(unwanted),
        None => w.starts_with("sort:") || text.contains(w.as_str()),
    })
}

/// Where the words stand, for snippets in ASCII.
fn marks(snippet: &str, words: &[String]) -> Vec<std::ops::Range<usize>> {
    let lower = snippet.to_ascii_lowercase();
    words.iter().flat_map(|w| lower.match_indices(w.as_str()).map(|(at, m)| at..at + m.len())).collect()
}

/// A clock that is set by hand; it never sleeps.
pub struct HandClock(AtomicI64);

impl HandClock {
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(i64::try_from(by.0).unwrap(), Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Millis {
        Millis(u64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }

    async fn sleep(&self, _: Millis) {}
}

/// The router with what is behind it.
pub struct World {
    pub shelf: Arc<Shelf>,
    pub clock: Arc<HandClock>,
    pub router: Router,
}

impl World {
    pub fn of(shelf: Shelf) -> World {
        World::with(shelf, settings())
    }

    pub fn with(shelf: Shelf, settings: PageSettings) -> World {
        let shelf = Arc::new(shelf);
        // 2026-11-21T03:00:00Z
        let clock = Arc::new(HandClock(AtomicI64::new(1_795_230_000_000)));
        let router = curlew_web::router(Arc::clone(&shelf) as _, Arc::clone(&clock) as _, settings);
        World { shelf, clock, router }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    /// As somebody who reads the languages of this `Accept-Language`.
    pub async fn get_in(&self, languages: &str, path: &str) -> Answer {
        let request = Request::get(path).header("accept-language", languages);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let head = request.method() == Method::HEAD;
        Answer::of(self.router.clone().oneshot(request).await.unwrap(), head).await
    }
}

/// Settings of the tests: all that can be set is.
pub fn settings() -> PageSettings {
    PageSettings {
        base_url: Some("https://search.example".into()),
        contact: Some("crawler@search.example".into()),
        user_agent: "CurlewBot/9.9 (+https://search.example/bot)".into(),
        ..PageSettings::new([42; 32])
    }
}

/// The one script that there is.
fn work_script() -> String {
    let version: String =
        Sha256::digest(include_str!("../../assets/work.js"))[..4].iter().map(|b| format!("{b:02x}")).collect();
    format!("<script src=\"/work.js?v={version}\" defer=\"\"></script>")
}

/// An answer, read to its end.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    async fn of(response: Response<Body>, head: bool) -> Answer {
        let (parts, body) = response.into_parts();
        let body = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        answer.must_be_guarded();
        if !head && answer.header("content-type").starts_with("text/html") {
            answer.must_be_well_formed();
        }
        answer
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// The page as browsers understand it.
    pub fn dom(&self) -> scraper::Html {
        scraper::Html::parse_document(&self.body)
    }

    /// The text of what a selector finds first; blanks are run together.
    pub fn text(&self, selector: &str) -> String {
        self.all(selector).into_iter().next().unwrap_or_default()
    }

    /// The texts of all that a selector finds.
    pub fn all(&self, selector: &str) -> Vec<String> {
        let selector = scraper::Selector::parse(selector).unwrap();
        let text = |e: scraper::ElementRef<'_>| e.text().collect::<String>();
        self.dom().select(&selector).map(text).map(|t| t.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// The values of an attribute of all that a selector finds.
    pub fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        let selector = scraper::Selector::parse(selector).unwrap();
        self.dom().select(&selector).filter_map(|e| e.attr(name).map(str::to_owned)).collect()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Every answer carries the headers that keep a browser from being used against its owner.
    fn must_be_guarded(&self) {
        let policy = self.header("content-security-policy");
        for part in
            ["default-src 'none'", "img-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{part} is missing in {policy:?}");
        }
        assert!(!policy.contains("unsafe"));
        // The one script is that of a form that has to be worked for.
        assert_eq!(policy.contains("script-src 'self';"), self.body.contains(&work_script()), "{policy}");
        assert!(!policy.replacen("script-src 'self';", "", 1).contains("script-src"));
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        assert!(["no-referrer", "same-origin"].contains(&self.header("referrer-policy")));
        assert!(self.header("permissions-policy").contains("geolocation=()"));
        assert!(!self.header("cache-control").is_empty());
        assert_eq!(self.header("set-cookie"), "");
    }

    /// Our pages are written so that an XML parser can read them, which is stricter than any browser: every
    /// tag closed in order, every attribute quoted and given once, every `<` and `&` escaped.
    fn must_be_well_formed(&self) {
        let mut reader = quick_xml::Reader::from_str(&self.body);
        reader.config_mut().check_end_names = true;
        let mut depth = 0_i32;
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Start(tag)) => {
                    depth += 1;
                    tag.attributes().for_each(|a| {
                        drop(
                            a.expect("a sound attribute").normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap(),
                        )
                    });
                }
                Ok(quick_xml::events::Event::Empty(tag)) => {
                    tag.attributes().for_each(|a| drop(a.expect("a sound attribute")));
                }
                Ok(quick_xml::events::Event::End(_)) => depth -= 1,
                Ok(quick_xml::events::Event::Eof) => break,
                Ok(_) => {}
                Err(error) => panic!("{error} at {} of:\n{}", reader.error_position(), self.body),
            }
        }
        assert_eq!(depth, 0, "unclosed tags in:\n{}", self.body);
        // But for the one script that there is, which the policy has to name.
        let body = self.body.replacen(&work_script(), "", 1);
        let forbidden = ["<script", "<style", " style=", "http-equiv", "<iframe"];
        forbidden.iter().for_each(|bad| assert!(!body.contains(bad), "{bad} in:\n{body}"));
        assert_eq!(self.attributes("html", "lang"), [self.header("content-language")]);
        assert!(self.headers.get_all("vary").iter().any(|vary| vary == "accept-language"));
        assert_eq!(self.all("h1").len(), 1, "one heading leads the page:\n{}", self.body);
        assert!(!self.text("title").is_empty());
        self.must_be_labelled();
    }

    /// Every field that people see has a label, and every id is given once.
    fn must_be_labelled(&self) {
        let labels = self.attributes("label", "for");
        for field in self.attributes("input:not([type=hidden])", "id") {
            assert_eq!(labels.iter().filter(|l| **l == field).count(), 1, "the label of {field}");
        }
        let mut ids = self.attributes("[id]", "id");
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}

/// A page.
pub fn page(url: &str, title: &str, snippet: &str) -> FoundHit {
    FoundHit {
        url: url.into(),
        title: title.into(),
        snippet: snippet.into(),
        marks: Vec::new(),
        image: None,
        thumbnail: None,
        site: "Tidal Notes".into(),
        published: Some(Timestamp::parse_day_or_instant("2026-05-01").unwrap()),
        language: None,
        all_words: true,
        missing: Vec::new(),
        explanation: None,
        score: 1.5,
        copies: 0,
    }
}

/// A shelf with these pages.
pub fn shelf(pages: Vec<FoundHit>) -> Shelf {
    Shelf { pages, ..Shelf::default() }
}
